// npm run bench:against -- <folder of another checkout> [--processes 8] [--only chat,stream,visitor,render]: compares CPU per request with another
// checkout.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.mjs';
import { runNode } from '../scripts/command.mjs';
import { RIVALS } from './catalogue.mjs';
import { check, undisturbed, visit } from './measure.mjs';
import { startProcess } from './process.mjs';
import { message } from './scenarios.mjs';
import { median, ratioOf } from './statistics.mjs';

/** Long beside what is under way when a slice ends: 50 streams of two hundred events. */
const SLICE_MS = { chat: 200, stream: 1_000, render: 200 };
const WARM_UP_MS = 3_000;
/** Enough for the compiler to finish. A stream of two hundred events warms more code than a short response. */
const WARM_UP_ANSWERS = { chat: 10_000, stream: 1_500, render: 10_000 };
/** Slices per process; slices of the two checkouts alternate. */
const SLICES = 8;
const chat = { scenario: 'chat', path: '/api/a2a', connections: 50 };
const stream = { ...chat, scenario: 'stream' };
const render = { scenario: 'render', path: '/api/service-surfaces/widget-{n}/render', connections: 50 };
const WORKLOADS = {
  chat: [
    { name: 'ours-node', ask: chat, upstream: '/chat' },
    { name: 'ours-express', ask: chat, upstream: '/chat' },
  ],
  stream: [
    { name: 'ours-node', ask: stream, upstream: '/stream' },
    { name: 'ours-express', ask: stream, upstream: '/stream' },
  ],
  // Against open conversations: with the first message of each conversation, and with further ones.
  visitor: [
    { name: 'ours-visitor', other: 'ours-node', ask: { ...chat, body: String(message()) }, upstream: '/chat' },
    { name: 'ours-visitor', other: 'ours-node', ask: { ...chat, isContinued: true }, upstream: '/chat' },
  ],
  render: [{ name: 'ours-render', ask: { ...render, vary: 1_000, fromCache: true }, upstream: '/chat' }],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { processes: { type: 'string', default: '8' }, only: { type: 'string' } },
});
const other = resolve(positionals[0] ?? '');
const processes = Number(values.processes);
const names = values.only?.split(',') ?? Object.keys(WORKLOADS);
if (positionals.length !== 1 || !(processes > 1) || names.some((name) => !Object.hasOwn(WORKLOADS, name))) {
  const known = Object.keys(WORKLOADS).join(',');
  console.error(`Usage: npm run bench:against -- <folder of another checkout> [--processes 8] [--only ${known}]`);
  process.exit(1);
}
if (!existsSync(join(other, 'bench/ours/node.mjs')) || !existsSync(join(other, 'node_modules'))) {
  console.error(`${other} is no installed checkout of this project. Check it out there, and run npm ci.`);
  process.exit(1);
}
await ensureBuilt('package');
const built = await runNode(join(other, 'scripts/build.mjs'), ['--if-needed'], { cwd: other });
if (built !== 0) process.exit(built);

const upstream = await startProcess('upstream.mjs');
const load = await startProcess('load.mjs');
let addresses = 0;
for (const name of names) for (const workload of WORKLOADS[name]) await compare(name, workload);
await Promise.all([load.close(), upstream.close()]);

/**
 * Prints CPU per request of the two checkouts as a ratio.
 * Processes of one build differ for their whole life in compiled code, so each pair of processes is one sample.
 */
async function compare(title, { name, other: otherName = name, ask: { isContinued, ...ask }, upstream: path }) {
  const samples = [];
  for (let number = 0; number < processes; number += 1) {
    // Alternates which checkout goes first.
    const folders = number % 2 === 0 ? ['.', other] : [other, '.'];
    const places = [];
    for (const folder of folders)
      places.push(await start(folder, folder === '.' ? name : otherName, path, ask, isContinued));
    const ratios = [];
    for (let slice = 0; slice < SLICES; slice += 1) {
      const costs = new Map();
      for (const place of slice % 2 === 0 ? places : places.toReversed()) costs.set(place.folder, await cost(place));
      ratios.push(costs.get('.') / costs.get(other));
    }
    samples.push(median(ratios));
    for (const { key, process } of places) {
      await load.ask('stop', { crowd: key });
      await process.close();
    }
  }
  const { mean, low, high } = ratioOf(samples);
  const [times, from, to] = [mean, low, high].map((value) => value.toFixed(3));
  const words = isContinued ? 'further messages' : RIVALS[name].label;
  console.log(`${title}, ${words}: ${times} (95 %: ${from} to ${to}; ${processes} pairs of processes)`);
}

async function start(folder, name, path, given, isContinued) {
  const { file, options } = RIVALS[name];
  const address = `http://127.0.0.${10 + (addresses++ % 200)}:${upstream.facts.port}${path}`;
  const process = await startProcess(folder === '.' ? file : join(other, 'bench', file), {
    ...options,
    upstream: address,
  });
  const place = {
    folder,
    key: `${folder} ${addresses}`,
    process,
    target: { host: '127.0.0.1', port: process.facts.port },
  };
  const ask = isContinued ? { ...given, ...(await begun(place, given)) } : given;
  place.ask = ask;
  check(await load.ask('once', { ...ask, target: place.target, path: ask.path.replace('{n}', '000000') }));
  // Fills the cache before hits are counted.
  const least = WARM_UP_ANSWERS[ask.scenario];
  const warmed = await visit({ load }, place, { ...ask, fromCache: false }, WARM_UP_MS, least);
  check(warmed);
  if (warmed.completed < least)
    throw new Error(
      `${name} is not warm after ${warmed.completed} of ${least} requests. Run it on a less busy machine.`,
    );
  return place;
}

/** A further message of a conversation that was begun at a site. */
async function begun({ target: { port } }, { path }) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: message(),
  });
  const [cookie = `agent-bff-visitor=${'A'.repeat(22)}.abcdef`] = response.headers.getSetCookie();
  const [, contextId = crypto.randomUUID()] = /"contextId":"([^"]+)"/.exec(await upstream.ask('last')) ?? [];
  return { fields: { cookie: cookie.split(';', 1)[0] }, body: String(message(contextId)) };
}

/** Microseconds of CPU for one request. */
async function cost(place) {
  const { cpu, completed } = await undisturbed({ load }, place, place.ask, SLICE_MS[place.ask.scenario]);
  return cpu / completed;
}
