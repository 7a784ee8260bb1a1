import { add, figures, guarded } from '../measure.mjs';

const CALLS = 200_000;
const LABELS = { constant: 'an awaited constant', credential: 'a cached credential' };

export const credential = {
  title: 'A cached credential',
  about: '`authHeaders()` of a site whose token is cached, against awaiting a constant, in one process.',
  measures: { microseconds: 'CPU µs per call' },
  run: async ({ pace }) => {
    const { benchToolkit } = await import('../ours/site.mjs'); // The package may have just been built.
    const toolkit = benchToolkit({});
    const headers = { authorization: 'Bearer constant' };
    const calls = { constant: async () => ({ ...headers }), credential: () => toolkit.authHeaders() };
    const rivals = Object.entries(LABELS).map(([key, label]) => ({ key, name: key, label, samples: {} }));
    for (const call of Object.values(calls)) await microseconds(call); // Warm-up.
    for (let round = 0; round < pace.rounds; round += 1) {
      for (const rival of rivals) {
        await guarded(rival, async () => add(rival, 'microseconds', await microseconds(calls[rival.key])));
      }
    }
    await toolkit.close();
    return { figures: figures(rivals) };
  },
};

async function microseconds(call) {
  const before = process.cpuUsage();
  for (let count = 0; count < CALLS; count += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}
