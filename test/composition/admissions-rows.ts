import { noRoute, unusable } from '../../src/composition/routes/unconfigured-responses.js';
import { ServiceAuthError } from '../../src/domain/shared/errors.js';
import type { HttpHandler, HttpResponse, UpstreamOutcome } from '../../src/ports/http.js';
import { serviceSurfaceRoute } from '../support/toolkit-routes.js';
import {
  admitted,
  allProducts,
  chat,
  NEW_MESSAGE,
  NEW_SEND,
  OLD_MESSAGE,
  OLD_SEND,
  RECORDS,
  type Route,
  rpc,
  type Section,
  SURFACES,
  VISITOR,
} from './admissions-products.js';
import { AdmissionsWorld, type Ask, events, type Glossary, pieces, type Setting } from './admissions-world.js';

/** One request of a list: its name, the request, and what differs at the site. */
type Row = readonly [
  name: string,
  ask: Ask,
  setting?: Partial<Setting> & { readonly answer?: AdmissionsWorld['platform']['answer'] },
];

function list(glossary: Glossary, title: string, setting: Setting, rows: readonly Row[]): Section {
  const lines = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const [name, ask, { answer, ...changes } = {}] of rows) {
      const world = new AdmissionsWorld(glossary, { limit: admitted, ...setting, ...changes });
      world.platform.answer = answer;
      found.push(`${name.padEnd(56)} ${await world.row(ask)}`);
    }
    return found;
  };
  return [title, lines];
}

const post = (path: string, body?: Ask['body'], headers?: Record<string, string>): Ask => ({
  method: 'POST',
  path,
  ...(body !== undefined && { body }),
  ...(headers && { headers }),
});
const get = (path: string, headers?: Record<string, string>, method = 'GET'): Ask => ({
  method,
  path,
  ...(headers && { headers }),
});

const EVIL = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
const full: Setting['limit'] = () => Promise.resolve({ kind: 'refused', retryAfterMs: 1_500 });
const failing: Setting['limit'] = () => Promise.reject(new TypeError('lost'));
const unsure: Setting['limit'] = () => Promise.resolve({ kind: 'unknown', log: 'the limiter is late' });
const odd: Setting['limit'] = () => Promise.resolve(undefined as never);
const LIMITERS = {
  'no limiter': undefined,
  'limiter full': full,
  'limiter that throws': failing,
  'limiter that does not know': unsure,
  'limiter without a verdict': odd,
};

/** A request to each route that passes. */
const PASSING: readonly (readonly [name: string, kind: 'chat' | 'surface' | 'record', ask: Ask])[] = [
  ['POST (empty)', 'chat', post('', OLD_SEND)],
  ['POST (empty), tasks/get', 'chat', post('', rpc('tasks/get', { id: 't1' }))],
  ['GET /config', 'chat', get('/config')],
  ['GET /.well-known/agent-card.json', 'chat', get('/.well-known/agent-card.json')],
  ['POST /message:send', 'chat', post('/message:send', NEW_SEND)],
  ['GET /tasks/t1', 'chat', get('/tasks/t1')],
  ['POST /v1/tasks/t1:cancel', 'chat', post('/v1/tasks/t1:cancel')],
  ['POST /w/render', 'surface', post('/w/render', '{}')],
  ['POST /w/actions/save', 'surface', post('/w/actions/save', '{}')],
  ['GET /w/theme.css', 'surface', get('/w/theme.css')],
  ['POST /conversations/7', 'record', post('/conversations/7', '{}')],
];
const BY_SERVICE = {
  chat: chat(),
  surface: SURFACES['service credential']?.route,
  record: RECORDS['session']?.route,
} as Record<string, Route>;
const BY_SESSION = {
  chat: chat({}, true),
  surface: SURFACES['session']?.route,
  record: RECORDS['session']?.route,
} as Record<string, Route>;

/** Every route with one thing changed. */
function varied(
  glossary: Glossary,
  title: string,
  change: (ask: Ask) => Ask,
  setting: Partial<Setting> & { readonly answer?: AdmissionsWorld['platform']['answer'] } = {},
): Section {
  const rows = [BY_SERVICE, BY_SESSION].flatMap((routes) =>
    PASSING.map(([name, kind, ask]): Row => {
      const credential = routes === BY_SERVICE && kind !== 'record' ? 'service' : 'session';
      return [`${name}, ${credential}`, change(ask), { ...setting, route: routes[kind] as Route }];
    }),
  );
  return list(
    glossary,
    title,
    { route: chat() },
    rows.filter(([name], index) => rows.findIndex(([other]) => other === name) === index),
  );
}

const changed =
  (more: Partial<Ask>) =>
  (ask: Ask): Ask => ({ ...ask, ...more, headers: { ...ask.headers, ...more.headers } });

const MALFORMED: readonly (readonly [name: string, change: (ask: Ask) => Ask])[] = [
  ['half of a body', changed({ body: '{"jsonrpc":"2.0","id":7,' })],
  ['no JSON object', changed({ body: '[{"jsonrpc":"2.0","id":7,"method":"message/send"}]' })],
  ['invalid UTF-8', changed({ body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) })],
  ['an empty body', changed({ body: '' })],
  ['no body', changed({ body: null })],
  ['a body that a parser consumed', changed({ body: null, bodyConsumed: true })],
  ['a body that breaks', changed({ body: () => pieces('{"jsonrpc":"2.0","id":7', new Error('reset')) })],
  [
    'a stream that is whole',
    changed({ body: () => pieces('{"jsonrpc":"2.0","id":7,"method":"message/send","params":{}}') }),
  ],
  ['a stream of half a body', changed({ body: () => pieces('{"jsonrpc":"2.0","id":7,') })],
  ['a body that is too large', changed({ body: new Uint8Array(2_100_000).fill(0x20) })],
  ['a length that is too large', changed({ headers: { 'content-length': '2100000' } })],
  [
    'a length that is longer than the body',
    changed({
      headers: { 'content-length': '900' },
      body: () => pieces('{"jsonrpc":"2.0","id":7,"method":"message/send"}'),
    }),
  ],
  ['another media type', changed({ headers: { 'content-type': 'text/plain' } })],
  ['another charset', changed({ headers: { 'content-type': 'application/json; charset=latin1' } })],
  ['a compressed body', changed({ headers: { 'content-encoding': 'gzip' } })],
  [
    '1,001 levels',
    changed({
      body: `{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":${'['.repeat(1_001)}${']'.repeat(1_001)}}}`,
    }),
  ],
  [
    'a repeated member',
    changed({
      body: '{"jsonrpc":"2.0","id":7,"method":"message/send","method":"tasks/get","params":{"message":{},"message":{}}}',
    }),
  ],
  [
    'a twin of a member',
    changed({
      body: '{"jsonrpc":"2.0","id":7,"METHOD":"tasks/get","method":"message/send","params":{},"Message":{},"message":{}}',
    }),
  ],
  ['no method', changed({ body: '{"jsonrpc":"2.0","id":7}' })],
  [
    'an id that is an object',
    changed({ body: '{"jsonrpc":"2.0","id":{},"method":"message/send","params":{"message":{}}}' }),
  ],
  ['params that are a number', changed({ body: '{"jsonrpc":"2.0","id":7,"method":"message/send","params":5}' })],
  [
    'a webhook',
    changed({
      body: '{"jsonrpc":"2.0","id":7,"method":"message/send","configuration":{"pushNotificationConfig":{}},"params":{"message":{},"configuration":{"pushNotificationConfig":{}}}}',
    }),
  ],
  [
    'a foreign tenant',
    changed({
      body: '{"jsonrpc":"2.0","id":7,"method":"message/send","tenant":"globex","params":{"message":{},"tenant":"globex"}}',
    }),
  ],
];

/** The routes that read a body. */
const READING: readonly (readonly [name: string, setting: Setting, ask: Ask])[] = [
  ['POST (empty), service', { route: chat() }, post('', OLD_SEND)],
  ['POST (empty), service, own conversations', { route: chat(VISITOR) }, post('', OLD_SEND)],
  ['POST (empty), session', { route: chat({}, true) }, post('', OLD_SEND)],
  ['POST /message:send, service', { route: chat() }, post('/message:send', NEW_SEND)],
  ['POST /message:send, session', { route: chat({}, true) }, post('/message:send', NEW_SEND)],
  ['POST /v1/message:stream, service', { route: chat() }, post('/v1/message:stream', NEW_SEND)],
  ['POST /tasks/t1:cancel, service', { route: chat() }, post('/tasks/t1:cancel', '{}')],
  ['POST /w/render, service', { route: BY_SERVICE['surface'] as Route }, post('/w/render', '{}')],
  ['POST /w/actions/save, session', { route: BY_SESSION['surface'] as Route }, post('/w/actions/save', '{}')],
  ['POST /conversations/7, session', { route: BY_SESSION['record'] as Route }, post('/conversations/7', '{}')],
];

const failure: UpstreamOutcome = {
  kind: 'failure',
  reason: 'unreachable',
  log: 'connect ECONNREFUSED',
};
const answered =
  (
    status: number,
    body: HttpResponse['body'],
    headers: HttpResponse['headers'] = { 'content-type': 'application/json' },
  ) =>
  () => ({
    status,
    headers,
    body,
  });
const ANSWERS: Readonly<Record<string, AdmissionsWorld['platform']['answer']>> = {
  'an unreachable platform': () => failure,
  'a platform that times out': () => ({ kind: 'failure', reason: 'timeout', log: 'late' }),
  'a 401 of the platform': answered(401, '{"error":"no"}'),
  'a 404 of the platform': answered(404, '{"error":"no"}'),
  'a 500 of the platform': answered(500, '{"error":"no"}'),
  'a redirect of the platform': answered(302, null, { location: 'https://elsewhere.example/' }),
  'a page of the platform': answered(200, '<p>Hello</p>', { 'content-type': 'text/html' }),
  'a stream of the platform': () =>
    events({
      jsonrpc: '2.0',
      id: 'r1',
      result: { kind: 'status-update', taskId: 't1', contextId: 'c1', status: { state: 'completed' }, final: true },
    }),
  'a stream that breaks between two events': () => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: pieces('data: {"jsonrpc":"2.0","id":"r1","result":{}}\n\n', new Error('cut')),
  }),
  'a stream that breaks inside an event': () => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: pieces('data: {"jsonrpc"', new Error('cut')),
  }),
  'a body that breaks': () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: pieces('{"half":', new Error('cut')),
  }),
  'a 204 with a length': answered(204, null, { 'content-length': '5' }),
};

const OLD_METHODS = ['message/send', 'message/stream', 'tasks/get', 'tasks/resubscribe', 'tasks/cancel', 'tasks/list'];
OLD_METHODS.push('tasks/pushNotificationConfig/set', 'agent/getAuthenticatedExtendedCard');
const NEW_METHODS = ['SendMessage', 'SendStreamingMessage', 'GetTask', 'SubscribeToTask', 'CancelTask', 'ListTasks'];
NEW_METHODS.push('CreateTaskPushNotificationConfig', 'GetExtendedAgentCard', 'tasks/export', '');

function methodRows(credential: string, setting: Setting): readonly Row[] {
  return [...OLD_METHODS, ...NEW_METHODS].map((method): Row => {
    const isOld = OLD_METHODS.includes(method);
    const params = /send|stream/i.test(method) ? { message: isOld ? OLD_MESSAGE : NEW_MESSAGE } : { id: 't1' };
    const headers = isOld ? undefined : { 'a2a-version': '1.0' };
    return [
      `${method === '' ? '(empty method)' : method}, ${credential}`,
      post('', rpc(method, params), headers),
      setting,
    ];
  });
}

/** Requests of one visitor, one after another, with the cookie of the first. */
function talk(glossary: Glossary, title: string, setting: Setting, isRest: boolean): Section {
  const lines = async (): Promise<readonly string[]> => {
    const world = new AdmissionsWorld(glossary, { limit: admitted, ...setting });
    const found: string[] = [];
    let cookie = 'session=s3cr3t';
    const say = async (name: string, ask: Ask): Promise<void> => {
      found.push(`${name.padEnd(56)} ${await world.row({ ...ask, headers: { cookie, ...ask.headers } })}`);
      if (world.cookie !== '') cookie = `session=s3cr3t; ${world.cookie.split(';', 1)[0] ?? ''}`;
    };
    const task = (id: string): Ask => (isRest ? get(`/tasks/${id}`) : post('', rpc('tasks/get', { id })));
    const send = (more: object, headers?: Record<string, string>): Ask =>
      isRest
        ? post('/message:send', JSON.stringify({ message: { ...NEW_MESSAGE, ...more } }), headers)
        : post('', rpc('message/send', { message: { ...OLD_MESSAGE, ...more } }), headers);
    await say('a first message', send({}));
    await say('a second message', send({}));
    await say('the own task', task('task-1'));
    await say('the own task again', task('task-1'));
    await say('a message to the own task', send({ taskId: 'task-1' }));
    await say('a foreign task', task('t9'));
    await say('a foreign task again', task('t9'));
    await say('a message to a foreign task', send({ taskId: 't9' }));
    await say('a message to a foreign context', send({ contextId: 'c9' }));
    await say('two foreign references', send({ referenceTaskIds: ['t8', 't9'] }));
    await say('a member that is not defined', send({ sessionId: 'x' }));
    await say('a message of a foreign page', send({}, EVIL));
    await say(
      'a message of a listed page',
      send({}, { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' }),
    );
    await say('a message without the cookie', send({}, { cookie: '' }));
    await say('a task without the cookie', { ...task('task-1'), headers: { cookie: '' } });
    return found;
  };
  return [title, lines];
}

/** The configuration while nothing is cached, and then cached. */
function config(glossary: Glossary, title: string, setting: Setting): Section {
  const lines = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const [limiter, limit] of Object.entries({ 'limiter admits': admitted, ...LIMITERS })) {
      const world = new AdmissionsWorld(glossary, { ...setting, ...(limit && { limit }) });
      for (const [time, ask] of Object.entries<Ask>({
        'a foreign page': get('/config', EVIL),
        first: get('/config'),
        again: get('/config'),
        'the card': get('/.well-known/agent-card.json'),
        'another version': get('/config', { 'a2a-version': '1.0' }),
        'another version by query': { ...get('/config'), query: '?A2A-Version=0.3' },
        HEAD: get('/config/', {}, 'HEAD'),
        'If-None-Match: *': get('/config', { 'if-none-match': '*' }),
      })) {
        found.push(`${`${limiter}: ${time}`.padEnd(56)} ${await world.row(ask)}`);
      }
    }
    return found;
  };
  return [title, lines];
}

/** The parts of the table, each with the function that makes its lines. */
export function sections(glossary: Glossary): readonly Section[] {
  return [
    ...allProducts(glossary),
    ...Object.entries(LIMITERS).map(([name, limit]) =>
      varied(glossary, `Every route, ${name}`, (ask) => ask, { limit }),
    ),
    varied(glossary, 'Every route, a foreign page and a full limiter', changed({ headers: EVIL }), { limit: full }),
    varied(glossary, 'Every route, an unsafe query', changed({ query: '?a#b' })),
    varied(glossary, 'Every route, an unsafe query of a foreign page', changed({ query: '?a b', headers: EVIL })),
    varied(glossary, 'Every route, a query', changed({ query: '?historyLength=1' })),
    varied(glossary, 'Every route, a host in allowedHosts', (ask) => ask, {
      config: { allowedHosts: ['site.example'] },
    }),
    varied(glossary, 'Every route, a host outside of allowedHosts', changed({ headers: { host: 'evil.example' } }), {
      config: { allowedHosts: ['site.example'] },
    }),
    varied(
      glossary,
      'Every route, a host outside of allowedHosts from a foreign page',
      changed({ headers: { ...EVIL, host: 'evil.example' } }),
      {
        config: { allowedHosts: ['site.example'] },
      },
    ),
    varied(
      glossary,
      'Every route, an upgrade to WebSocket',
      changed({ headers: { upgrade: 'websocket', connection: 'upgrade' } }),
    ),
    varied(
      glossary,
      'Every route, a preflight',
      changed({ method: 'OPTIONS', body: null, headers: { ...EVIL, 'access-control-request-method': 'POST' } }),
    ),
    varied(glossary, 'Every route, no configuration', (ask) => ask, {
      config: { a2aUrl: '', serviceApiUrl: '', serviceApiKey: '', serviceAuthStrategy: '' },
    }),
    ...READING.map(([name, setting, ask]) =>
      list(glossary, `Malformed, ${name}`, setting, [
        ['as it should be', ask],
        ...MALFORMED.map(([what, change]): Row => [what, change(ask)]),
        ['half of a body, limiter full', changed({ body: '{"id":7,' })(ask), { limit: full }],
        ['half of a body, no limiter', changed({ body: '{"id":7,' })(ask), { limit: undefined }],
        ['a repeated member, limiter full', changed({ body: '{"id":7,"id":7}' })(ask), { limit: full }],
        [
          'another media type, limiter full',
          changed({ headers: { 'content-type': 'text/plain' } })(ask),
          { limit: full },
        ],
        ['half of a body from a foreign page', changed({ body: '{"id":7,', headers: EVIL })(ask)],
        ['a consumed body from a foreign page', changed({ body: null, bodyConsumed: true, headers: EVIL })(ask)],
      ]),
    ),
    ...Object.entries(ANSWERS).map(([name, answer]) =>
      varied(glossary, `Every route, ${name}`, (ask) => ask, { answer }),
    ),
    list(glossary, 'Methods over JSON-RPC', { route: chat() }, [
      ...methodRows('service', { route: chat() }),
      ...methodRows('session', { route: chat({}, true) }),
      ...methodRows('own conversations', { route: chat(VISITOR) }),
      ...methodRows('limiter full', { route: chat(), limit: full }),
    ]),
    talk(glossary, 'One visitor over JSON-RPC', { route: chat(VISITOR) }, false),
    talk(glossary, 'One visitor over HTTP+JSON', { route: chat(VISITOR) }, true),
    talk(glossary, 'One user over JSON-RPC', { route: chat(VISITOR, true) }, false),
    talk(glossary, 'One user over HTTP+JSON', { route: chat(VISITOR, true) }, true),
    config(glossary, 'The configuration, service credential', { route: chat() }),
    config(glossary, 'The configuration, session', { route: chat({}, true) }),
    config(glossary, 'The configuration, headers of the site', {
      route: chat({ configGetHeaders: () => ({ 'x-own': 'k' }) }),
    }),
    config(glossary, 'The configuration, session with headers of the site', {
      route: chat({ configGetHeaders: () => ({ 'x-own': 'k' }) }, true),
    }),
    config(glossary, 'The configuration, fields that are forwarded', {
      route: chat({ forward: { request: ['x-language'] } }),
    }),
    list(glossary, 'A render from the cache', { route: cachedSurface() }, [['first', post('/w/render', '{}')]]),
    wrappers(glossary),
    crowd(glossary),
  ];
}

function cachedSurface(): Route {
  return (toolkit) => serviceSurfaceRoute(toolkit, { cache: { enabled: true } });
}

/** Handlers that serve no route. */
function wrappers(glossary: Glossary): Section {
  const cause = new ServiceAuthError('service_auth_failed', { detail: 'The options are wrong.' });
  const handlers: Readonly<Record<string, HttpHandler>> = {
    'not configured': (request) => unusable(request),
    misconfigured: (request) => unusable(request, cause),
    'no route': noRoute,
  };
  const rows = Object.entries(handlers).flatMap(([name, handler]) =>
    (['POST', 'GET', 'OPTIONS'] as const).flatMap((method): Row[] => [
      [`${name}: ${method}`, method === 'POST' ? post('', OLD_SEND) : get('', {}, method), { route: () => handler }],
      [
        `${name}: ${method} of a foreign page`,
        { ...(method === 'POST' ? post('', OLD_SEND) : get('', {}, method)), headers: EVIL },
        { route: () => handler },
      ],
    ]),
  );
  return list(glossary, 'Handlers without a route', { route: chat() }, rows);
}

/** Sites that are full, and sites that close. */
function crowd(glossary: Glossary): Section {
  const lines = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const [name, kind, ask] of PASSING) {
      const closed = new AdmissionsWorld(glossary, { limit: admitted, route: BY_SESSION[kind] as Route });
      await closed.toolkit.close({ graceMs: 0 });
      found.push(`${`${name}, closing`.padEnd(56)} ${await closed.row(ask)}`);
      found.push(`${`${name} of a foreign page, closing`.padEnd(56)} ${await closed.row({ ...ask, headers: EVIL })}`);
    }
    return found;
  };
  return ['Sites that close', lines];
}
