// What a cached credential costs per request, against an awaited constant in the same process.
import { answerQuestions } from '../process.mjs';
import { benchToolkit } from './site.mjs';

const CALLS = 200_000;

const toolkit = benchToolkit({});
const constant = { authorization: 'Bearer constant' };
const kinds = {
  constant: async () => ({ ...constant }),
  credential: () => toolkit.authHeaders(),
};

async function microseconds(call) {
  const before = process.cpuUsage();
  for (let count = 0; count < CALLS; count += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

for (const call of Object.values(kinds)) await microseconds(call); // Warm.
answerQuestions({}, { round: (kind) => microseconds(kinds[kind]) });
