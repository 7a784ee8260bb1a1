// npm run test:fleet [-- --package <folder of another checkout>] [--quick] [--users 1000,5000] [--only hot,once,strangers,faults,actions,tenants]: what a fleet asks of platform and provider, counted. Real processes
// and a real Redis.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { createClient } from '@keyv/redis';
import { startFleetProcess } from './fleet-process.mjs';
import { startRedis } from './redis-process.mjs';
import { Report } from './report.mjs';
import { tenants } from './tenants.mjs';

const { values } = parseArgs({
  options: {
    package: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    users: { type: 'string', default: '1000,5000' },
  },
});
const folder = values.package ?? fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const parts = values.only?.split(',') ?? ['hot', 'once', 'strangers', 'faults', 'actions', 'tenants'];
const FRESH_MS = 3_000;
/** A busy machine must not look like a slow store, where only requests are counted. */
const PATIENT = { timeouts: { cacheMs: 2_000 } };
const cacheKeys = [randomBytes(32).toString('base64')];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts its calls; its content is the number of actions of a user. */
class Platform {
  calls = { render: 0, check: 0, action: 0, token: 0, exchange: 0 };
  #acted = new Map();

  async start() {
    this.server = createServer((request, response) => void this.#answer(request, response)).listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  reset() {
    for (const name of Object.keys(this.calls)) this.calls[name] = 0;
  }

  async #answer(request, response) {
    const { url, method } = request;
    const body = (await request.toArray()).join('');
    const kind =
      url === '/token'
        ? 'token'
        : url === '/exchange'
          ? 'exchange'
          : url.includes('/actions/')
            ? 'action'
            : method === 'GET'
              ? 'check'
              : 'render';
    this.calls[kind] += 1;
    const user = String(request.headers.authorization);
    if (kind === 'action') this.#acted.set(user, (this.#acted.get(user) ?? 0) + 1);
    const acted = this.#acted.get(user) ?? 0;
    await pause(kind === 'token' || kind === 'exchange' ? 100 : 20);
    if (kind === 'check') return void response.writeHead(304, { etag: '"1"' }).end();
    const name = url.split('/').find((part) => part.startsWith('w')) ?? 'w';
    const surface = { id: name, name: `name of ${name}` };
    response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' });
    if (kind === 'token' || kind === 'exchange')
      return void response.end(JSON.stringify({ value: `t${randomBytes(8).toString('hex')}`, lifeMs: 20_000 }));
    response.end(JSON.stringify({ surface, acted, filler: body.length > 1_000 ? body : 'x'.repeat(1_200) }));
  }
}

const report = new Report('A fleet behind one Redis');
report.note(
  `package ${folder}; load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`,
);
const redis = await startRedis();
if (redis === undefined) throw new Error('there is no redis-server');
const platform = await new Platform().start();

async function inRedis(run) {
  const client = createClient({ url: redis.url });
  client.on('error', () => undefined);
  await client.connect();
  const result = await run(client);
  client.destroy();
  return result;
}
const commands = (name) =>
  inRedis(async (client) =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(await client.info('commandstats'))?.[1] ?? 0),
  );

/** `count` processes of `toolkits` toolkits each. */
async function fleet(count, toolkits, more = {}) {
  const config = { cacheStore: redis.url, cacheKeys, ...more.config };
  const cache = { enabled: true, freshMs: FRESH_MS, maxAgeMs: 300_000, ...more.cache };
  const settings = { folder, toolkits, platform: platform.url, config, cache, exchange: more.exchange === true };
  const all = await Promise.all(Array.from({ length: count }, () => startFleetProcess(settings)));
  platform.reset();
  return Object.assign(all, { end: () => all.forEach((one) => one.kill()) });
}

async function fresh() {
  await inRedis(async (client) => {
    await client.flushAll();
    await client.sendCommand(['CONFIG', 'RESETSTAT']);
  });
}

function summed(all) {
  const sum = {};
  for (const { counts } of all)
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

const usersOf = (count) => Array.from({ length: count }, (_, index) => `user${index}`);
const shuffled = (list) =>
  list
    .map((value) => [Math.random(), value])
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);

// Hot users: each visits each process or toolkit once after the first render.
if (parts.includes('hot'))
  for (const [processes, toolkits] of [
    [8, 1],
    [1, 20],
  ])
    for (const count of values.users.split(',').map(Number)) {
      await fresh();
      const all = await fleet(processes, toolkits, { config: PATIENT, cache: { freshMs: 600_000, maxAgeMs: 600_000 } });
      const users = usersOf(count);
      await all[0].visit(users.map((user) => ({ user })));
      const rounds = processes === 1 ? 5 : 1;
      const visits = () =>
        shuffled(Array.from({ length: rounds }, () => users).flat()).map((user, index) => ({ user, toolkit: index }));
      const sum = summed(await Promise.all(all.map((one) => one.visit(visits(), 5))));
      const total = Object.values(sum).reduce((one, other) => one + other, 0);
      const hits = (sum.HIT ?? 0) / total;
      const unlinks = await commands('unlink');
      const size = await inRedis(async (client) => {
        const memory = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
        return `${((await client.dbSize()) / count).toFixed(1)} keys and ${(memory / count / 1_024).toFixed(1)} KB a user`;
      });
      const name = `${processes} processes, ${toolkits} toolkit(s) each, ${count} hot users`;
      report.check(`${name}: hits`, hits >= 0.99, `${hits.toFixed(3)} of ${total}, ${JSON.stringify(sum)}`);
      report.check(`${name}: UNLINK`, unlinks === 0, `${unlinks}; Redis has ${size}`);
      all.end();
    }

// Requests that one process would send once.
if (parts.includes('once'))
  for (const [processes, toolkits] of [
    [8, 1],
    [1, 20],
  ]) {
    const name = `${processes} processes, ${toolkits} toolkit(s) each`;
    await fresh();
    const all = await fleet(processes, toolkits, { config: PATIENT });
    const everywhere = (visit) =>
      Promise.all(
        all.map((one) =>
          one.visit(
            Array.from({ length: toolkits }, (_, toolkit) => ({ ...visit, toolkit })),
            toolkits,
          ),
        ),
      );
    await Promise.all(all.map((one) => one.tokens()));
    report.check(`${name}: token requests at the start`, platform.calls.token <= 1, platform.calls.token);
    // Tokens live 20 s here, and are due after 16 s.
    await pause(16_500);
    platform.reset();
    await Promise.all(all.map((one) => one.tokens()));
    await pause(1_500);
    await Promise.all(all.map((one) => one.tokens()));
    report.check(`${name}: token requests at a renewal`, platform.calls.token <= 1, platform.calls.token);
    platform.reset();
    for (let widget = 0; widget < 20; widget += 1) await everywhere({ user: 'cold', widget: `w${widget}` });
    report.check(`${name}: renders of 20 cold widgets`, platform.calls.render <= 22, platform.calls.render);
    await pause(FRESH_MS + 100);
    platform.reset();
    for (let widget = 0; widget < 20; widget += 1) await everywhere({ user: 'cold', widget: `w${widget}` });
    const { check, render } = platform.calls;
    report.check(`${name}: checks of 20 stale widgets`, check + render <= 22, `${check} checks, ${render} renders`);
    all.end();

    await fresh();
    const exchanging = await fleet(processes, toolkits, { config: PATIENT, exchange: true });
    for (let page = 0; page < 20; page += 1) {
      const calls = Array.from({ length: 6 }, (_, index) => ({
        user: `page${page}`,
        widget: `w${index}`,
        toolkit: 3 * index,
      }));
      await Promise.all(calls.map((visit, index) => exchanging[index % processes].show(visit)));
    }
    report.check(
      `${name}: exchanges for 20 pages of six calls`,
      platform.calls.exchange <= 22,
      platform.calls.exchange,
    );
    exchanging.end();
  }

// Strangers: each body is new.
if (parts.includes('strangers')) {
  await fresh();
  const all = await fleet(1, 1, {
    config: PATIENT,
    cache: { freshMs: 600_000, maxAgeMs: 600_000, storeBytes: 16_777_216 },
  });
  const filler = 'x'.repeat(50_000);
  const count = values.quick ? 600 : 3_000;
  await all[0].visit(
    Array.from({ length: count }, (_, index) => ({ user: 'stranger', body: JSON.stringify({ index, filler }) })),
  );
  const used = await inRedis(async (client) =>
    Number(/used_memory_dataset:(\d+)/.exec(await client.info('memory'))?.[1]),
  );
  // Sealed entries are a third longer than their text, and Redis rounds sizes up.
  report.check(
    `${count} renders with bodies of 50 KB and a storeBytes of 16 MiB: in Redis`,
    used < 16_777_216 * 1.7,
    `${(used / 1_048_576).toFixed(1)} MiB`,
  );
  all.end();
}

// Redis is paused, killed and restarted under load.
if (parts.includes('faults')) {
  await fresh();
  const all = await fleet(4, 1);
  const users = usersOf(200);
  const load = async (ms) => {
    platform.reset();
    const end = Date.now() + ms;
    const sums = [];
    while (Date.now() < end) {
      sums.push(
        ...(await Promise.all(
          all.map((one) =>
            one.visit(
              shuffled(users)
                .slice(0, 60)
                .map((user) => ({ user })),
              10,
            ),
          ),
        )),
      );
      await pause(Math.max(0, 250 - (Date.now() % 250)));
    }
    const sum = summed(sums);
    return {
      sum,
      text: `${platform.calls.render} renders, ${platform.calls.check} checks for ${Object.values(sum).reduce((a, b) => a + b, 0)} visits ${JSON.stringify(sum)}`,
    };
  };
  const served = ({ sum }) => Object.keys(sum).every((name) => /^[A-Z]+$/.test(name));
  const step = async (what, ms, act = async () => undefined) => {
    const acting = act();
    const result = await load(ms);
    await acting;
    report.check(what, served(result), result.text);
  };
  await load(4_000);
  await step('Redis works, 4 s', 4_000);
  await step('Redis is paused for 100 ms, 4 s', 4_000, () =>
    inRedis((client) => client.sendCommand(['CLIENT', 'PAUSE', '100', 'ALL'])),
  );
  await step('Redis is paused for 2 s, 4 s', 4_000, () =>
    inRedis((client) => client.sendCommand(['CLIENT', 'PAUSE', '2000', 'ALL'])),
  );
  await step('Redis works again, 4 s', 4_000);
  await step('Redis is killed, 4 s', 4_000, () => redis.kill());
  await step('Redis has restarted empty, 4 s', 4_000, () => redis.start());
  await step('Redis works again, 4 s', 4_000);
  all.end();
}

if (parts.includes('tenants')) {
  await fresh();
  const clients = () =>
    inRedis(async (client) => (await client.sendCommand(['CLIENT', 'LIST'])).trim().split('\n').length);
  await tenants({ report, folder, redis, clients, quick: values.quick });
}

// An action in one process, then the widget in another.
if (parts.includes('actions')) {
  await fresh();
  let all = await fleet(4, 1, { config: PATIENT });
  let last = 0;
  const acted = new Map();
  const checks = async (count, lanes) => {
    const result = { checked: 0, stale: 0, later: 0 };
    let next = 0;
    const lane = async (number) => {
      while (next < count) {
        next += 1;
        const user = `actor${number}-${(last += 1) % 5}`;
        const [one, other] = shuffled([0, 1, 2, 3]);
        await all[other].show({ user });
        const { status } = await all[one].show({ user, act: true });
        if (status !== 200) throw new Error(`an action ended with ${status}`);
        acted.set(user, (acted.get(user) ?? 0) + 1);
        const seen = async () => JSON.parse((await all[other].show({ user })).text).acted;
        result.checked += 1;
        if ((await seen()) >= acted.get(user)) continue;
        result.stale += 1;
        await pause(FRESH_MS);
        if ((await seen()) < acted.get(user)) result.later += 1;
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
    return result;
  };
  const scale = values.quick ? 0.1 : 1;
  const told = (result) => JSON.stringify(result);
  const up = await checks(7_000 * scale, 40);
  report.check('actions, then the widget in another process: the store works', up.stale === 0, told(up));
  all.end();
  // With the default deadline of a call.
  all = await fleet(4, 1);
  const stalls = setInterval(
    () => void inRedis((client) => client.sendCommand(['CLIENT', 'PAUSE', '120', 'ALL'])),
    700,
  );
  const slow = await checks(2_000 * scale, 40);
  clearInterval(stalls);
  report.check(
    `… it stalls for 120 ms again and again: older renders for ${FRESH_MS} ms at most`,
    slow.later === 0,
    told(slow),
  );
  await pause(3_000);
  await redis.kill();
  const gone = await checks(500 * scale, 40);
  report.check(`… the store is gone: older renders for ${FRESH_MS} ms at most`, gone.later === 0, told(gone));
  await redis.start();
  await pause(2_000);
  const back = await checks(500 * scale, 40);
  report.check(`… the store is back: older renders for ${FRESH_MS} ms at most`, back.later === 0, told(back));
  all.end();
}

report.note(
  `load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`,
);
report.finish();
await redis.close();
platform.server.close();
