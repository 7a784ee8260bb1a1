// node test/slow/large-bodies.mjs: uploads and downloads 100 MB, and three times that, through the conversation proxy,
// fast and slowly, and an answer of 200 MB to a slow reader. Every byte must arrive, and a larger body must not need more
// memory than a smaller one.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { listening } from '../support/listening.mjs';
import { mib, Report } from './report.mjs';
import { MESSAGE, startSite } from './site-process.mjs';

const MIB = 1_048_576;
const TOTAL = 100 * MIB;
const LIMIT = 32 * MIB;
// V8 lets buffers grow by this much before it collects them (its soft limit of external memory). A fast body reaches
// more or less of it by chance. It is compared with this limit, and a body three times as large with the first one.
const COLLECTOR_SLACK = 64 * MIB;
const STALL_MS = 5_000;
const EVENT_BYTES = 65_536;
const SLOW_BYTES_PER_SECOND = 20 * MIB;

const report = new Report(`bodies of ${mib(TOTAL)}`);
/** One event, so that the same bytes are the answer of an agent too. */
const block = Buffer.from(`data: ${randomBytes(EVENT_BYTES / 2 - 4).toString('hex')}\n\n`);
// The query sets the pace at which the platform reads and writes.
const platform = createServer(async (incoming, response) => {
  const query = new URL(incoming.url, 'http://platform.example').searchParams;
  await pause(Number(query.get('stall') ?? 0));
  if (query.has('bytes')) {
    const bytes = Number(query.get('bytes'));
    if (incoming.method === 'POST') response.writeHead(200, { 'content-type': 'text/event-stream' });
    else response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
    progress.sent = 0;
    for (const chunk of content(bytes)) {
      progress.sent += chunk.length;
      if (!response.write(chunk)) await once(response, 'drain');
    }
    response.end();
    return;
  }
  const received = await digest(incoming, Infinity);
  response.setHeader('content-type', 'application/json').end(JSON.stringify(received));
});
const origin = await listening(platform);
const progress = { sent: 0, uploaded: 0 };
const site = await startSite(`${origin}/a2a`, { serviceApiUrl: `${origin}/api` });
const expected = new Map();
for (const size of [TOTAL, 2 * TOTAL, 3 * TOTAL]) expected.set(size, (await digest(content(size), Infinity)).sha256);

// Ordinary requests first: code and pools of a site that has served some are not a cost of a large body.
for (let count = 0; count < 300; count += 1) {
  await upload(EVENT_BYTES, Infinity);
  await digest(await download(EVENT_BYTES), Infinity);
  await digest(await chat(EVENT_BYTES), Infinity);
}

const ofUpload = await measured('an upload', async () => arrived(await upload(TOTAL, Infinity)), {
  limit: COLLECTOR_SLACK,
});
await measured('three times as much up', async () => arrived(await upload(3 * TOTAL, Infinity), 3 * TOTAL), {
  beside: ofUpload,
});
const ofDownload = await measured('a download', async () => arrived(await digest(await download(TOTAL), Infinity)), {
  limit: COLLECTOR_SLACK,
});
await measured(
  'three times as much down',
  async () => arrived(await digest(await download(3 * TOTAL), Infinity), 3 * TOTAL),
  { beside: ofDownload },
);
await measured('a slow upload', async () => arrived(await upload(TOTAL, SLOW_BYTES_PER_SECOND)));
await measured('a download to a slow reader', async () =>
  arrived(await digest(await download(TOTAL), SLOW_BYTES_PER_SECOND)),
);
await measured('an upload to a platform that does not read at first', async () => {
  progress.uploaded = 0;
  const answer = upload(3 * TOTAL, Infinity, `?stall=${STALL_MS}`);
  await pause(STALL_MS * 0.9);
  heldBack('the visitor', progress.uploaded);
  arrived(await answer, 3 * TOTAL);
});
await measured('a download that is not read at first', async () => {
  const answer = await download(3 * TOTAL);
  await pause(STALL_MS);
  heldBack('the platform', progress.sent);
  arrived(await digest(answer, Infinity), 3 * TOTAL);
});
await measured(
  'an answer that is not read at first, and then slowly',
  async () => {
    const answer = await chat(2 * TOTAL);
    await pause(STALL_MS);
    heldBack('the agent', progress.sent);
    arrived(await digest(answer, SLOW_BYTES_PER_SECOND), 2 * TOTAL);
  },
  { limit: 24_000_000 },
);
await site.close();
platform.closeAllConnections();
platform.close();
report.finish();

/**
 * Runs one exchange, and compares the site's peak memory with its memory before, or with the peak of the exchange
 * `beside`. Returns the peak.
 */
async function measured(what, exchange, { limit = LIMIT, beside } = {}) {
  report.note(`${what}:`);
  await site.measure();
  await pause(2_000); // gives the system time to reclaim memory that the collector freed
  const before = beside ?? (await site.measure()).rss;
  await site.peakRss();
  const startedAt = performance.now();
  await exchange();
  const seconds = (performance.now() - startedAt) / 1_000;
  const peak = await site.peakRss();
  const growth = peak - before;
  report.check(
    beside === undefined ? '  RSS grew little' : '  RSS was no larger for more',
    growth <= limit,
    `${growth < 0 ? '' : '+'}${mib(growth)} over ${mib(before)}, in ${seconds.toFixed(1)} s`,
  );
  return peak;
}

/** Bytes that left the sender are in buffers of the kernel, which sizes them as it likes, or in the site. */
function heldBack(who, taken) {
  const held = taken - inKernel();
  report.check(`  ${who} is held back`, held < 4 * MIB, `${mib(taken)} taken, ${mib(held)} of them not by the kernel`);
}

/** Bytes in the kernel's buffers for the site and the platform, as Linux reports them; elsewhere the most there may be. */
function inKernel() {
  const ports = [origin, site.url].map((address) => Number(new URL(address).port));
  const portOf = (end) => Number.parseInt(end.split(':')[1], 16);
  try {
    const sockets = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
    return sockets
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, remote]) => ports.includes(portOf(local)) || ports.includes(portOf(remote)))
      .flatMap(([, , , , queues]) => queues.split(':'))
      .reduce((sum, bytes) => sum + Number.parseInt(bytes, 16), 0);
  } catch {
    return 32 * MIB;
  }
}

function arrived({ bytes, sha256 }, size = TOTAL) {
  report.check('  every byte arrived', bytes === size && sha256 === expected.get(size), `${mib(bytes)}, ${sha256}`);
}

/** Sends a body without its length, and returns the platform's account of it. */
async function upload(bytes, bytesPerSecond, query = '') {
  const outgoing = request(`${site.url}/api/service/files/7${query}`, {
    method: 'PUT',
    agent: false,
    headers: { 'content-type': 'application/octet-stream' },
  });
  const answered = once(outgoing, 'response');
  const startedAt = performance.now();
  let sent = 0;
  for (const chunk of content(bytes)) {
    if (!outgoing.write(chunk)) await once(outgoing, 'drain');
    sent += chunk.length;
    progress.uploaded = sent;
    await due(sent, bytesPerSecond, startedAt);
  }
  outgoing.end();
  const [response] = await answered;
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text}`);
  return JSON.parse(text);
}

function download(bytes) {
  return answered(request(`${site.url}/api/service/files/7?bytes=${bytes}`, { agent: false }));
}

/** The answer to a message, of this size. */
function chat(bytes) {
  const headers = { 'content-type': 'application/json', 'content-length': MESSAGE.length };
  const options = { method: 'POST', agent: false, headers };
  return answered(request(`${site.url}/api/a2a?bytes=${bytes}`, options), MESSAGE);
}

async function answered(outgoing, body) {
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  if (response.statusCode !== 200) throw new Error(String(response.statusCode));
  return response;
}

/** The same bytes each time; no two chunks are alike. */
function* content(bytes) {
  for (let at = 0; at < bytes; at += block.length) {
    const chunk = Buffer.from(block.subarray(0, Math.min(block.length, bytes - at)));
    chunk.write(at.toString(16).padStart(8, '0'), 'data: '.length);
    yield chunk;
  }
}

async function digest(body, bytesPerSecond) {
  const hash = createHash('sha256');
  const startedAt = performance.now();
  let bytes = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    bytes += chunk.length;
    await due(bytes, bytesPerSecond, startedAt);
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function due(bytes, bytesPerSecond, startedAt) {
  const early = (bytes / bytesPerSecond) * 1_000 - (performance.now() - startedAt);
  if (early > 20) await pause(early);
}
