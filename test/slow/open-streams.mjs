// node test/slow/open-streams.mjs: 500 visitors hold a stream open for 30 seconds, then all of them leave at once.
// Every stream to the agent must end within a second, and the site must give back its memory and file descriptors.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { mib, Report } from './report.mjs';
import { startSite } from './site-process.mjs';

const STREAMS = Number(process.env.STREAMS ?? 500);
const SECONDS = Number(process.env.SECONDS ?? 30);
const EVENT_EVERY_MS = 2_000;
const ABORT_MS = 1_000;
const HEAP_SLACK = 2 * 1_048_576;
const RSS_SLACK = 16 * 1_048_576;
// Connections to the agent may be kept for the next visitor for a while.
const SETTLE_MS = 20_000;
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: {} });

const report = new Report(`${STREAMS} open streams for ${SECONDS} s, then everybody leaves`);
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
}).listen(0, '127.0.0.1', 1024);
await once(agent, 'listening');
const site = await startSite(`http://127.0.0.1:${agent.address().port}/a2a`);

const fresh = await site.measure();
// The first round warms the process up: what it keeps is no leak.
await round(1);
const before = await settled();
const { seconds, abortMs, left, cutShort, fewestEvents, expectedEvents, open } = await round(SECONDS);
const after = await settled();
await site.close();
agent.closeAllConnections();
agent.close();

report.note(`open at once: ${open.streams} streams at the agent, ${open.descriptors ?? '?'} descriptors in the site`);
report.note(`memory while open: heap ${mib(open.heapUsed)}, RSS ${mib(open.rss)}`);
report.check(`all ${STREAMS} streams were open at once`, open.streams === STREAMS, `${open.streams} of ${STREAMS}`);
report.check(`none ended in ${SECONDS} s`, cutShort === 0, `${cutShort} ended, after ${seconds.toFixed(1)} s`);
report.check('everybody got every event', fewestEvents >= expectedEvents, `${fewestEvents} of ${expectedEvents}`);
report.check(
  'every stream to the agent was given up',
  left === 0 && ended === 0,
  `${left} left, ${ended} ended as complete`,
);
report.check(`within ${ABORT_MS} ms`, abortMs <= ABORT_MS, `${abortMs.toFixed(0)} ms`);
report.check(
  'heap returned',
  after.heapUsed <= before.heapUsed + HEAP_SLACK,
  `${mib(before.heapUsed)} before, ${mib(after.heapUsed)} after`,
);
report.check('RSS returned', after.rss <= before.rss + RSS_SLACK, `${mib(before.rss)} before, ${mib(after.rss)} after`);
if (fresh.descriptors === undefined) report.note('no /proc here: file descriptors were not counted');
else
  report.check(
    'descriptors returned',
    after.descriptors <= fresh.descriptors,
    `${fresh.descriptors} at the start, ${after.descriptors} after ${(after.waitedMs / 1_000).toFixed(0)} s`,
  );
report.finish();

/** All visitors arrive, stay and leave. */
async function round(duration) {
  const visitors = await Promise.all(Array.from({ length: STREAMS }, openStream));
  const startedAt = performance.now();
  let events = 1;
  while (performance.now() - startedAt < duration * 1_000) {
    await pause(Math.min(EVENT_EVERY_MS, duration * 1_000));
    for (const stream of agentStreams) stream.write(`data: ${events}\n\n`);
    events += 1;
  }
  await pause(500); // for the last event to arrive
  const open = { streams: agentStreams.size, ...(await site.measure()) };
  const cutShort = visitors.filter(({ over }) => over()).length;
  const fewestEvents = Math.min(...visitors.map((visitor) => visitor.events()));

  const leftAt = performance.now();
  for (const visitor of visitors) visitor.leave();
  while (agentStreams.size > 0 && performance.now() - leftAt < 10 * ABORT_MS) await pause(5);
  return {
    seconds: (leftAt - startedAt) / 1_000,
    abortMs: performance.now() - leftAt,
    left: agentStreams.size,
    cutShort,
    fewestEvents,
    expectedEvents: events,
    open,
  };
}

async function openStream() {
  const outgoing = request(`${site.url}/api/a2a`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': BODY.length },
  });
  outgoing.on('error', () => undefined);
  outgoing.end(BODY);
  const [response] = await once(outgoing, 'response');
  let text = '';
  let over = response.statusCode !== 200;
  response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  response.on('error', () => undefined).on('close', () => (over = true));
  return { over: () => over, events: () => text.split('data: ').length - 1, leave: () => outgoing.destroy() };
}

/** The site's figures when its descriptors are back where they were at its start, or when they have had their time. */
async function settled() {
  const startedAt = performance.now();
  for (;;) {
    await pause(1_000);
    const figures = await site.measure();
    const waitedMs = performance.now() - startedAt;
    if (!(figures.descriptors > fresh.descriptors) || waitedMs > SETTLE_MS) return { ...figures, waitedMs };
  }
}
