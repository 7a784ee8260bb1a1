// node test/slow/hostile-bodies.mjs [pipelines | renders | together | proxy | halves | chunks | streams | readers | versions]: attackers fill the memory of a site with a heap of 384 MB, in every way
// a plain socket can: uploads that stop half-way, uploads in one-byte chunks, streams started by long messages, browsers that never read (streams, or
// cached renders of a megabyte), requests pipelined behind an open stream, and invented protocol versions. The attacks run one by one, then
// all at once. Honest visitors must be served meanwhile, and the site must release everything. `proxy` shows what the same does to a plain proxy of a few lines.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, get, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listening } from '../support/listening.mjs';
import { mib, Report } from './report.mjs';
import { startSite } from './site-process.mjs';

const FILE = fileURLToPath(import.meta.url);
const MIB = 1_048_576;
const LONG = 1_900_000;
/** Message lengths that select what the agent does. */
const FLOOD = 2_000;
const SILENCE = 2_001;
const PIPELINED = 5_000;
const PIPELINES = [30, 100, 300];
const PIPELINE_WAVES = 3;
/** Milliseconds within which a new visitor is answered after such a burst. */
const AFTER_BURST_MS = 2_000;
const RENDERS = 600;
const RENDER = `<p>${'x'.repeat(MIB)}</p>`;
/** Maximum memory of a process with these renders. */
const RENDERS_RSS = 512 * MIB;
const FLOOD_BYTES = 4 * MIB;
const FLOOD_EVERY_MS = 50;
const FLOOD_SECONDS = 15;
const EVENT = `data: ${'x'.repeat(16_000)}\n\n`;
const SECONDS = 4;
const VERSIONS = 20_000;
const MOST_RSS = 450 * MIB;
const RSS_SLACK = 128 * MIB;
const HEAP_SLACK = 8 * MIB;
const SETTLE_MS = 20_000;
const HONEST_EVERY_MS = 100;
const HONEST_WITHIN_MS = 1_000;
const HONEST_PART = 0.99;
/** New processes differ by a quarter in resident memory, so one of each kind is not enough. */
const PAIRS = 3;

async function survey() {
  const report = new Report('hostile bodies');
  const agent = await startAgent();
  const finished = () => {
    agent.close();
    report.finish();
  };
  const all = Object.keys(ATTACKS).filter((attack) => attack !== 'renders');
  const only = process.argv[2];
  if (only === 'proxy') {
    await survived('a plain proxy', report, agent, { server: 'proxy' }, [all]);
    return finished();
  }
  if (only !== 'pipelines' && all.includes(only)) {
    await survived('node:http', report, agent, { server: 'http' }, [[only]]);
    return finished();
  }
  // On the small heap, which waiting requests would fill.
  const pipelines = PIPELINES.map((count) => [`pipelines ${count}`]);
  const small = { heap: 256, parserLimit: '100kb', part: 0.98 };
  for (const server of only === 'together' || only === 'renders' ? [] : ['http', 'koa', 'express'])
    await survived(`${server}, ${small.heap} MB`, report, agent, { ...small, server }, pipelines);
  if (only === 'pipelines') return finished();
  const cached = {
    config: { serviceApiUrl: agent.url },
    cache: { enabled: true, freshMs: 600_000, maxEntryBytes: 2 * MIB },
    mostRss: RENDERS_RSS,
  };
  if (only !== 'together')
    await survived('cached renders', report, agent, { ...cached, heap: 512, server: 'http' }, [
      ['renders 1'],
      ['renders 16'],
    ]);
  if (only === 'renders') return finished();
  const alone = only === 'together' ? [] : all.map((attack) => [attack]);
  await survived('node:http', report, agent, { server: 'http' }, [...alone, all]);
  // A parser in front reads one-byte chunks itself; the routes never see them.
  const others = all.filter((attack) => attack !== 'chunks');
  const bodies = ['halves', 'streams'];
  const parserLimit = '100kb';
  if (only === 'together') {
    await survived('behind express.json()', report, agent, { parserLimit: '100kb' }, [others]);
    return finished();
  }
  const behind = [];
  const parser = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const sets = pair === 0 ? [bodies, others] : [bodies];
    behind.push(await survived('behind express.json()', report, agent, { parserLimit }, sets));
    parser.push(await survived('express.json() alone', report, agent, { server: 'parser', parserLimit }, [bodies]));
  }
  // A site that has loaded the package starts with about 15 MiB more, which is no cost of an attack.
  const both = (figure) => [behind, parser].map((runs) => median(runs.map((run) => run[figure])));
  const words = (figures) => `${figures.map(mib).join(' beside ')}, medians of ${PAIRS}`;
  report.note(`peak memory behind express.json() beside the parser alone: ${words(both('peak'))}`);
  const growth = both('growth');
  report.check('memory that the attack adds, beside the parser alone', growth[0] <= 1.1 * growth[1], words(growth));
  finished();
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** Runs one set of attacks after another against one site, and reports the cost; returns the first peak, and what it is above the start. */
async function survived(
  name,
  report,
  agent,
  { heap = 384, part = HONEST_PART, config = {}, mostRss = MOST_RSS, ...kind },
  sets,
) {
  const site = await startSite(agent.url, config, { ...kind, flags: [`--max-old-space-size=${heap}`] });
  const honest = [
    new HonestVisitor('an honest visitor', site.url, new Agent({ keepAlive: true })),
    new HonestVisitor('one with a new connection each time', site.url, false),
  ];
  for (let count = 0; count < 200; count += 1) await honest[0].chat();
  await stage('streams', site.url); // Code and pools of a site that has served requests are not a cost of an attack.
  const before = await site.settled(Infinity, SETTLE_MS);
  await site.peakRss();
  const peaks = [];
  for (const attacks of sets) {
    const cards = await agent.cards();
    for (const visitor of honest) visitor.start();
    const startedAt = performance.now();
    await Promise.all(attacks.map((attack) => stage(attack, site.url)));
    const seconds = (performance.now() - startedAt) / 1_000;
    const calls = (await agent.cards()) - cards;
    const what = attacks.join(', ');
    const peak = await site.peakRss();
    peaks.push(peak);
    report.check(`${name}, ${what}, peak memory`, peak < mostRss, `${mib(peak)} in ${seconds.toFixed(1)} s`);
    for (const visitor of honest) {
      const { tries, answered, served, slowest } = await visitor.stop();
      // Node takes one new connection in each turn of its event loop. All attacks at once keep a core busy with a few dozen turns in a
      // second, so connections wait in the system's queue, and only those that are open can be answered in time.
      // So they do while 600 connections send sixteen requests each.
      const isBurst = attacks.some((attack) => attack.startsWith('pipelines '));
      const isCrowded = attacks.length > 2 || attacks.includes('renders 16');
      const counts = isBurst || (isCrowded && visitor.isNew) ? answered : served;
      report.check(
        `${name}, ${what}, ${visitor.name}`,
        counts >= tries * part,
        `${answered} of ${tries} answered, ${served} within ${HONEST_WITHIN_MS} ms, slowest ${slowest.toFixed(0)} ms`,
      );
    }
    const after = performance.now();
    await honest[1].chat();
    const afterMs = performance.now() - after;
    report.check(`${name}, ${what}, a visitor after it`, afterMs <= AFTER_BURST_MS, `${afterMs.toFixed(0)} ms`);
    if (!attacks.includes('versions')) continue;
    // Once a second, and once a minute for each published version; the first discovery requests two addresses.
    report.check(`${name}, ${what}, calls for cards`, calls <= seconds + 5, `${calls} for ${VERSIONS} versions`);
  }
  const after = await site.settled(before.descriptors, SETTLE_MS);
  const held = ({ heapUsed, external }) => heapUsed + external;
  report.check(
    `${name}, buffers and heap returned`,
    held(after) <= held(before) + HEAP_SLACK,
    `${mib(held(before))} before, ${mib(held(after))} after`,
  );
  report.check(
    `${name}, resident memory returned`,
    after.rss <= before.rss + RSS_SLACK,
    `${mib(before.rss)} before, ${mib(after.rss)} after`,
  );
  report.descriptors(`${name}, descriptors returned`, [before, after]);
  await site.close();
  return { peak: peaks[0], growth: peaks[0] - before.rss };
}

/** Starts the agent in its own process: its streams must not delay the honest visitors of this one. */
async function startAgent() {
  const child = fork(FILE, ['agent']);
  const [url] = await once(child, 'message');
  return {
    url,
    cards: async () => {
      child.send('cards');
      return (await once(child, 'message'))[0];
    },
    close: () => child.kill(),
  };
}

/** Streams endlessly after a long message, and a flood after a message of an agreed length; counts requests for its card. */
async function serveAgent() {
  let cards = 0;
  const server = createServer((incoming, response) => {
    if (incoming.method === 'GET') {
      cards += 1;
      const card = { name: 'Agent', url: 'http://agent.example/a2a', description: 'x'.repeat(10_000) };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(card));
      return;
    }
    const length = Number(incoming.headers['content-length']);
    incoming.resume();
    if (incoming.url.endsWith('/render')) {
      response.setHeader('content-type', 'text/html').end(RENDER);
      return;
    }
    incoming.on('end', () => {
      if (length === FLOOD) flood(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      else if (length > MIB || length === SILENCE)
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 0\n\n');
      else response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{}}');
    });
  });
  const url = await listening(server, 1024);
  process.on('message', () => process.send(cards));
  process.on('disconnect', () => process.exit(0));
  process.send(`${url}/a2a`);
}

/** Sixteen times what a quick model writes, until the buffers of the system are full too. */
function flood(response) {
  let left = FLOOD_BYTES;
  const timer = setInterval(() => {
    if (response.writableNeedDrain) return;
    response.write(EVENT);
    left -= EVENT.length;
    if (left <= 0) clearInterval(timer);
  }, FLOOD_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

/** Sends a message of a kilobyte repeatedly, over one connection or a new one each time, and counts the responses in time. */
class HonestVisitor {
  name;
  #url;
  #agent;
  #tries = [];
  #timer;

  constructor(name, url, agent) {
    Object.assign(this, { name, isNew: agent === false });
    this.#url = url;
    this.#agent = agent;
  }

  start() {
    let last;
    this.#timer = setInterval(() => {
      // Sequential on a single connection.
      last = this.#agent === false ? this.#try() : Promise.resolve(last).then(() => this.#try());
      this.#tries.push(last);
    }, HONEST_EVERY_MS);
  }

  async stop() {
    clearInterval(this.#timer);
    const times = await Promise.all(this.#tries.splice(0));
    const count = (mostMs) => times.filter((ms) => ms <= mostMs).length;
    const answered = count(Number.MAX_VALUE);
    return { tries: times.length, answered, served: count(HONEST_WITHIN_MS), slowest: Math.max(...times) };
  }

  async #try() {
    const startedAt = performance.now();
    const status = await this.chat().catch(() => 0);
    return status === 200 ? performance.now() - startedAt : Infinity;
  }

  async chat() {
    const body = message(1_000);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const outgoing = request(`${this.#url}/api/a2a`, { method: 'POST', agent: this.#agent, headers });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    for await (const _ of response) void _;
    return response.statusCode;
  }
}

function message(bytes) {
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendStreamingMessage',
    params: { message: { text: '' } },
  });
  return text.replace('"text":""', () => `"text":"${'x'.repeat(bytes - text.length)}"`);
}

/** Runs one attack in its own process, which closes its connections when it exits. */
async function stage(attack, url) {
  const [code] = await once(fork(FILE, [attack, url]), 'exit');
  if (code !== 0) throw new Error(`the attack "${attack}" failed`);
}

const ATTACKS = {
  halves: async (url) => {
    const part = Buffer.from(message(LONG));
    const sockets = Array.from({ length: 300 }, () => post(url, `content-length: ${LONG + 100_000}`));
    for (const socket of sockets) socket.write(part);
    await pause(SECONDS * 1_000);
  },
  chunks: async (url) => {
    const piece = Buffer.from('1\r\nx\r\n'.repeat(10_000));
    for (let count = 0; count < 50; count += 1) {
      const socket = post(url, 'transfer-encoding: chunked');
      const more = () => {
        if (socket.writable) socket.write(piece, more);
      };
      more();
    }
    await pause(SECONDS * 1_000);
  },
  streams: async (url) => {
    const long = message(LONG);
    for (let opened = 0; opened < 200; opened += 20) {
      const replies = Array.from({ length: 20 }, () => {
        const socket = post(url, `content-length: ${LONG}`);
        socket.write(long);
        return Promise.race([once(socket, 'data'), once(socket, 'close')]);
      });
      await Promise.race([Promise.all(replies), pause(SECONDS * 1_000)]);
    }
    await pause(1_000);
  },
  readers: async (url) => {
    for (let count = 0; count < 500; count += 1) {
      const socket = post(url, `content-length: ${FLOOD}`);
      socket.pause();
      socket.write(message(FLOOD));
    }
    await pause(FLOOD_SECONDS * 1_000);
  },
  pipelines: async (url, count = 100) => {
    const gets = 'GET /api/a2a/config HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(PIPELINED);
    for (let wave = 0; wave < PIPELINE_WAVES; wave += 1) {
      for (let opened = 0; opened < count; opened += 1) {
        const socket = post(url, `content-length: ${SILENCE}`);
        socket.write(message(SILENCE));
        socket.once('data', () => socket.write(gets));
      }
      await pause(SECONDS * 1_000);
    }
  },
  renders: async (url, deep) => {
    const outcome = async () =>
      (await fetch(new URL('/api/service-surfaces/clock/render', url), { method: 'POST' })).headers.get('x-cache');
    await outcome();
    if ((await outcome()) !== 'HIT') throw new Error('the renders are not cached');
    const render = 'POST /api/service-surfaces/clock/render HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n';
    for (let count = 0; count < RENDERS; count += 1) {
      const socket = connect(Number(url.port), url.hostname).on('error', () => undefined);
      socket.pause();
      socket.write(render.repeat(deep));
    }
    await pause(FLOOD_SECONDS * 1_000);
  },
  versions: async (url) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    let asked = 0;
    const visitors = Array.from({ length: 16 }, async () => {
      while (asked < VERSIONS) {
        asked += 1;
        const [response] = await once(
          get(new URL(`/api/a2a/config?A2A-Version=${Math.random()}`, url), { agent }),
          'response',
        );
        response.resume();
        await once(response, 'end');
      }
    });
    await Promise.all(visitors);
  },
};

function post({ hostname, port }, framing) {
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(
    `POST /api/a2a HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`,
  );
  return socket;
}

async function attack(given, url) {
  const [name, count] = given.split(' ');
  await ATTACKS[name](url, count && Number(count));
  process.exit(0);
}

if (process.argv[3] === undefined && process.argv[2] !== 'agent') await survey();
else if (process.argv[2] === 'agent') await serveAgent();
else await attack(process.argv[2], new URL(process.argv[3]));
