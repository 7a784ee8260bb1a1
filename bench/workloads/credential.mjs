import { add, figures, guarded } from '../measure.mjs';
import { startProcess } from '../process.mjs';

const KINDS = { constant: 'an awaited constant', credential: 'a cached credential' };

export const credential = {
  title: 'A cached credential',
  about: '`authHeaders()` of a site whose token is cached, against awaiting a constant, in one process.',
  measures: { microseconds: 'CPU µs per call' },
  run: async (context) => {
    const rivals = Object.entries(KINDS).map(([key, label]) => ({ key, name: key, label, samples: {} }));
    const subject = await startProcess('ours/credential.mjs');
    try {
      for (let round = 0; round < context.pace.rounds; round += 1) {
        for (const rival of rivals) {
          await guarded(rival, async () => add(rival, 'microseconds', await subject.ask('round', rival.key)));
        }
      }
    } finally {
      await subject.close();
    }
    return { figures: figures(rivals) };
  },
};
