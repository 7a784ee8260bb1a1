// npm run test:fleet [-- --package <folder of another checkout>] [--quick] [--only renders,late,password,script,tenants]:
// toolkits and processes behind one real Redis.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listening } from '../support/listening.mjs';
import { startServer } from '../support/redis-topology.mjs';
import { load, Report } from './report.mjs';
import { tenants } from './tenants.mjs';

const FILE = fileURLToPath(import.meta.url);
const { values } = parseArgs({
  options: {
    package: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: 'renders,late,password,script,tenants' },
  },
});
const folder = values.package ?? fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const { createToolkit } = await import(`${folder}/dist/composition/index.js`);
const { createWebHandler } = await import(`${folder}/dist/composition/web.js`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** A busy machine must not look like a slow store, where only requests are counted. */
const PATIENT = { cacheMs: 2_000 };

/** A toolkit with a cached surface for users whom a header field names. */
function site({ platform, cacheStore, cacheKeys, timeouts, freshMs = 600_000 }) {
  const auth = {
    name: 'users',
    getToken: ({ headers }) =>
      Promise.resolve({ kind: 'token', accessToken: 't', subject: headers['x-user'], tenant: 't' }),
  };
  const toolkit = createToolkit({
    serviceApiUrl: `${platform}/api`,
    serviceApiKey: 'key',
    telemetry: 'silent',
    cacheStore,
    cacheKeys,
    timeouts,
  });
  const cache = { enabled: true, freshMs, maxAgeMs: 600_000 };
  const handle = createWebHandler({ toolkit, basePath: '/api', surfaces: { auth, cache } });
  const render = async (user) => {
    const headers = { 'content-type': 'application/json', 'x-user': user };
    const url = 'http://site.example/api/service-surfaces/w/render';
    const response = await handle(new Request(url, { method: 'POST', headers, body: '{}' }));
    await response.text();
    return response.headers.get('x-cache');
  };
  return { toolkit, render };
}

/** One process with a wrong password: asks for its token once. */
async function askWithPassword({ provider, cacheStore, cacheKeys }) {
  const password = {
    block: 'own',
    takesTurns: true,
    identity: () => ({ principal: 'service', proof: 'wrong' }),
    issue: async () => {
      await (await fetch(provider)).text();
      return { kind: 'failure', reason: 'refused', block: 'own', fields: [], advice: '', log: 'wrong password' };
    },
  };
  const config = {
    serviceApiUrl: 'http://127.0.0.1:1',
    serviceAuthStrategy: 'own',
    telemetry: 'silent',
    timeouts: PATIENT,
  };
  const toolkit = createToolkit({ ...config, cacheStore, cacheKeys }, { identityProviders: { own: password } });
  // Connected, so that all ask together.
  await pause(5_000);
  process.send('ready');
  await once(process, 'message');
  for (let time = 0; time < 10; time += 1) {
    await toolkit.authHeaders().catch(() => undefined);
    await pause(200);
  }
  process.disconnect();
}

if (process.send !== undefined) {
  const [message] = await once(process, 'message');
  if (message.provider !== undefined) await askWithPassword(message);
  else {
    // A script that configures a store and ends.
    createToolkit({ serviceApiKey: 'key', telemetry: 'silent', cacheStore: message.cacheStore });
    process.disconnect();
  }
} else await main();

async function main() {
  const report = new Report('A fleet behind one Redis');
  report.note(`package ${folder}; ${load()}`);
  const redis = await startServer();
  const cacheKeys = [randomBytes(32).toString('base64')];
  let renders = 0;
  const server = createServer((request, response) => {
    renders += 1;
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  const platform = await listening(server);
  const info = async (name) =>
    Number(new RegExp(`${name}[:=](\\d+)`).exec(await redis.cli('info', 'everything'))?.[1] ?? 0);
  const connections = async () => (await redis.cli('client', 'list')).trim().split('\n').length - 1;
  const parts = {
    renders: () => hits(),
    late: () => late(),
    password: () => wrongPassword(),
    script: () => script(),
    tenants: () => tenants({ report, folder, redis, connections, quick: values.quick }),
  };
  for (const part of values.only.split(',')) await parts[part]();
  server.close().closeAllConnections();
  await redis.close();
  report.finish();

  async function hits() {
    await redis.cli('flushall');
    const sites = Array.from({ length: 20 }, () =>
      site({ platform, cacheStore: redis.url, cacheKeys, timeouts: PATIENT }),
    );
    const users = Array.from({ length: values.quick ? 100 : 1_000 }, (_, index) => `user-${index}`);
    const of = (round, index) => sites[(index * 7 + round * 3) % sites.length];
    for (const [index, user] of users.entries()) await of(0, index).render(user);
    let [count, found] = [0, 0];
    const [reads, gets] = [await info('total_reads_processed'), await info('cmdstat_get:calls')];
    for (let round = 1; round <= 5; round += 1) {
      for (const [index, user] of users.entries()) {
        if ((await of(round, index).render(user)) === 'HIT') found += 1;
        count += 1;
      }
    }
    const trips = ((await info('total_reads_processed')) - reads) / count;
    const each = ((await info('cmdstat_get:calls')) - gets) / count;
    report.check('hits of 20 toolkits', found / count >= 0.99, `${found} of ${count}`);
    report.check('round trips per hit', trips < 1.05, `${trips.toFixed(3)}, with ${each.toFixed(2)} GETs`);
    report.check('connections of 20 toolkits', (await connections()) === 1, String(await connections()));
    await redis.kill();
    const startedAt = performance.now();
    await Promise.all(sites.map(({ toolkit }) => toolkit.close({ graceMs: 0 })));
    report.check('close without Redis', true, `${(performance.now() - startedAt).toFixed(0)} ms for 20 toolkits`);
    await redis.start();
  }

  async function late() {
    await redis.cli('flushall');
    const one = site({ platform, cacheStore: redis.url, cacheKeys });
    const users = Array.from({ length: 400 }, (_, index) => `hot-${index}`);
    while ((await one.render('first')) !== 'HIT') await pause(20);
    for (const user of users) await one.render(user);
    const before = renders;
    const running = [];
    for (let request = 0; request < 300; request += 1) {
      running.push(one.render(users[(request * 7) % users.length]));
      if (request === 100) {
        redis.freeze();
        setTimeout(() => redis.thaw(), 100);
      }
      await pause(10);
    }
    await Promise.all(running);
    report.check(
      'Redis late once by 100 ms',
      renders - before <= 60,
      `${renders - before} renders of a hot set of 400; ${load()}`,
    );
    await one.toolkit.close({ graceMs: 0 });
  }

  async function wrongPassword() {
    await redis.cli('flushall');
    let grants = 0;
    const counting = createServer((_request, response) => {
      grants += 1;
      response.end();
    });
    const provider = await listening(counting);
    const children = Array.from({ length: 20 }, () => fork(FILE, values.package ? ['--package', folder] : []));
    for (const child of children) child.send({ provider, cacheStore: redis.url, cacheKeys });
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) child.send({});
    await Promise.all(children.map((child) => once(child, 'exit')));
    report.check('20 processes with a wrong password', grants <= 3, `${grants} grants`);
    counting.close();
  }

  async function script() {
    const frozen = await startServer();
    frozen.freeze();
    for (const [state, cacheStore] of [
      ['a Redis', redis.url],
      ['no server', 'redis://127.0.0.1:1'],
      ['a Redis that hangs', frozen.url],
    ]) {
      const child = fork(FILE, values.package ? ['--package', folder] : []);
      const startedAt = performance.now();
      child.send({ cacheStore });
      const ended = await Promise.race([once(child, 'exit'), pause(20_000)]);
      report.check(
        `a script with ${state}`,
        ended !== undefined,
        `ended after ${(performance.now() - startedAt).toFixed(0)} ms`,
      );
      child.kill();
    }
    frozen.thaw();
    await frozen.close();
  }
}
