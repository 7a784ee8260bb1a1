// node test/slow/fleet-sequences.mjs [--package <folder of another checkout>] [--quick] [--only sequences,cluster]: actions
// in one process and renders in another while the store works, stalls, is gone and is back; a cluster that fails over and
// moves slots under load. A part of npm run test:fleet.
import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { createClient } from '@keyv/redis';
import { startCluster } from '../support/redis-topology.mjs';
import { Platform, shuffled, usersOf } from './fleet-platform.mjs';
import { startFleetProcess } from './fleet-process.mjs';
import { startRedis } from './redis-process.mjs';
import { Report } from './report.mjs';

const { values } = parseArgs({
  options: {
    package: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: 'sequences,cluster' },
  },
});
const folder = values.package ?? fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const parts = values.only.split(',');
const scale = values.quick ? 0.1 : 1;
const FRESH_MS = 3_000;
const PROCESSES = 4;
const cacheKeys = [randomBytes(32).toString('base64')];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const told = () =>
  `load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`;

const report = new Report('A store that fails');
report.note(`package ${folder}; ${told()}`);
const platform = await new Platform().start();

async function fleet(store, more = {}) {
  const config = { cacheStore: store, cacheKeys, ...more };
  const cache = { enabled: true, freshMs: FRESH_MS, maxAgeMs: 300_000 };
  const settings = { folder, toolkits: 1, platform: platform.url, config, cache };
  const all = await Promise.all(Array.from({ length: PROCESSES }, () => startFleetProcess(settings)));
  return Object.assign(all, { end: () => all.forEach((one) => one.kill()) });
}

// An action in one process, then the widget in another.
if (parts.includes('sequences')) {
  const redis = await startRedis();
  if (redis === undefined) throw new Error('there is no redis-server');
  const inRedis = async (...words) => {
    const client = createClient({ url: redis.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.sendCommand(words);
    client.destroy();
  };
  const acted = new Map();
  const checks = async (all, count, lanes = 40) => {
    const result = { checked: 0, older: 0, olderMs: 0, later: 0 };
    let next = 0;
    const lane = async (number) => {
      for (let turn = 0; next < count; turn += 1) {
        next += 1;
        const user = `actor${number}-${turn % 5}`;
        const [one, other] = shuffled(all);
        await other.show({ user });
        const { status } = await one.show({ user, act: true });
        if (status !== 200) throw new Error(`an action ended with ${status}`);
        const respondedAt = Date.now();
        acted.set(user, (acted.get(user) ?? 0) + 1);
        const isCurrent = async () => {const r=await other.show({ user }); const ok = JSON.parse(r.text).acted >= acted.get(user); if(!ok) kinds[r.cache]=(kinds[r.cache]??0)+1; return ok;};
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
  const kinds={};
 const tell = (what, { checked, older, olderMs, later }, isKept) =>
    (console.log(kinds), report).check(what, isKept, `${checked} checks, ${older} older (for ${olderMs} ms), ${later} after ${FRESH_MS} ms`);
  const stalled = async (ms, everyMs, run) => {
    const stalls = setInterval(() => void inRedis('CLIENT', 'PAUSE', String(ms), 'ALL'), everyMs);
    const result = await run();
    clearInterval(stalls);
    await inRedis('CLIENT', 'UNPAUSE');
    return result;
  };

  let all = await fleet(redis.url, { timeouts: { cacheMs: 2_000 } });
  const up = await checks(all, 50);
  tell('the store works', up, up.older === 0);
  all.end();
  // With the default deadline of a call.
  all = await fleet(redis.url);
  for (const [ms, everyMs] of [
    [120, 700],
    [300, 1_500],
  ]) {
    const slow = await stalled(ms, everyMs, () => checks(all, 2_000));
    tell(`it stalls for ${ms} ms every ${everyMs} ms`, slow, slow.older === 0);
  }
  all.end();
  await redis.close();
}

report.note(told());
report.finish();
platform.server.close();
