// node test/slow/many-streams.mjs: one process holds 5,000 and then 10,000 open streams, and all visitors leave at once.
// A stream may cost 42 KB; no byte may be missing, and everything must be released.
// First over HTTP/1.1, as many as the descriptors allow (two for a stream); then over HTTP/2, where browsers share connections.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { mib, Report } from './report.mjs';
import { startSite } from './site-process.mjs';
import { http2Streams, openHttp1Stream } from './stream-visitors.mjs';

const WANTED = Number(process.env.STREAMS ?? 10_000);
const KILOBYTE = 1_000;
const LIMIT_PER_STREAM = 42 * KILOBYTE;
const AT_ONCE = 100;
const WARM_UP = 300;
const EVENT_MS = 60_000;
const LEAVE_MS = 30_000;
const SETTLE_MS = 30_000;
const HEAP_SLACK = 6 * 1_048_576;
/** The allocator keeps part of what it had; a second crowd is given that again. */
const KEPT_SHARE = 0.5;
const GROWTH = 1.1;
/** Of each process, for itself and for the connections that streams share. */
const RESERVED_DESCRIPTORS = 200;

/** `descriptors`: of the site for each stream, and as many of this process, which is the visitors and the agent. */
const PROTOCOLS = [
  { name: 'HTTP/1.1', http2: false, descriptors: 2, openStream: openHttp1Stream },
  { name: 'HTTP/2', http2: true, descriptors: 1, openStream: http2Streams() },
].filter(({ name }) => (process.env.PROTOCOL ?? name) === name);

const agentStreams = new Set();
let ended = 0;
const agent = createServer((incoming, response) => {
  incoming.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 0\n\n');
  agentStreams.add(response);
  response.on('close', () => {
    agentStreams.delete(response);
    if (response.writableFinished) ended += 1;
  });
}).listen(0, '127.0.0.1', 4_096);
await once(agent, 'listening');
for (const protocol of PROTOCOLS) await holdStreams(protocol);
agent.closeAllConnections();
agent.close();

async function holdStreams({ name, http2, descriptors, openStream }) {
  const limit = descriptorLimit();
  const most = Math.min(WANTED, Math.floor((limit - RESERVED_DESCRIPTORS) / descriptors));
  const report = new Report(`${most} open streams in one process, browsers over ${name}`);
  if (most < WANTED) {
    report.note(`${WANTED} need "ulimit -n ${descriptors * WANTED + RESERVED_DESCRIPTORS}"; here it is ${limit}`);
  }
  const site = await startSite(
    `http://127.0.0.1:${agent.address().port}/a2a`,
    {},
    { server: http2 ? 'http2' : 'express' },
  );
  const arrive = () => openStream(site.url);
  const fresh = await site.measure();
  // The first crowd warms the process up: code and pools are no cost of a stream.
  await leave(await open(WARM_UP, arrive));
  const before = await settled(site, fresh);
  report.note('streams   RSS per stream   heap per stream   descriptors');
  const visitors = [];
  for (const count of new Set([Math.min(5_000, most), most])) {
    visitors.push(...(await open(count - visitors.length, arrive)));
    const held = await site.measure();
    const perStream = (held.rss - before.rss) / count;
    report.note(
      `${String(count).padStart(7)} ${kilobytes(perStream).padStart(16)} ${kilobytes((held.heapUsed - before.heapUsed) / count).padStart(17)} ${String(held.descriptors ?? '?').padStart(13)}`,
    );
    report.check(`${count} are open at once`, agentStreams.size === count, String(agentStreams.size));
    report.check(
      'the memory of a stream',
      perStream <= LIMIT_PER_STREAM,
      `${kilobytes(perStream)} of ${kilobytes(LIMIT_PER_STREAM)}`,
    );
  }
  const peak = await site.measure();

  for (const stream of agentStreams) stream.write('data: 1\n\n');
  const toldMs = await until(() => visitors.every(({ text }) => text().endsWith('data: 1\n\n')), EVENT_MS);
  const told = visitors.filter(({ text }) => text() === 'data: 0\n\ndata: 1\n\n').length;
  report.check('everybody got the next event', told === most, `${told}, after ${toldMs.toFixed(0)} ms`);
  const over = visitors.filter((visitor) => visitor.over()).length;
  report.check('no stream ended before', over === 0, `${over} ended`);

  const endedBefore = ended;
  const leftMs = await leave(visitors);
  report.check(
    'every stream to the agent was given up',
    agentStreams.size === 0 && ended === endedBefore,
    `${agentStreams.size} left, ${ended - endedBefore} ended as complete, after ${leftMs.toFixed(0)} ms`,
  );
  const after = await settled(site, fresh);
  report.check(
    'heap returned',
    after.heapUsed <= before.heapUsed + HEAP_SLACK,
    `${mib(before.heapUsed)} → ${mib(after.heapUsed)}`,
  );
  const kept = (after.rss - before.rss) / (peak.rss - before.rss);
  const course = [before, peak, after].map(({ rss }) => mib(rss)).join(' → ');
  if (kept <= KEPT_SHARE) report.check('RSS returned', true, course);
  else {
    // The system gets it back late or never (the young generation of Node 24 stays as large as it was), so only the next crowd shows it.
    const again = await open(most, arrive);
    const second = await site.measure();
    await leave(again);
    report.check(
      'RSS serves the next crowd',
      second.rss <= GROWTH * Math.max(peak.rss, after.rss),
      `${course} → ${mib(second.rss)} with ${most} again`,
    );
  }
  if (fresh.descriptors === undefined) report.note('no /proc here: file descriptors were not counted');
  else
    report.check(
      'descriptors returned',
      after.descriptors <= fresh.descriptors,
      `${fresh.descriptors} → ${peak.descriptors} → ${after.descriptors}`,
    );
  await site.close();
  report.finish();
}

/** So many further visitors, a few at a time: a listener's backlog is finite. */
async function open(count, arrive) {
  const opened = [];
  while (opened.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - opened.length) }, arrive);
    opened.push(...(await Promise.all(some)));
  }
  return opened;
}

/** All visitors leave at once. Returns the time until the agent's last stream ended, in milliseconds. */
async function leave(leaving) {
  for (const visitor of leaving) visitor.leave();
  return until(() => agentStreams.size === 0, LEAVE_MS);
}

async function until(isSo, limitMs) {
  const startedAt = performance.now();
  while (!isSo() && performance.now() - startedAt < limitMs) await pause(20);
  return performance.now() - startedAt;
}

/** The site's figures when its connections are closed, or when they have had their time. */
async function settled(site, fresh) {
  const startedAt = performance.now();
  for (;;) {
    await pause(1_000);
    const figures = await site.measure();
    if (!(figures.descriptors > fresh.descriptors) || performance.now() - startedAt > SETTLE_MS) return figures;
  }
}

function kilobytes(bytes) {
  return `${(bytes / KILOBYTE).toFixed(1)} KB`;
}

/** The number of files and sockets a process may have open; Node itself has raised it to the most it may. */
function descriptorLimit() {
  try {
    const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
    return limit === 'unlimited' ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}
