// node test/slow/many-streams.mjs: one process holds 5,000 and then 10,000 open streams, and everybody leaves at once.
// A stream may cost 42 KB; nobody's bytes may be missing, and everything must be given back.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { mib, Report } from './report.mjs';
import { startSite } from './site-process.mjs';

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
/** A stream is two sockets in the site, and two in this process: the visitor's and the agent's. */
const RESERVED_DESCRIPTORS = 200;
/** A port is used once per address, and ports of a run before may not be free yet. */
const SOURCES = process.platform === 'linux' ? ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'] : [undefined];
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: {} });

const descriptors = descriptorLimit();
const most = Math.min(WANTED, Math.floor((descriptors - RESERVED_DESCRIPTORS) / 2));
const report = new Report(`${most} open streams in one process`);
if (most < WANTED)
  report.note(`${WANTED} need "ulimit -n ${2 * WANTED + RESERVED_DESCRIPTORS}"; here it is ${descriptors}`);

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
const site = await startSite(`http://127.0.0.1:${agent.address().port}/a2a`);

const fresh = await site.measure();
// The first crowd warms the process up: code and pools are no cost of a stream.
await leave(await open(WARM_UP));
const before = await settled();
report.note('streams   RSS per stream   heap per stream   descriptors');
const visitors = [];
for (const count of new Set([Math.min(5_000, most), most])) {
  visitors.push(...(await open(count - visitors.length)));
  const held = await site.measure();
  const perStream = (held.rss - before.rss) / count;
  report.note(
    `${String(count).padStart(7)} ${kilobytes(perStream).padStart(16)} ${kilobytes((held.heapUsed - before.heapUsed) / count).padStart(17)} ${String(held.descriptors ?? '?').padStart(13)}`,
  );
  report.check(`${count} are open at once`, agentStreams.size === count, String(agentStreams.size));
  report.check(
    'what a stream costs',
    perStream <= LIMIT_PER_STREAM,
    `${kilobytes(perStream)} of ${kilobytes(LIMIT_PER_STREAM)}`,
  );
}
const peak = await site.measure();

for (const stream of agentStreams) stream.write('data: 1\n\n');
const toldMs = await until(() => visitors.every(({ text }) => text().endsWith('data: 1\n\n')), EVENT_MS);
report.check('everybody got the next event', toldMs < EVENT_MS, `${toldMs.toFixed(0)} ms`);
const over = visitors.filter((visitor) => visitor.over()).length;
report.check('no stream ended before', over === 0, `${over} ended`);

const leftMs = await leave(visitors);
report.check(
  'every stream to the agent was given up',
  agentStreams.size === 0 && ended === 0,
  `${agentStreams.size} left, ${ended} ended as complete, after ${leftMs.toFixed(0)} ms`,
);
const after = await settled();
report.check(
  'heap returned',
  after.heapUsed <= before.heapUsed + HEAP_SLACK,
  `${mib(before.heapUsed)} → ${mib(after.heapUsed)}`,
);
report.check(
  'RSS returned',
  after.rss - before.rss <= KEPT_SHARE * (peak.rss - before.rss),
  `${mib(before.rss)} → ${mib(peak.rss)} → ${mib(after.rss)}`,
);
if (fresh.descriptors === undefined) report.note('no /proc here: file descriptors were not counted');
else
  report.check(
    'descriptors returned',
    after.descriptors <= fresh.descriptors,
    `${fresh.descriptors} → ${after.descriptors}`,
  );
await site.close();
agent.closeAllConnections();
agent.close();
report.finish();

/** So many further visitors, a few at a time: a listener's backlog is finite. */
async function open(count) {
  const opened = [];
  while (opened.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - opened.length) }, (_, index) => openStream(index));
    opened.push(...(await Promise.all(some)));
  }
  return opened;
}

async function openStream(index) {
  const outgoing = request(`${site.url}/api/a2a`, {
    method: 'POST',
    agent: false,
    localAddress: SOURCES[index % SOURCES.length],
    headers: { 'content-type': 'application/json', 'content-length': BODY.length },
  });
  outgoing.end(BODY);
  const [response] = await once(outgoing, 'response');
  outgoing.on('error', () => undefined);
  let text = '';
  let over = response.statusCode !== 200;
  response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  response.on('error', () => undefined).on('close', () => (over = true));
  return { over: () => over, text: () => text.replaceAll(': keep-alive\n\n', ''), leave: () => outgoing.destroy() };
}

/** Everybody leaves at once; how long the agent's streams took to end, in milliseconds. */
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
async function settled() {
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

/** How many files and sockets a process may have open; Node itself has raised it to the most it may. */
function descriptorLimit() {
  try {
    const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
    return limit === 'unlimited' ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}
