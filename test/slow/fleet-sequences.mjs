// node test/slow/fleet-sequences.mjs [--package <folder of another checkout>] [--beside <another>] [--quick]
// [--only up,slow,gone,full,suspended,ahead,cluster]: actions in one process and renders in another while the store works, stalls, is gone, back and full, and while a process is
// suspended or has a wrong clock; a cluster that fails over and moves slots under load. A part of npm run test:fleet.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { createClient } from '@keyv/redis';
import { startCluster, startServer } from '../support/redis-topology.mjs';
import { Platform, shuffled, usersOf } from './fleet-platform.mjs';
import { startFleetProcess } from './fleet-process.mjs';
import { load, Report } from './report.mjs';

const SCENES = ['up', 'slow', 'gone', 'full', 'suspended', 'ahead'];
const { values } = parseArgs({
  options: {
    package: { type: 'string' },
    // Half of the processes run this one: two releases share a store.
    beside: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: [...SCENES, 'cluster'].join() },
  },
});
const folder = values.package ?? fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const parts = values.only.split(',');
const scale = values.quick ? 0.1 : 1;
const FRESH_MS = 3_000;
const PROCESSES = 4;
const cacheKeys = [randomBytes(32).toString('base64')];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const report = new Report('A store that fails');
const beside = values.beside ?? folder;
report.note(`package ${folder}${values.beside === undefined ? '' : ` beside ${beside}`}; ${load()}`);
const platform = await new Platform().start();

async function fleet(store, more = {}, aheadMs = 0) {
  const config = { cacheStore: store, cacheKeys, ...more };
  const cache = { enabled: true, freshMs: FRESH_MS, maxAgeMs: 300_000 };
  const settings = { toolkits: 1, platform: platform.url, config, cache };
  const all = await Promise.all(
    Array.from({ length: PROCESSES }, (_, index) =>
      startFleetProcess({
        ...settings,
        folder: index % 2 === 0 ? folder : beside,
        aheadMs: index === 0 ? aheadMs : 0,
      }),
    ),
  );
  return Object.assign(all, { end: () => all.forEach((one) => one.kill()) });
}

// An action in one process, then the widget in another.
if (SCENES.some((name) => parts.includes(name))) {
  const redis = await startServer();
  const inRedis = async (...words) => {
    const client = createClient({ url: redis.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.sendCommand(words);
    client.destroy();
  };
  const acted = new Map();
  const checks = async (all, count, lanes = 40) => {
    const result = { checked: 0, older: 0, olderMs: 0, later: 0, slowestMs: 0 };
    const shown = async (one, user) => {
      const startedAt = Date.now();
      const { text } = await one.show({ user });
      result.slowestMs = Math.max(result.slowestMs, Date.now() - startedAt);
      return text;
    };
    let next = 0;
    const lane = async (number) => {
      for (let turn = 0; next < count; turn += 1) {
        next += 1;
        const user = `actor${number}-${turn % 5}`;
        const [one, other] = shuffled(all);
        await shown(other, user);
        const { status } = await one.show({ user, act: true });
        if (status !== 200) throw new Error(`an action ended with ${status}`);
        const respondedAt = Date.now();
        acted.set(user, (acted.get(user) ?? 0) + 1);
        const isCurrent = async () => JSON.parse(await shown(other, user)).acted >= acted.get(user);
        result.checked += 1;
        if (await isCurrent()) continue;
        result.older += 1;
        while (Date.now() < respondedAt + FRESH_MS && !(await isCurrent())) {
          result.olderMs = Math.max(result.olderMs, Date.now() - respondedAt);
          await pause(100);
        }
        await pause(respondedAt + FRESH_MS - Date.now());
        if (!(await isCurrent())) result.later += 1;
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
    return result;
  };
  const tell = (what, { checked, older, olderMs, later, slowestMs }, isKept) =>
    report.check(
      what,
      isKept,
      `${checked} checks, ${older} older (for ${olderMs} ms), ${later} after ${FRESH_MS} ms, slowest visit ${slowestMs} ms`,
    );
  const stalled = async (ms, everyMs, run) => {
    const stalls = setInterval(() => void inRedis('CLIENT', 'PAUSE', String(ms), 'ALL'), everyMs);
    const result = await run();
    clearInterval(stalls);
    await inRedis('CLIENT', 'UNPAUSE');
    return result;
  };

  const PATIENT = { timeouts: { cacheMs: 2_000 } };
  const scene = async (name, config, run, aheadMs) => {
    if (!parts.includes(name)) return;
    const all = await fleet(redis.url, config, aheadMs);
    await run(all);
    all.end();
  };
  await scene('up', PATIENT, async (all) => {
    const up = await checks(all, 5_000 * scale);
    tell('the store works', up, up.older === 0);
  });
  // With the default deadline of a call.
  await scene('slow', {}, async (all) => {
    for (const [ms, everyMs] of [
      [40, 200],
      [120, 700],
      [300, 1_500],
    ]) {
      const slow = await stalled(ms, everyMs, () => checks(all, 1_000 * scale));
      tell(`it stalls for ${ms} ms every ${everyMs} ms`, slow, slow.older === 0);
    }
  });
  await scene('gone', {}, async (all) => {
    const stuck = await stalled(2_000, 4_000, () => checks(all, 500 * scale));
    tell('it stalls for 2 s every 4 s', stuck, stuck.later === 0);
    await redis.kill();
    const gone = await checks(all, 500 * scale);
    tell('it is gone', gone, gone.later === 0);
    await redis.start();
    const back = await checks(all, 500 * scale);
    tell('it comes back', back, back.later === 0);
    await pause(2_000);
    const again = await checks(all, 500 * scale);
    tell('it works again', again, again.older === 0);
  });
  await scene('full', PATIENT, async (all) => {
    // In turns, so that there are renders from before.
    let fills = 0;
    const fill = setInterval(() => void inRedis('CONFIG', 'SET', 'maxmemory', fills++ % 2 === 0 ? '1' : '0'), 300);
    const full = await checks(all, 2_000 * scale);
    clearInterval(fill);
    tell(`it is full ${Math.ceil(fills / 2)} times and evicts nothing`, full, full.older === 0 && fills > 3);
    await inRedis('CONFIG', 'SET', 'maxmemory', '0');
  });
  // Each in turn, so that leases, tags and renders are written late.
  await scene('suspended', PATIENT, async (all) => {
    let [isOver, suspensions] = [false, 0];
    const suspending = (async () => {
      while (!isOver) {
        await pause(300);
        const one = all[suspensions++ % all.length];
        one.stop();
        await pause(5_000);
        one.resume();
      }
    })();
    const suspended = await checks(all, 1_000 * scale);
    isOver = true;
    tell(
      `${suspensions} times a process is suspended for 5 s`,
      suspended,
      suspended.older === 0 && suspensions > (values.quick ? 0 : 1),
    );
    await suspending;
  });
  // The first is as long as a render lives.
  for (const minutes of [5, 10])
    await scene(
      'ahead',
      PATIENT,
      async (all) => {
        const ahead = await checks(all, 500 * scale);
        tell(`the clock of a process is ${minutes} minutes ahead`, ahead, ahead.older === 0);
      },
      minutes * 60_000,
    );
  await redis.close();
}

// A cluster under load: platform calls before, while and after a primary is replaced, and slots move.
if (parts.includes('cluster')) {
  const cluster = await startCluster();
  const all = await fleet(cluster.url);
  const users = usersOf(200);
  const RATE = 500;
  const TURN_MS = 100;
  /** Visits at the rate until `act` and the time are over; all renders are served. */
  const step = async (what, ms, { isKept = () => true, act = async () => undefined } = {}) => {
    platform.reset();
    const sum = {};
    const began = Date.now();
    let isActing = true;
    const acting = act().finally(() => (isActing = false));
    for (let at = began; at < began + ms || isActing; at += TURN_MS) {
      const visits = () =>
        shuffled(users)
          .slice(0, (RATE * TURN_MS) / 1_000 / PROCESSES)
          .map((user) => ({ user }));
      for (const { counts } of await Promise.all(all.map((one) => one.visit(visits(), 10))))
        for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
      await pause(Math.max(0, at + TURN_MS - Date.now()));
    }
    await acting;
    const seconds = (Date.now() - began) / 1_000;
    const { render, check } = platform.calls;
    const total = Object.values(sum).reduce((one, other) => one + other, 0);
    const perSecond = { visits: total / seconds, renders: render / seconds, checks: check / seconds };
    const [visits, renders, checks] = Object.values(perSecond).map((value) => value.toFixed(0));
    const isServed = Object.keys(sum).every((name) => /^[A-Z]+$/.test(name));
    const text = `${visits} visits/s: ${renders} renders/s, ${checks} checks/s in ${seconds.toFixed(0)} s ${JSON.stringify(sum)}`;
    report.check(what, isServed && isKept(perSecond), text);
    return perSecond;
  };
  await step('a cluster, the first renders', 4_000);
  const before = await step('a cluster works', 6_000);
  const isAsBefore = { isKept: ({ renders }) => renders <= before.renders + 10 };
  const key = 'any';
  let killed;
  await step('a primary is killed', 6_000, { act: async () => (killed = await cluster.failover(key)) });
  await step('its replica is the primary', 6_000, isAsBefore);
  await step('the killed server is back', 6_000, { act: () => killed.start() });
  await step('1,000 slots move', 6_000, { act: () => cluster.reshardMany(1_000) });
  await step('the slots have moved', 6_000, isAsBefore);
  let hung;
  await step('a primary hangs', 6_000, { act: async () => (hung = await cluster.failover(key, 'freeze')) });
  await step('its replica is the primary', 6_000, isAsBefore);
  await step('the hung server responds again', 6_000, { act: async () => hung.thaw() });
  await cluster.settled();
  await step('the cluster works again', 6_000, isAsBefore);
  const primaries = await cluster.primaries();
  const lists = await Promise.all(primaries.map((node) => node.cli('client', 'list', 'type', 'normal')));
  const counts = lists.map((list) => list.split('\n').length - 1);
  report.check(
    'connections to each primary',
    counts.every((count) => count === PROCESSES),
    counts.join(', '),
  );
  all.end();
  await cluster.close();
}

report.note(load());
report.finish();
platform.server.close();
