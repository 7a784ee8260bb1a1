// node test/slow/open-streams.mjs: 500 visitors hold a stream open for 30 seconds, then all of them leave at once. With --most, 5,000 and
// then 10,000 of them in one process, each at 42 KB or less: first over HTTP/1.1, as many as the descriptors allow (two for a stream);
// then over HTTP/2, where browsers share connections. No event may be missing, every stream to the agent must end, and the site must
// give back its memory and file descriptors.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { listening } from '../support/listening.mjs';
import { mib, Report } from './report.mjs';
import { startSite } from './site-process.mjs';
import { http2Streams, openHttp1Stream } from './stream-visitors.mjs';

const MIB = 1_048_576;
const KILOBYTE = 1_000;
const isMost = process.argv.includes('--most');
/** Streams at once, their time and events, the time to end them, and the memory that may stay. */
const { streams, seconds, everyMs, leaveMs, heapSlack, rssSlack } = isMost
  ? { streams: [5_000, 10_000], seconds: 0, everyMs: 0, leaveMs: 30_000, heapSlack: 6 * MIB }
  : { streams: [500], seconds: 30, everyMs: 2_000, leaveMs: 1_000, heapSlack: 2 * MIB, rssSlack: 16 * MIB };
const LIMIT_PER_STREAM = 42 * KILOBYTE;
const AT_ONCE = 100;
const WARM_UP = isMost ? 300 : 500;
const EVENT_MS = 60_000;
const SETTLE_MS = 30_000;
/** The allocator keeps part of what it had; a second crowd is given that again. */
const KEPT_SHARE = 0.5;
const GROWTH = 1.1;
/** Of each process, for itself and for the connections that streams share. */
const RESERVED_DESCRIPTORS = 200;

/** `descriptors`: of the site for each stream, and as many of this process, which is the visitors and the agent. */
const PROTOCOLS = [
  { name: 'HTTP/1.1', server: 'express', descriptors: 2, openStream: openHttp1Stream },
  { name: 'HTTP/2', server: 'http2', descriptors: 1, openStream: http2Streams() },
].slice(0, isMost ? 2 : 1);

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
});
const origin = await listening(agent, 4_096);
for (const protocol of PROTOCOLS) await holdStreams(protocol);
agent.closeAllConnections();
agent.close();

async function holdStreams({ name, server, descriptors, openStream }) {
  const limit = descriptorLimit();
  const counts = streams.map((count) => Math.min(count, Math.floor((limit - RESERVED_DESCRIPTORS) / descriptors)));
  const most = counts.at(-1);
  const report = new Report(`${most} open streams in one process, browsers over ${name}`);
  if (most < streams.at(-1)) {
    const needed = descriptors * streams.at(-1) + RESERVED_DESCRIPTORS;
    report.note(`${streams.at(-1)} need "ulimit -n ${needed}"; here it is ${limit}`);
  }
  const site = await startSite(`${origin}/a2a`, {}, { server });
  const arrive = () => openStream(site.url);
  const fresh = await site.measure();
  // The first crowd warms the process up: code and pools are no cost of a stream.
  await leave(await open(WARM_UP, arrive));
  const before = await site.settled(fresh.descriptors, SETTLE_MS);
  const visitors = [];
  for (const count of new Set(counts)) {
    visitors.push(...(await open(count - visitors.length, arrive)));
    const held = await site.measure();
    const each = (figure) => `${((held[figure] - before[figure]) / count / KILOBYTE).toFixed(1)} KB`;
    report.note(`${count} streams: heap ${each('heapUsed')} each, ${held.descriptors ?? '?'} descriptors`);
    report.check(`${count} are open at once`, agentStreams.size === count, String(agentStreams.size));
    const perStream = (held.rss - before.rss) / count;
    // Few streams say little of one, because the process has its own needs.
    if (isMost) report.check('the memory of a stream', perStream <= LIMIT_PER_STREAM, each('rss'));
    else report.note(`RSS ${each('rss')} each`);
  }
  const peak = await site.measure();

  let expected = 'data: 0\n\n';
  const startedAt = performance.now();
  do {
    await pause(everyMs);
    for (const stream of agentStreams) stream.write('data: 1\n\n');
    expected += 'data: 1\n\n';
  } while (performance.now() - startedAt < seconds * 1_000);
  const told = () => visitors.filter(({ text }) => text() === expected).length;
  const toldMs = await until(() => told() === most, EVENT_MS);
  report.check('every visitor got every event', told() === most, `${told()}, after ${toldMs.toFixed(0)} ms`);
  const over = visitors.filter((visitor) => visitor.over()).length;
  report.check('no stream ended before', over === 0, `${over} ended`);

  const endedBefore = ended;
  const leftMs = await leave(visitors);
  report.check(
    `every stream to the agent was given up within ${leaveMs} ms`,
    agentStreams.size === 0 && ended === endedBefore && leftMs <= leaveMs,
    `${agentStreams.size} left, ${ended - endedBefore} ended as complete, after ${leftMs.toFixed(0)} ms`,
  );
  const after = await site.settled(fresh.descriptors, SETTLE_MS);
  const isHeapBack = after.heapUsed <= before.heapUsed + heapSlack;
  report.check('heap returned', isHeapBack, `${mib(before.heapUsed)} → ${mib(after.heapUsed)}`);
  const kept = after.rss - before.rss;
  const course = [before, peak, after].map(({ rss }) => mib(rss)).join(' → ');
  if (rssSlack !== undefined) report.check('RSS returned', kept <= rssSlack, course);
  else if (kept <= KEPT_SHARE * (peak.rss - before.rss)) report.check('RSS returned', true, course);
  else {
    // The system gets it back late or never (the young generation of Node 24 stays as large as it was), so only the next crowd shows it.
    const again = await open(most, arrive);
    const second = await site.measure();
    await leave(again);
    const isNoMore = second.rss <= GROWTH * Math.max(peak.rss, after.rss);
    report.check('RSS serves the next crowd', isNoMore, `${course} → ${mib(second.rss)} with ${most} again`);
  }
  report.descriptors('descriptors returned', [fresh, peak, after]);
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
  return until(() => agentStreams.size === 0, Math.max(leaveMs, 10_000));
}

async function until(isSo, limitMs) {
  const startedAt = performance.now();
  while (!isSo() && performance.now() - startedAt < limitMs) await pause(20);
  return performance.now() - startedAt;
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
