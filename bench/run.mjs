// npm run bench [-- --quick] [-- --only chat,stream]: the cost of a request, compared with other servers in the same run.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../scripts/build.mjs';
import { ensureInstalled } from '../scripts/installation.mjs';
import { environment, environmentLine } from './environment.mjs';
import { startProcess } from './process.mjs';
import { coldStart } from './workloads/cold-start.mjs';
import { credential } from './workloads/credential.mjs';
import { growth } from './workloads/growth.mjs';
import { openStreams } from './workloads/open-streams.mjs';
import { chat, next, render, stream, upload } from './workloads/requests.mjs';

const WORKLOADS = {
  chat,
  upload,
  stream,
  'open-streams': openStreams,
  render,
  credential,
  'cold-start': coldStart,
  growth,
  next,
};
/** A build of Next takes longer than a quick run should. */
const SLOW_TO_BUILD = ['next'];
/** Disturbances of this machine last less than a second, so a round consists of far shorter slices. */
const ROUNDS = { rounds: 7, fewRounds: 2, roundMs: 1_200, sliceMs: 100 };
/** A Node server reaches its usual speed after 20,000 requests or more; the first hundreds cost five times as much. */
const WARM_UP = { warmUpMs: 2_000, warmUpAnswers: 30_000, longestWarmUpMs: 8_000 };
const QUICK_ROUNDS = { rounds: 4, fewRounds: 0, roundMs: 300, sliceMs: 100 };
const QUICK_WARM_UP = { warmUpMs: 600, warmUpAnswers: 10_000, longestWarmUpMs: 1_200 };
/** Enough for 10 000 streams, each with a connection on both sides. */
const DESCRIPTORS = 65_536;

const USAGE = 'npm run bench [-- --quick] [-- --only chat,stream]';
const { values } = readArguments();
const { quick, help } = values;
if (help) {
  console.log(`${USAGE}\n\nWorkloads: ${Object.keys(WORKLOADS).join(', ')}`);
  process.exit(0);
}
const usual = Object.keys(WORKLOADS).filter((name) => !quick || !SLOW_TO_BUILD.includes(name));
const names = values.only?.split(',') ?? usual;
const unknown = names.find((name) => !Object.hasOwn(WORKLOADS, name));
if (unknown !== undefined) {
  console.error(`There is no workload "${unknown}". There are: ${Object.keys(WORKLOADS).join(', ')}.`);
  process.exit(1);
}

await ensureBuilt('package');
for (const folder of ['./rivals', ...(names.includes('next') ? ['./next'] : [])]) {
  await ensureInstalled(fileURLToPath(new URL(folder, import.meta.url)));
}

// Imports packages that may have just been installed.
const { earlierResults, resultsFolder, verdictLines, writeResults } = await import('./report.mjs');

raiseDescriptors();
const facts = await environment();
console.log(environmentLine(facts));

const upstream = await startProcess('upstream.mjs');
const load = await startProcess('load.mjs');
let addresses = 0;
const context = {
  quick,
  load,
  pace: quick ? { ...QUICK_ROUNDS, ...QUICK_WARM_UP } : { ...ROUNDS, ...WARM_UP },
  descriptors: openFilesLimit(),
  // A separate address for each server; otherwise many connections would use up the ports.
  upstreamAddress: (path) => `http://127.0.0.${10 + (addresses++ % 200)}:${upstream.facts.port}${path}`,
  say: undefined,
};

const folder = resultsFolder({ quick });
const results = earlierResults(folder, process.version);
for (const name of names) {
  const startedAt = performance.now();
  const { run, ...about } = WORKLOADS[name];
  context.say = (text) => process.stderr.isTTY && process.stderr.write(`\r\u001b[K${name}: ${text}`);
  results[name] = { ...about, quick, environment: facts, ...(await run(context)) };
  context.say('');
  console.log(`${name}: ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  await writeResults(folder, process.version, inOrder(results));
}
await Promise.all([load.close(), upstream.close()]);

for (const line of verdictLines(results)) console.log(line);
console.log(`Written to ${folder}`);

function inOrder(all) {
  return Object.fromEntries(Object.keys(WORKLOADS).flatMap((name) => (name in all ? [[name, all[name]]] : [])));
}

function raiseDescriptors() {
  try {
    const limit = `--nofile=${DESCRIPTORS}:${DESCRIPTORS}`;
    execFileSync('prlimit', ['--pid', String(process.pid), limit], { stdio: 'ignore' });
  } catch {
    // Without permission, the benchmark holds fewer streams and reports it.
  }
}

function openFilesLimit() {
  try {
    return Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

function readArguments() {
  const flag = { type: 'boolean', default: false };
  try {
    return parseArgs({ options: { only: { type: 'string' }, quick: flag, help: flag } });
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}
