// node test/slow/slow-reader.mjs: a visitor reads an answer of 200 MB slowly, and the site must not hold more than 32 MB for it.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { mib, Report } from './report.mjs';
import { startSite } from './site-process.mjs';

const MIB = 1_048_576;
const TOTAL = 200 * MIB;
const LIMIT = 32 * MIB;
const STALL_MS = 5_000;
const BYTES_PER_SECOND = 10 * MIB;
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: {} });

const report = new Report(`a slow reader of ${mib(TOTAL)}`);
let written = 0;
const agent = createServer((incoming, response) => {
  incoming.resume();
  if (incoming.headers['a2a-version'] !== 'flood') {
    response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{}}');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = Buffer.from(`data: ${'x'.repeat(65_536 - 8)}\n\n`);
  const flood = () => {
    while (written < TOTAL) {
      written += event.length;
      if (!response.write(event)) return void response.once('drain', flood);
    }
    response.end();
  };
  flood();
}).listen(0, '127.0.0.1');
await once(agent, 'listening');
const site = await startSite(`http://127.0.0.1:${agent.address().port}/a2a`);

// Ordinary chats first: code and pools that any visitor loads are not part of the cost of a slow reader.
for (let count = 0; count < 500; count += 1) for await (const _ of await chat()) void _;
await site.measure();
await pause(3_000); // for the system to take back what the collector gave up
const before = (await site.measure()).rss;
await site.peakRss();

const answer = await chat({ 'a2a-version': 'flood' });
await pause(STALL_MS);
const taken = written;
const stalled = await site.peakRss();

const startedAt = performance.now();
let received = 0;
for await (const chunk of answer) {
  received += chunk.length;
  const due = (received / BYTES_PER_SECOND) * 1_000 - (performance.now() - startedAt);
  if (due > 20) await pause(due);
}
const seconds = (performance.now() - startedAt) / 1_000;
const reading = await site.peakRss();
await site.close();
agent.closeAllConnections();
agent.close();

report.note(`RSS before: ${mib(before)}`);
report.check(
  'the agent was held back while nobody read',
  taken < LIMIT,
  `${mib(taken)} taken of ${mib(TOTAL)} in ${STALL_MS / 1_000} s`,
);
report.check('RSS grew little while nobody read', stalled - before <= LIMIT, `${signed(stalled - before)}`);
report.check(
  'RSS grew little while somebody read slowly',
  reading - before <= LIMIT,
  `${signed(reading - before)} at most, in ${seconds.toFixed(1)} s`,
);
report.check('the answer arrived whole', received === TOTAL && answer.complete, mib(received));
report.finish();

function signed(bytes) {
  return `${bytes < 0 ? '' : '+'}${mib(bytes)}`;
}

async function chat(headers = {}) {
  const outgoing = request(`${site.url}/api/a2a`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': BODY.length, ...headers },
  });
  outgoing.end(BODY);
  const [response] = await once(outgoing, 'response');
  return response;
}
