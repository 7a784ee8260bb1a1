// node test/slow/silent-stream.mjs: an agent is silent for 310 seconds, longer than any default limit of Node's clients (300 s),
// and then continues. No visitor may lose the stream, with or without comments in the silence.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { listening } from '../support/listening.mjs';
import { Report } from './report.mjs';
import { MESSAGE, startSite } from './site-process.mjs';

const SECONDS = Number(process.env.SECONDS ?? 310);
const KEEP_ALIVE_SECONDS = 15;
const KEEP_ALIVE = ': keep-alive\n\n';
const FIRST = 'id: 1\r\ndata: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","text":"grüezi €"}}\r\n\r\n';
const LAST = 'event: message\nid: 2\ndata: {"jsonrpc":"2.0",\ndata: "id":1,"result":{}}\n\n';

/** Fewest and most comments that visitors may get in each case. */
const CASES = [
  { name: 'comments by default', config: {}, fewest: Math.floor(SECONDS / KEEP_ALIVE_SECONDS) - 1 },
  { name: 'keepAliveMs: 0', config: { keepAliveMs: 0 }, fewest: 0, most: 0 },
];
/** Points at which the agent falls silent; the query selects one. */
const SILENCES = { 'after an event': FIRST, 'before the first event': '' };

const report = new Report(`streams silent for ${SECONDS} s`);
const agent = createServer(async (incoming, response) => {
  incoming.resume();
  const first = incoming.url.includes('speak=first') ? FIRST : '';
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  if (first !== '') response.write(first);
  await pause(SECONDS * 1_000);
  response.end(LAST);
});
const origin = await listening(agent);

const visits = CASES.flatMap((promise) => Object.entries(SILENCES).map((silence) => visit(promise, silence)));
for (const { name, seen, text, complete, seconds, expected, fewest, most = Infinity } of await Promise.all(visits)) {
  report.check(`${name}: the stream survived`, complete && seconds >= SECONDS, `${seconds.toFixed(1)} s`);
  report.check(`${name}: the event after it is the agent's, byte for byte`, text === expected, JSON.stringify(text));
  report.check(`${name}: comments in the silence`, seen >= fewest && seen <= most, String(seen));
}
agent.closeAllConnections();
agent.close();
report.finish();

/** Waits through one silence at a new site. */
async function visit({ config, name, ...limits }, [silence, first]) {
  const site = await startSite(`${origin}/a2a`, config);
  const outgoing = request(`${site.url}/api/a2a${first === '' ? '' : '?speak=first'}`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': MESSAGE.length },
  });
  outgoing.end(MESSAGE);
  const startedAt = performance.now();
  let received = '';
  let complete = false;
  try {
    const [response] = await once(outgoing, 'response');
    for await (const chunk of response.setEncoding('utf8')) received += chunk;
    complete = response.complete;
  } catch (error) {
    received += `[${error.message}]`;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await site.close();
  const pieces = received.split(KEEP_ALIVE);
  const told = { seen: pieces.length - 1, text: pieces.join(''), expected: first + LAST, complete, seconds };
  return { name: `${name}, ${silence}`, ...told, ...limits };
}
