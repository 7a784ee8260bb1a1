// npm run test:fleet [-- --package <folder of another checkout>] [--quick] [--users 1000,5000] [--only hot,once,strangers,faults,tenants]: counts the calls of a fleet to platform and provider. Real processes
// and a real Redis.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { createClient } from '@keyv/redis';
import { startServer } from '../support/redis-topology.mjs';
import { Platform, shuffled, usersOf } from './fleet-platform.mjs';
import { startFleetProcess } from './fleet-process.mjs';
import { load, Report } from './report.mjs';
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
const parts = values.only?.split(',') ?? ['hot', 'once', 'strangers', 'faults', 'tenants'];
const FRESH_MS = 3_000;
/** A busy machine must not look like a slow store, where only requests are counted. */
const PATIENT = { timeouts: { cacheMs: 2_000 } };
const cacheKeys = [randomBytes(32).toString('base64')];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const report = new Report('A fleet behind one Redis');
report.note(`package ${folder}; ${load()}`);
const redis = await startServer();
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

/** Connections of sites. */
const connections = () =>
  inRedis(async (client) => (await client.sendCommand(['CLIENT', 'LIST'])).trim().split('\n').length - 1);

/** `count` processes of `toolkits` toolkits each. */
async function fleet(count, toolkits, more = {}) {
  const config = { cacheStore: redis.url, cacheKeys, ...more.config };
  const cache = { enabled: true, freshMs: FRESH_MS, maxAgeMs: 300_000, ...more.cache };
  const settings = { folder, toolkits, platform: platform.url, config, cache, exchange: more.exchange === true };
  const all = await Promise.all(Array.from({ length: count }, () => startFleetProcess(settings)));
  // Without its connection, a process does not use the results of others.
  while ((await connections()) < count * toolkits) await pause(50);
  platform.reset();
  return Object.assign(all, { end: () => all.forEach((one) => one.kill()) });
}

async function fresh() {
  await inRedis(async (client) => {
    await client.flushAll();
    await client.sendCommand(['CONFIG', 'RESETSTAT']);
  });
}

/** Faults of the store that the processes have reported, without the same one twice. */
async function faultsOf(all) {
  const found = await Promise.all(all.map((one) => one.faults()));
  return [...new Set(found.flatMap(({ faults }) => faults))];
}

function summed(all) {
  const sum = {};
  for (const { counts } of all)
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

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
      const cold = await commands('get');
      const rounds = processes === 1 ? 5 : 1;
      const visits = () =>
        shuffled(Array.from({ length: rounds }, () => users).flat()).map((user, index) => ({ user, toolkit: index }));
      const sum = summed(await Promise.all(all.map((one) => one.visit(visits(), 5))));
      const total = Object.values(sum).reduce((one, other) => one + other, 0);
      const hits = (sum.HIT ?? 0) / total;
      const unlinks = await commands('unlink');
      const reads = ((await commands('get')) - cold) / total;
      // The leases expire.
      await pause(1_500);
      const size = await inRedis(async (client) => {
        const memory = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
        // Unlike DBSIZE, without expired ones.
        return { keys: (await client.keys('*')).length / count, kilobytes: memory / count / 1_024 };
      });
      const name = `${processes} processes, ${toolkits} toolkit(s) each, ${count} hot users`;
      report.check(`${name}: hits`, hits >= 0.99, `${hits.toFixed(3)} of ${total}, ${JSON.stringify(sum)}`);
      report.check(`${name}: UNLINK`, unlinks === 0, unlinks);
      report.check(
        `${name}: keys a user`,
        size.keys <= 5.1,
        `${size.keys.toFixed(1)}, ${size.kilobytes.toFixed(1)} KB`,
      );
      report.check(`${name}: reads a visit`, reads <= 3.1, reads.toFixed(2));
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
    platform.reset();
    const startedAt = Date.now();
    for (let widget = 0; widget < 20; widget += 1) await everywhere({ user: 'cold', widget: `wc${widget}` });
    const visits = 20 * processes * toolkits;
    const { render: uncacheable } = platform.calls;
    report.check(
      `${name}: renders for ${visits} visits of widgets that cannot be shared`,
      uncacheable <= visits * 1.1,
      `${uncacheable} in ${Date.now() - startedAt} ms`,
    );
    if (processes > 1) {
      platform.reset();
      platform.renderMs = 300;
      const [killed, other] = all;
      void killed.visit([{ user: 'left', widget: 'w' }]);
      await pause(150);
      killed.kill();
      const since = Date.now();
      await other.visit([{ user: 'left', widget: 'w' }]);
      platform.renderMs = 20;
      const [renders, ms] = [platform.calls.render, Date.now() - since];
      report.check(`${name}: a process killed while it renders is replaced`, renders === 2 && ms < 2_000, `${ms} ms`);
    }
    all.end();

    await fresh();
    platform.isRefusing = true;
    const refused = await fleet(processes, toolkits, { config: PATIENT });
    const tried = [];
    for (let round = 0; round < 10; round += 1) {
      tried.push(...(await Promise.all(refused.map((one) => one.tokens()))).flatMap(({ tokens }) => tokens));
      await pause(500);
    }
    platform.isRefusing = false;
    report.check(
      `${name}: token requests while the provider refuses`,
      platform.calls.token === 1 && tried.every((code) => code === 'service_auth_failed'),
      `${platform.calls.token} for ${10 * processes * toolkits} calls`,
    );
    refused.end();

    await fresh();
    const exchanging = await fleet(processes, toolkits, { config: PATIENT, exchange: true });
    const pages = [];
    for (let page = 0; page < 20; page += 1) {
      const [before, startedAt] = [platform.calls.exchange, Date.now()];
      const calls = Array.from({ length: 6 }, (_, index) => ({
        user: `page${page}`,
        widget: `w${index}`,
        toolkit: 3 * index,
      }));
      await Promise.all(calls.map((visit, index) => exchanging[index % processes].show(visit)));
      pages.push({ page, exchanges: platform.calls.exchange - before, ms: Date.now() - startedAt });
    }
    // Each second without a result, another process asks; after five, all of them. On a busy machine, a page may take longer.
    const most = (ms, all) => (ms < 5_000 ? Math.min(all, 1 + Math.floor(ms / 1_000)) : all);
    const [inTime, late] = [pages.filter(({ ms }) => ms <= 1_000), pages.filter(({ ms }) => ms > 1_000)];
    const asked = inTime.reduce((sum, { exchanges }) => sum + exchanges, 0);
    report.check(
      `${name}: exchanges for ${pages.length} pages of six calls, one for each second that a page took`,
      inTime.length > 0 && asked === inTime.length && late.every(({ exchanges, ms }) => exchanges <= most(ms, 6)),
      [
        `${asked} for ${inTime.length} within a second`,
        ...late.map(({ page, exchanges, ms }) => `${exchanges} for page ${page} in ${ms} ms`),
        ...(await faultsOf(exchanging)),
      ].join(', '),
    );
    platform.reset();
    platform.tokenMs = 3_000;
    const slowSince = Date.now();
    const slow = Array.from({ length: processes * toolkits }, (_, index) => ({ user: 'slow', toolkit: index }));
    await Promise.all(slow.map((visit, index) => exchanging[index % processes].show(visit)));
    platform.tokenMs = 100;
    // The last one that asked has waited for its own.
    const slowMs = Date.now() - slowSince;
    report.check(
      `${name}: exchanges that take 3 s, for ${slow.length} calls`,
      platform.calls.exchange <= most(slowMs - 3_000, slow.length),
      `${platform.calls.exchange} in ${slowMs} ms`,
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
  await tenants({ report, folder, redis, connections, quick: values.quick });
}

report.note(load());
report.finish();
await redis.close();
platform.server.close();
