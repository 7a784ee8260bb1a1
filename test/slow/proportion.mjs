// node test/slow/proportion.mjs [--table] [WORD …]: hostile inputs on every route with every cache on, once and four times as long.
// Twice the input may cost at most 2.5 times the CPU: the square root of the cost of four times, since two doublings average out a garbage
// collection. No body may block the event loop for 50 ms, and no widget input may cost more with cached renders than without.
// --table prints the figures as docs/security.md has them; words select inputs by route and name.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { listening } from '../support/listening.mjs';
import { Report } from './report.mjs';
import { startSite } from './site-process.mjs';

const MOST_GROWTH = 2.5;
const MOST_STALL_MS = 50;
/** Maximum cost of a render with the cache on, relative to its cost without. The store's part is the same for every input. */
const MOST_CACHED = 1.25;
const STORE_MS = 1;
/** Below this, the measurement shows the request and not its input. */
const LEAST_MS = 4;
const ROUNDS = 7;

const BODY = { size: 500_000, times: 1 };
const FIELD = { size: 3_500, times: 30 };
const CHAT = '/api/a2a';
const RENDER = '/api/service-surfaces/s/render';
/** Routes with a body, by the kind of body. */
const ROUTES = {
  'chat body': CHAT,
  'HTTP+JSON body': `${CHAT}/message:send`,
  'widget input': RENDER,
  'widget input by name': '/api/service-surfaces/by-name/s/render',
  'action input': '/api/service-surfaces/s/actions/save',
  record: '/api/service/conversations',
};
const SEND = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":';

const fill = (unit, size) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
const numbered = (size, make) => {
  const parts = [];
  for (let length = 0, index = 0; length < size; index += 1) {
    parts.push(make(index));
    length += parts.at(-1).length + 1;
  }
  return parts.join(',');
};

/** Bodies by their content; each is sent to each route. */
const BODIES = {
  'empty objects': (size) => `{"x":[${numbered(size, () => '{}')}]}`,
  'empty lists': (size) => `[${numbered(size, () => '[]')}]`,
  'short names': (size) => `{${numbered(size, (index) => `"${index.toString(36)}":0`)}}`,
  'objects in a list': (size) => `[${numbered(size, () => '{"a":1}')}]`,
  'objects in an object': (size) => `{${numbered(size, (index) => `"${index.toString(36)}":{}`)}}`,
  'lists of 900 levels': (size) => `[${numbered(size, () => '['.repeat(900) + ']'.repeat(900))}]`,
  'objects of 900 levels': (size) => `[${numbered(size, () => `${'{"":'.repeat(900)}0${'}'.repeat(900)}`)}]`,
  'short texts': (size) => `[${numbered(size, () => '"a"')}]`,
  'spaces between numbers': (size) => `[${numbered(size, () => ' 1 ')}]`,
  exponents: (size) => `[${numbered(size, () => '1e9')}]`,
  'opening brackets': (size) => fill('[', size),
  'opening objects': (size) => fill('{"a":', size),
  'closed lists in a list': (size) => `[${fill('[],', size - 3)}[]]`.replace(/\[?,*\[\]\]$/, '0]'),
  'one text': (size) => `"${fill('x', size)}"`,
  backslashes: (size) => `"${fill('\\\\', size)}"`,
  escapes: (size) => `"${fill('\\u0041', size - (size % 6))}"`,
  'quotes that do not end': (size) => `{"a":"${fill('\\"', size)}`,
  digits: (size) => fill('1', size),
  spaces: (size) => `${fill(' ', size)}{}`,
  'three-byte characters': (size) => `"${fill('漢', Math.floor(size / 3))}"`,
  members: (size) => `{${numbered(size, (index) => `"k${index}":0`)}}`,
  'members of the message': (size) => `${SEND}{"message":{${numbered(size, (index) => `"k${index}":0`)}}}}`,
  'a name': (size) => `{"${fill('n', size)}":0}`,
  'a name of invisible characters': (size) => `{"${fill('\u200B', Math.floor(size / 3))}":0}`,
  'names of accents': (size) => `${SEND}{${numbered(Math.floor(size / 2), (index) => `"\u0301\u0327${index}":0`)}}}`,
  'one member again and again': (size) => `${SEND}{${numbered(size, () => '"message":{}')}}}`,
  'numbers in a list': (size) => `[${numbered(size, () => '1')}]`,
  // Within the limit of values.
  'long numbers that keep their text': (size) => `[${numbered(size, () => `1.${'0'.repeat(110)}`)}]`,
  'members with numbers that keep their text': (size) =>
    `${SEND}{"message":{"metadata":{${numbered(size, (index) => `"${String(index).padStart(100, 'n')}":1.50`)}}}}}`,
  'members with blanks': (size) =>
    `${SEND}{"message":{"metadata":{${numbered(size, (index) => `"${String(index).padStart(100, 'n')}": 1`)}}}}}`,
};

/** Header fields of a browser. */
const FIELDS = {
  'content-type': (size) => `application/json${fill(' ', size)};x`,
  'content-type parameters': (size) => ['content-type', `application/json${fill(';charset', size)}`],
  'content-type slashes': (size) => ['content-type', fill('a/', size)],
  cookie: (size) => fill('a=b; ', size),
  'cookie quotes': (size) => ['cookie', `a=${fill('"', size)}`],
  connection: (size) => `close, ${fill('a, ', size)}`,
  origin: (size) => `https://${fill('a.', size)}`,
  'origin digits': (size) => ['origin', `https://a:${fill('1', size)}`],
  'origin colons': (size) => ['origin', `https://${fill(':', size)}`],
  'sec-fetch-site': (size) => fill('same-origin,', size),
  'a2a-version': (size) => fill('1.', size),
  accept: (size) => fill('text/html;q=0.1,', size),
  'if-none-match': (size) => fill('W/"",', size),
  traceparent: (size) => fill('0-', size),
  authorization: (size) => `Bearer ${fill(' ', size)}x`,
  'x-forwarded-for': (size) => fill('::1, ', size),
};

/** Paths and queries. */
const PATHS = {
  'slashes below the chat': (size) => `${CHAT}${fill('/', size)}x`,
  'dots below the records': (size) => `/api/service/${fill('../', size)}x`,
  'escapes below the records': (size) => `/api/service/${fill('%252e', size - (size % 5))}`,
  'segments below the records': (size) => `/api/service/${fill('a/', size)}`,
  'a name of a widget': (size) => `/api/service-surfaces/by-name/${fill('a', size)}/render`,
  'slashes below the widgets': (size) => `/api/service-surfaces${fill('/', size)}render`,
  'a query': (size) => `${CHAT}/config?${fill('a=b&', size)}`,
  'versions in a query': (size) => `${CHAT}/config?${fill('A2A-Version=1&', size)}`,
};

/** Header fields of the platform. */
const UPSTREAM = {
  'content-type': (size) => `text/css${fill(' ', size)}x`,
  'content-type parameters': (size) => ['content-type', `text/css${fill(';charset=', size)}`],
  'content-encoding': (size) => fill('gzip,', size),
  'cache-control': (size) => fill('max-age=1,', size),
  'retry-after': (size) => `${fill(' ', size)}x`,
  etag: (size) => `W/"${fill('"', size)}`,
  vary: (size) => fill('a,', size),
  date: (size) => fill('Mon, ', size),
};

const answers = new Map();
/** The platform's response to every other request: a card with both bindings, which is accepted for anything else too. */
const card = (origin) =>
  JSON.stringify({
    name: 'Agent',
    url: `${origin}/a2a`,
    supportedInterfaces: [{ url: `${origin}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
  });
const fine = (text) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`;
const platform = createServer((incoming) => {
  // Bypasses Node's own response, which would refuse to send what a hostile platform sends.
  incoming
    .resume()
    .on('end', () => incoming.socket.end(answers.get(incoming.headers['idempotency-key']) ?? fine(card(upstream))));
});
const upstream = await listening(platform);
const config = { serviceApiUrl: `${upstream}/api`, bindings: ['JSONRPC', 'HTTP+JSON'] };
const site = await startSite(`${upstream}/a2a`, config, { server: 'http', cache: { enabled: true } });

/** Sends one request on a new connection, and reads its response to the end. */
async function send(message, to = site) {
  const { hostname, port } = new URL(to.url);
  const socket = new Socket();
  socket.on('error', () => undefined);
  socket.connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.resume();
  socket.write(message);
  await once(socket, 'close');
}

function request({ method = 'POST', target = CHAT, fields = {}, body = SEND + '{}}' }) {
  const bytes = method === 'POST' ? Buffer.from(body) : Buffer.alloc(0);
  const all = {
    host: new URL(site.url).host,
    'content-type': 'application/json',
    'content-length': bytes.length,
    connection: 'close',
    ...fields,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}

/** A request with this body, different each time so that it is in no cache. */
function posts(target, body) {
  const bytes = Buffer.from(body);
  let count = 0;
  return () => {
    count += 1;
    return request({ target: `${target}?n=${process.pid}-${count}-${bytes.length}`, body: bytes });
  };
}

const field = (name, value) => (Array.isArray(value) ? { [value[0]]: value[1] } : { [name]: value });

/** Every input, with its request by size. */
const INPUTS = [
  ...Object.entries(BODIES).flatMap(([name, make]) =>
    Object.entries(ROUTES).map(([kind, target]) => ({
      ...BODY,
      kind,
      name,
      make: (size) => posts(target, make(size)),
    })),
  ),
  ...Object.entries(FIELDS).map(([name, make]) => ({
    ...FIELD,
    kind: 'request field',
    name,
    make: (size) => request({ fields: field(name, make(size)) }),
  })),
  ...Object.entries(PATHS).map(([name, make]) => ({
    ...FIELD,
    kind: 'path',
    name,
    make: (size) => request({ method: 'GET', target: make(size) }),
  })),
  ...Object.entries(UPSTREAM).flatMap(([name, make]) =>
    ['/api/service-surfaces/s/theme.css', '/api/service/x'].map((target, index) => ({
      ...FIELD,
      kind: index === 0 ? 'field of a theme' : 'field of a record',
      name,
      make: (size) => {
        const key = `${index}-${name.replaceAll(' ', '-')}-${size}`;
        const [[header, value]] = Object.entries(field(name, make(size)));
        answers.set(key, `HTTP/1.1 200 OK\r\n${header}: ${value}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`);
        return request({ method: 'GET', target, fields: { 'idempotency-key': key } });
      },
    })),
  ),
];

/** Responses of the platform, of the maximum length that is searched for the names of a surface. */
const REPLY = { size: 250_000, times: 1 };
INPUTS.push(
  ...[
    'empty objects',
    'short names',
    'objects in a list',
    'lists of 900 levels',
    'numbers in a list',
    'escapes',
  ].flatMap((name) =>
    Object.entries({ render: RENDER, action: ROUTES['action input'] }).map(([what, target], index) => ({
      ...REPLY,
      kind: `reply to ${index === 0 ? 'a' : 'an'} ${what}`,
      name,
      make: (size) => {
        const key = `reply-${index}-${name.replaceAll(' ', '-')}-${size}`;
        answers.set(key, fine(`{"content":${BODIES[name](size - 50)},"surface":{"id":"s","name":"s"}}`));
        let count = 0;
        return () => {
          count += 1;
          return request({ target: `${target}?n=${size}-${count}`, fields: { 'idempotency-key': key }, body: '{}' });
        };
      },
    })),
  ),
);

/** A site whose conversations belong to their visitors, which reads ids and metadata. */
const bound = await startSite(`${upstream}/a2a`, { ...config, conversations: 'visitor' }, { server: 'http' });
INPUTS.push(
  ...[
    'empty objects',
    'short names',
    'one text',
    'escapes',
    'a name of invisible characters',
    'long numbers that keep their text',
  ].flatMap((name) =>
    ['contextId', 'taskId', 'referenceTaskIds', 'metadata'].map((member) => ({
      ...BODY,
      kind: `${member} of a visitor`,
      name,
      to: bound,
      make: (size) => request({ body: `${SEND}{"message":{"${member}":${BODIES[name](size)}}}}` }),
    })),
  ),
);

async function cost(message, times, to = site) {
  const next = typeof message === 'function' ? message : () => message;
  let cpuMs = Infinity;
  const stalls = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const messages = Array.from({ length: times }, next);
    await to.work();
    for (const one of messages) await send(one, to);
    const work = await to.work();
    cpuMs = Math.min(cpuMs, work.cpuMs);
    stalls.push(work.stallMs);
  }
  // The monitor of the event loop misses some stalls; the middle one is reliable.
  return { cpuMs, stallMs: stalls.sort((a, b) => a - b)[Math.ceil(ROUNDS / 2)] };
}

const asTable = process.argv.includes('--table');
const words = process.argv.slice(2).filter((word) => word !== '--table');
const isChosen = ({ kind, name }) => words.length === 0 || words.some((word) => `${kind}: ${name}`.includes(word));
const report = new Report('work in proportion to hostile input');
for (let count = 0; count < 300; count += 1) await send(request({}));
for (let count = 0; count < 300; count += 1)
  await send(request({ body: `${SEND}{"message":{"role":"user"}}}` }), bound);
if (asTable)
  process.stdout.write(
    '| Input | Bytes | CPU, ms | Twice as long | CPU of 4 × the bytes, ms | Its longest stall, ms |\n| --- | --- | --- | --- | --- | --- |\n',
  );
for (const { kind, name, make, size, times, to } of INPUTS.filter(isChosen)) {
  const once_ = await cost(make(size), times, to);
  const long = await cost(make(size * 4), times, to);
  const growth = Math.sqrt(long.cpuMs / once_.cpuMs);
  const isBody = times === 1;
  const kept =
    (growth <= MOST_GROWTH || long.cpuMs / times < LEAST_MS / times) && (!isBody || long.stallMs < MOST_STALL_MS);
  const each = (ms) => (ms / times).toFixed(2);
  if (asTable) {
    const stall = isBody ? long.stallMs.toFixed(0) : '';
    process.stdout.write(
      `| ${kind}: ${name} | ${size} | ${each(once_.cpuMs)} | ${growth.toFixed(1)} × | ${each(long.cpuMs)} | ${stall} |\n`,
    );
  }
  report.check(
    `${kind}: ${name}`,
    kept,
    `${each(once_.cpuMs)} ms, twice as long ${growth.toFixed(2)} times, stall ${long.stallMs.toFixed(0)} ms`,
  );
}

// Two processes with the same history. One that has seen every input above costs more because of its compiled code.
const sites = [];
for (const cache of [{ enabled: false }, { enabled: true }]) {
  const one = await startSite(`${upstream}/a2a`, config, { server: 'http', cache });
  sites.push(one);
  for (let count = 0; count < 300; count += 1) await send(request({ target: RENDER }), one);
}
if (asTable)
  process.stdout.write(
    '\n| Widget input | Bytes | Renders not kept: CPU, ms | Renders kept: CPU, ms |\n| --- | --- | --- | --- |\n',
  );
for (const [name, make] of Object.entries(BODIES).filter(([one]) =>
  isChosen({ kind: 'cache on and off', name: one }),
)) {
  for (const [size, times] of [
    [300, 100],
    [2_000, 100],
    [64_000, 10],
    [2_000_000, 1],
  ]) {
    const message = posts(RENDER, make(size));
    const costs = [];
    for (const one of sites) costs.push(await cost(message, times, one));
    const [off, on] = costs.map(({ cpuMs }) => cpuMs / times);
    if (asTable) process.stdout.write(`| ${name} | ${size} | ${off.toFixed(2)} | ${on.toFixed(2)} |\n`);
    report.check(
      `cache on and off: ${name}, ${size} bytes`,
      on <= off * MOST_CACHED + STORE_MS,
      `${on.toFixed(2)} ms on, ${off.toFixed(2)} ms off`,
    );
  }
}
for (const one of [...sites, bound, site]) await one.close();
platform.close();
report.finish();
