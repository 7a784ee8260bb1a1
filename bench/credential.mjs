// What a cached credential costs per request, against an awaited constant in the same run.
import { generateKeyPairSync } from 'node:crypto';
import { createToolkit } from 'agent-bff';

const ROUNDS = 9;
const CALLS = 200_000;
const TARGET_MICROSECONDS = 5;

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const toolkit = createToolkit({
  serviceApiUrl: 'https://platform.example/api',
  serviceAccount: { serviceAccountId: 'sa-1', keyId: 'key-1', privateKeyPem: privateKey },
});
const constant = { authorization: 'Bearer constant' };

async function microseconds(call) {
  const before = process.cpuUsage();
  for (let count = 0; count < CALLS; count += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

const rivals = {
  'awaited constant': async () => ({ ...constant }),
  'cached credential': () => toolkit.authHeaders(),
};
const figures = Object.fromEntries(Object.keys(rivals).map((name) => [name, []]));
for (const call of Object.values(rivals)) await microseconds(call); // Warm.
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, call] of Object.entries(rivals)) figures[name].push(await microseconds(call));
}
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

console.log(
  `Node ${process.version}, ${ROUNDS} alternating rounds of ${CALLS} calls, CPU microseconds per call (minimum / median)`,
);
for (const [name, list] of Object.entries(figures)) {
  console.log(`${name.padEnd(20)}${Math.min(...list).toFixed(3)} / ${median(list).toFixed(3)}`);
}
const cost = median(figures['cached credential']);
console.log(`target: at most ${TARGET_MICROSECONDS} µs: ${cost <= TARGET_MICROSECONDS ? 'met' : 'missed'}`);
process.exitCode = cost <= TARGET_MICROSECONDS ? 0 : 1;
