// Part of `npm run test:fleet` (`-- --only tenants`): thousands of tenants in one process, in memory and behind one Redis.
import { randomBytes } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { listening } from '../support/listening.mjs';

const FILE = fileURLToPath(import.meta.url);
const HOUR_MS = 3_600_000;
const MIB = 1_048_576;

/** Agent and platform of all tenants; counts its open connections. */
async function startPlatform() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const isStyle = request.url.endsWith('.css');
      response.writeHead(200, { 'content-type': isStyle ? 'text/css' : 'application/json', etag: '"1"' });
      if (isStyle) response.end(`:root{--brand:#123;--filler:${'x'.repeat(2_000)}}`);
      else if (request.url.includes('.well-known'))
        response.end(JSON.stringify({ name: 'agent', url: 'https://agent.example/', skills: [], version: '1' }));
      else response.end(JSON.stringify({ id: 'p', filler: 'x'.repeat(1_200) }));
    });
  });
  // On a busy machine, a connection must not be closed by one side while the other uses it.
  server.keepAliveTimeout = 600_000;
  const connections = () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  return { server, connections, url: await listening(server) };
}

/** Prints a table of what `count` tenants cost, of which `crowded` have 700 users each. */
export async function tenants({ report, folder, redis, connections, quick }) {
  const platform = await startPlatform();
  const [count, crowded, users] = quick ? [300, 10, 100] : [3_000, 10, 700];
  for (const cacheStore of [undefined, redis.url]) {
    const name = `${count} tenants, ${cacheStore === undefined ? 'in memory' : 'one Redis'}`;
    const child = fork(FILE, { execArgv: ['--expose-gc'], env: { ...process.env, AGENT_BFF_TENANTS: '1' } });
    const ask = async (message) => {
      child.send(message);
      const [answer] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
      if (typeof answer !== 'object') throw new Error('the process of the tenants has ended');
      return answer;
    };
    const rows = [];
    const row = async (what, message, note = () => '') => {
      const answer = await ask(message);
      const ms = answer.ms.toFixed(0).padStart(8);
      const memory = (answer.bytes / MIB).toFixed(1).padStart(8);
      rows.push(`${what.padEnd(42)}${ms} ms ${memory} MiB  ${note(answer)}`);
      return answer;
    };
    const start = await row(
      'start',
      { start: { folder, platform: platform.url, cacheStore, count } },
      ({ slowest }) => `slowest toolkit ${slowest.toFixed(1)} ms`,
    );
    const idle = await row('idle', {});
    const more = await row('200 more, closed', { waste: 200 });
    await row('one user each', { visit: { tenants: count, from: 0, users: 1 } });
    const full = await row(`${users} users of ${crowded} tenants`, { visit: { tenants: crowded, from: 0, users } });
    const [toPlatform, toStore] = [await platform.connections(), await connections()];
    rows.push(`open connections: ${toPlatform} to agent and platform, ${toStore} to the store`);
    const later = await row('three hours later, after one more visit', { later: 3 * HOUR_MS });
    const load = await row('one closed under load', { closeOne: 20 });
    const closed = await row('all closed', { closeAll: true });
    child.kill();
    for (const line of rows) report.note(line);
    report.check(`${name}: one toolkit`, start.cpuMs / count <= 0.5, `${(start.cpuMs / count).toFixed(2)} ms of CPU`);
    const garbage = more.garbage / 200;
    report.check(`${name}: one toolkit`, garbage <= 40_960, `${(garbage / 1_024).toFixed(1)} KB of garbage`);
    report.check(`${name}: idle`, idle.bytes / count < 60_000, `${(idle.bytes / count / 1_024).toFixed(1)} KB each`);
    report.check(
      `${name}: three hours later`,
      // Code that the visits loaded stays.
      later.bytes - closed.bytes < idle.bytes * 1.3,
      `${((full.bytes - closed.bytes) / MIB).toFixed(1)} MiB of data, then ${((later.bytes - closed.bytes) / MIB).toFixed(1)}`,
    );
    report.check(`${name}: connections`, toPlatform <= 200 && toStore <= 1, `${toPlatform} and ${toStore}`);
    report.check(
      `${name}: one closed under load`,
      load.others.length === 1 && load.others[0] === 200,
      `statuses of the others: ${load.others.join(', ')} in ${load.visits} visits`,
    );
    report.check(
      `${name}: closed`,
      closed.held === 0,
      `${closed.held} bytes counted, store closed: ${closed.storeClosed}`,
    );
  }
  report.note(
    `700 users of all ${count} tenants do not fit this test: 2.1 million users. What they hold is bounded by the budget of the process.`,
  );
  platform.server.close();
  platform.server.closeAllConnections();
}

// The process of the tenants.
let offset = 0;
const isChild = process.send !== undefined && process.env.AGENT_BFF_TENANTS === '1';
const realNow = Date.now;
if (isChild) Date.now = () => realNow() + offset;
const sites = [];
let newToolkit;
const cacheKeys = [randomBytes(32).toString('hex')];
let shared;

function memory() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function begin({ folder, platform, cacheStore, count }) {
  const { createShared, createToolkit } = await import(`${folder}/dist/composition/index.js`);
  const { createWebHandler } = await import(`${folder}/dist/composition/web.js`);
  const auth = {
    name: 'users',
    getToken: ({ headers }) =>
      Promise.resolve({
        kind: 'token',
        accessToken: `token-of-${headers['x-user']}`,
        subject: headers['x-user'],
        tenant: 't',
      }),
  };
  const routes = { a2a: { auth }, surfaces: { auth, cache: { enabled: true } } };
  const before = memory();
  const cpu = process.cpuUsage();
  let slowest = 0;
  shared = createShared({ cacheStore, cacheMs: 2_000, telemetry: 'silent' });
  newToolkit = (name) => {
    const config = {
      name,
      a2aUrl: `${platform}/${name}`,
      serviceApiUrl: `${platform}/${name}/api`,
      telemetry: 'silent',
    };
    return createToolkit({ ...config, serviceApiKey: name, cacheKeys }, { shared });
  };
  for (let index = 0; index < count; index += 1) {
    const one = performance.now();
    sites.push({ toolkit: newToolkit(`tenant${index}`) });
    slowest = Math.max(slowest, performance.now() - one);
  }
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = (user + system) / 1_000;
  for (const site of sites) site.handle = createWebHandler({ toolkit: site.toolkit, basePath: '/api', ...routes });
  return { before, cpuMs, slowest };
}

/** Bytes that this many toolkits allocate and free again. */
async function garbageOf(count) {
  const before = memory();
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.enable');
  const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
  await session.post('HeapProfiler.startSampling', { samplingInterval: 1_024, ...all });
  const toolkits = Array.from({ length: count }, (_, index) => newToolkit(`more${index}`));
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const sizeOf = ({ selfSize, children }) => children.reduce((sum, child) => sum + sizeOf(child), selfSize);
  const garbage = sizeOf(profile.head) - (memory() - before);
  await Promise.all(toolkits.map((toolkit) => toolkit.close()));
  return garbage;
}

const BASE = 'http://site.example/api';

async function visit(tenant, user) {
  const headers = { 'content-type': 'application/json', 'x-user': `${user}-of-${tenant}` };
  const { handle } = sites[tenant];
  const config = await handle(new Request(`${BASE}/a2a/config`, { headers }));
  const render = await handle(
    new Request(`${BASE}/service-surfaces/w/render`, { method: 'POST', headers, body: '{}' }),
  );
  await Promise.all([config.text(), render.text()]);
  return config.status === 200 ? render.status : config.status;
}

/** Calls `run` for each number, in 20 lanes. */
async function inLanes(count, run) {
  let next = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (next < count) await run(next++);
    }),
  );
}

let base = 0;

async function answer({ start, waste, visit: visits, later, closeOne, closeAll }) {
  const startedAt = performance.now();
  let more = {};
  if (start) {
    const { before, ...found } = await begin(start);
    base = before;
    // The first connection to the store.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    more = found;
  }
  if (waste) more = { garbage: await garbageOf(waste) };
  if (visits) {
    const { tenants: count, users } = visits;
    await inLanes(count * users, async (number) => {
      const status = await visit(number % count, Math.floor(number / count));
      if (status !== 200) throw new Error(`a visit ended with ${status}`);
    });
  }
  if (later) {
    offset += later;
    await visit(1, 'later');
  }
  if (closeOne) {
    const others = new Set();
    let count = 0;
    let isOver = false;
    const load = inLanes(4_000, async (number) => {
      if (isOver) return;
      const tenant = number % closeOne;
      const status = await visit(tenant, number % 50);
      count += 1;
      if (tenant !== 0) others.add(status);
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await sites[0].toolkit.close({ graceMs: 0 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    isOver = true;
    await load;
    more = { others: [...others], visits: count };
  }
  if (closeAll) {
    await Promise.all(sites.map(({ toolkit }) => toolkit.close({ graceMs: 0 })));
    await shared.close();
    const { data, tokens } = globalThis[Symbol.for('agent-bff/memory@2')];
    more = { held: data.heldBytes + tokens.heldBytes, storeClosed: true };
    sites.length = 0;
  }
  const ms = performance.now() - startedAt;
  // Twice: some objects are released by a finalizer of the first collection.
  memory();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return { ms, bytes: memory() - base, ...more };
}

if (isChild) {
  process.on('message', async (message) => process.send(await answer(message)));
  process.once('disconnect', () => process.exit(0));
}
