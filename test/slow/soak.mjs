// node test/slow/soak.mjs [--minutes 10] [--seed N]: visitors open streams and leave at random moments while 2 % of the platform's
// responses
// fail, service tokens are revoked, and Redis crashes and restarts. In ten minutes or more: at least 100,000 streams.
// No visitor may get a wrong byte, and the site may not leak.
import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServer } from '../support/redis-topology.mjs';
import { mib, Report } from './report.mjs';
import { SeededRandom } from './seeded-random.mjs';
import { SoakPlatform } from './soak-platform.mjs';
import { startSoakSite } from './soak-site.mjs';
import { SoakVisitors } from './soak-visitors.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const MINUTES = Number(values.minutes ?? 10);
const SEED = Number(values.seed ?? randomInt(2 ** 32));
const LEAST_STREAMS = MINUTES >= 10 ? 100_000 : 0;
const AT_ONCE = 64;
/** The first is a warm-up: memory that the site keeps from it is not a leak. */
const PHASES = 6;
const CLOCK_SPEED = 20;
const REVOKE_EVERY_MS = 2_000;
const CRASH_EVERY_MS = 8_000;
const CRASH_MS = 1_000;
/** Time limit for everything that visitors left behind to end. */
const SETTLE_MS = 20_000;
const HEAP_SLACK = 4 * 1_048_576;
const RSS_SLACK = 24 * 1_048_576;
const HANDLE_SLACK = 4;

const report = new Report(`soak: ${MINUTES} min, ${AT_ONCE} visitors at once, seed ${SEED}`);
const startedAt = Date.now();
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const platform = await SoakPlatform.start({ publicKey, now: () => startedAt + (Date.now() - startedAt) * CLOCK_SPEED });
const redis = await startServer().catch((error) => {
  if (error.code !== 'ENOENT') throw error;
});
if (redis === undefined) report.note('there is no redis-server: renders and tokens stay in memory');
const site = await startSoakSite({
  platform: platform.origin,
  privateKeyPem: privateKey,
  redis: redis?.url,
  cacheKeys: [randomBytes(32).toString('hex')],
  clock: { startedAt, speed: CLOCK_SPEED },
});
const wrong = [];
const visitors = new SoakVisitors({
  url: site.url,
  random: new SeededRandom(SEED),
  wrong: (what, answer) =>
    wrong.push(answer === undefined ? String(what) : `${what} ${JSON.stringify(answer).slice(0, 600)}`),
});

const fresh = await site.measure();
const disturbances = { crashes: 0, revocations: 0, over: false };
const trouble = Promise.all([crashes(), revocations()]);
report.note('phase   streams     heap       RSS  descriptors   pooled  sockets  timers');
const measured = [];
for (let phase = 0; phase < PHASES; phase += 1) {
  const until = performance.now() + (MINUTES * 60_000) / PHASES;
  const streams = (LEAST_STREAMS * (phase + 1)) / PHASES;
  const isOver = () => site.faults.length > 0 || (performance.now() > until && visitors.counts.streams >= streams);
  await Promise.all(Array.from({ length: AT_ONCE }, () => visitors.visitUntil(isOver)));
  visitors.pause();
  const figures = await settled();
  measured.push(figures);
  report.note(row(phase === 0 ? 'warm' : phase, figures));
}
const open = platform.openStreams();
disturbances.over = true;
await trouble;
const events = await site.events();
await site.close();
platform.close();
await redis?.close();

const { streams, left, faults, others } = visitors.counts;
const [, first, ...later] = measured;
const last = later.at(-1);
report.note(
  `${streams} streams, ${left} of them left by the visitor; ${others} other requests; ${faults} faults of the platform`,
);
report.note(
  `${platform.tokens.size} service tokens, ${disturbances.revocations} revocations, ${platform.refusedTokens} refused; ${disturbances.crashes} crashes of Redis`,
);
report.note(`told to operators: ${JSON.stringify(events)}`);
if (LEAST_STREAMS > 0) report.check(`at least ${LEAST_STREAMS} streams`, streams >= LEAST_STREAMS, String(streams));
report.check('no wrong answer', wrong.length === 0, `${wrong.length}`);
for (const what of wrong.slice(0, 5)) report.note(what);
report.check(
  'nothing uncaught, no warning, a clean end',
  site.faults.length === 0,
  site.faults.slice(0, 5).join('\n') || 'none',
);
report.check('every stream to the agent ended', open === 0, `${open} left`);
report.check(
  'heap is flat',
  last.heapUsed <= first.heapUsed + HEAP_SLACK,
  `${mib(first.heapUsed)} → ${mib(last.heapUsed)}`,
);
// V8 grows and shrinks by some 30 MiB from one phase to the next without a cause.
const early = Math.max(...measured.slice(0, PHASES / 2).map(({ rss }) => rss));
report.check('RSS is flat', last.rss <= early + RSS_SLACK, `${mib(early)} → ${mib(last.rss)}`);
report.check(
  'sockets and timers are flat',
  sockets(last) <= sockets(fresh) + HANDLE_SLACK && timers(last) <= timers(fresh) + HANDLE_SLACK,
  `${sockets(fresh)} and ${timers(fresh)} at the start, ${sockets(last)} and ${timers(last)} at the end`,
);
report.descriptors('descriptors are flat', [fresh, last], HANDLE_SLACK);
const pooled = Math.max(...measured.map((figures) => figures.pooled));
report.check('no more connections are kept than were used', pooled <= AT_ONCE, `${pooled} of ${AT_ONCE}`);
if (redis !== undefined)
  report.check('renders came from Redis too', (events['cache hit'] ?? 0) > 0, `${events['cache hit'] ?? 0} hits`);
report.finish();
// Everything is measured; a socket that is still closing must not keep the process alive.
process.exit();

/** The site's figures without visitors, or after a time limit. Idle connections are counted separately. */
async function settled() {
  const since = performance.now();
  for (;;) {
    await pause(500);
    const { descriptors, ...figures } = await site.measure();
    const pooled = await platform.connections();
    const own = descriptors === undefined ? undefined : descriptors - pooled;
    const isQuiet = platform.openStreams() === 0 && !(own > fresh.descriptors + HANDLE_SLACK);
    if (isQuiet || performance.now() - since > SETTLE_MS) return { ...figures, descriptors: own, pooled };
  }
}

async function crashes() {
  while (redis !== undefined && !disturbances.over) {
    await pause(CRASH_EVERY_MS);
    await redis.kill();
    await pause(CRASH_MS);
    await redis.start();
    disturbances.crashes += 1;
  }
}

async function revocations() {
  while (!disturbances.over) {
    await pause(REVOKE_EVERY_MS);
    if (platform.revokeTokens()) disturbances.revocations += 1;
  }
}

function sockets({ handles }) {
  return handles.TCPSocketWrap ?? 0;
}

function timers({ handles }) {
  return handles.Timeout ?? 0;
}

function row(phase, figures) {
  const cells = [
    visitors.counts.streams,
    mib(figures.heapUsed),
    mib(figures.rss),
    figures.descriptors ?? '?',
    figures.pooled,
    sockets(figures),
    timers(figures),
  ];
  const widths = [9, 10, 10, 12, 8, 8, 7];
  return String(phase).padEnd(6) + cells.map((cell, index) => String(cell).padStart(widths[index])).join(' ');
}
