// node test/slow/waiting-messages.mjs: messages of 2 MB wait for a silent agent, and tasks of 3.9 MB are read for their context, on a heap of
// 384 MB. The most expensive values must not end the process, and must not keep others waiting.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { listening } from '../support/listening.mjs';
import { mib, Report } from './report.mjs';
import { startSite } from './site-process.mjs';

const flags = ['--max-old-space-size=384'];
const MESSAGES = 60;
const TASKS = 50;
const numbered = (count, make) => Array.from({ length: count }, (_, at) => make(at)).join(',');
const rpc = (method, params) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
const send = (content) => rpc('message/send', `{"message":{"role":"user","parts":[],"metadata":{"x":[${content}]}}}`);
const padded = (content, bytes) => `${content},"${'x'.repeat(bytes - content.length)}"`;
/** Values that cost most, each up to the limit of 20,000, and far beyond it. */
const CONTENTS = {
  'empty objects': (bytes) => numbered(bytes / 3, () => '{}'),
  'empty objects up to the limit': (bytes) =>
    padded(
      numbered(9_900, () => '{}'),
      bytes,
    ),
  'objects of a member up to the limit': (bytes) =>
    padded(
      numbered(9_900, (at) => `{"k${at}":0.10}`),
      bytes,
    ),
};

const report = new Report('messages that wait');
let task = '{}';
const agent = createServer((incoming, response) => {
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    // A message has no response.
    if (!text.includes('"GetTask"')) return;
    response.setHeader('content-type', 'application/json').end(task);
  });
});
const origin = await listening(agent);

async function post({ url }, body) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const outgoing = request(`${url}/api/a2a`, { method: 'POST', headers }).on('error', () => undefined);
  outgoing.end(body);
  const responded = once(outgoing, 'response').then(([response]) => {
    response.resume();
    return response.statusCode;
  });
  return { outgoing, status: Promise.race([responded, pause(3_000).then(() => 'waits')]).catch(() => 'cut') };
}

async function attack(name, config, bodies) {
  const site = await startSite(`${origin}/a2a`, config, { server: 'http', flags });
  await (
    await post(site, rpc('tasks/get', '{"id":"t"}'))
  ).status;
  await site.work();
  const sent = [];
  for (const body of bodies) sent.push(await post(site, body));
  const statuses = await Promise.all(sent.map(({ status }) => status));
  const { stallMs } = await site.work();
  const { rss, heapUsed } = await site.measure();
  for (const { outgoing } of sent) outgoing.destroy();
  const counts = [...new Set(statuses)].map((one) => `${statuses.filter((status) => status === one).length} × ${one}`);
  const figures = `${counts.join(', ')}; heap ${mib(heapUsed)}, resident ${mib(rss)}, longest stall ${stallMs.toFixed(0)} ms`;
  report.check(name, rss > 0, figures);
  await site.close();
}

for (const conversations of ['open', 'visitor']) {
  for (const [name, content] of Object.entries(CONTENTS)) {
    const body = send(content(1_900_000));
    await attack(
      `${MESSAGES} messages of 2 MB of ${name}, ${conversations}`,
      { conversations },
      Array(MESSAGES).fill(body),
    );
  }
}
for (const [name, content] of Object.entries(CONTENTS)) {
  task = `{"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","history":[${content(3_900_000)}]}}`;
  const body = rpc('GetTask', '{"id":"t"}');
  await attack(`${TASKS} tasks of 3.9 MB of ${name}`, { conversations: 'visitor' }, Array(TASKS).fill(body));
}
agent.closeAllConnections();
agent.close();
report.finish();
