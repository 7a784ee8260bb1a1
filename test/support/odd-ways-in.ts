import { METHODS as KNOWN_TO_NODE } from 'node:http';
import {
  around,
  beside,
  context,
  edited,
  get,
  INTRUDER,
  type Known,
  post,
  reading,
  rpc,
  sending,
  task,
  type Way,
} from './ways-in.js';

const text = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const calling = (method: string): Way =>
  rpc(
    () => method,
    (known) => ({ id: task(known), contextId: context(known) }),
  );
/** Reads the other visitor's task in a request of an unusual form. */
const readingAs = (form: (body: string, known: Known) => ReturnType<Way>): Way => {
  return (known) => form(text(known.dialect.get, { id: task(known) }), known);
};
const withCookie = (cookie: string): Way => readingAs((body) => ({ body, headers: { cookie } }));
const withType = (type: string): Way => readingAs((body) => ({ body, headers: { 'content-type': type } }));
const half = 18;

/** Names that some parsers read as a member of a message, and the value that the member would get. */
const NAMES: readonly (readonly [name: string, value: (known: Known) => string])[] = [
  ['CONTEXTID', context],
  ['contextID', context],
  ['context-id', context],
  [' contextId', context],
  ['contextId\t', context],
  ['contextId\\u0000', context],
  ['contextId\u200B', context],
  ['context\u0131d', context],
  ['\uFF43ontextId', context],
  ['cont\u0435xtId', context],
  ['ta\u017FkId', task],
  ['tas\u212AId', task],
  ['referenceTa\u017FkIds', task],
  ['threadId', context],
  ['conversationId', context],
  ['session_id', context],
  ['userId', () => 'alice'],
  ['resourceId', () => 'alice'],
  ['constructor', context],
];

/** Values that some agents read as the other visitor's context. */
const VALUES: Readonly<Record<string, (id: string, known: Known) => string>> = {
  'a URN': (id) => `urn:uuid:${id}`,
  'a NUL behind it': (id) => `${id}\0`,
  'a line break behind it': (id) => `${id}\n`,
  'a byte order mark before it': (id) => `\uFEFF${id}`,
  'an invisible character in it': (id) => `${id.slice(0, half)}\u200B${id.slice(half)}`,
  'a lone surrogate behind it': (id) => `${id}\uD800`,
  'hyphens of another kind': (id) => id.replaceAll('-', '\u2010'),
  'wide digits': (id) => id.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff_10 + Number(digit))),
  'quotes around it': (id) => `"${id}"`,
  'a list in a text': (id) => `["${id}"]`,
  'percent signs': (id) => id.replaceAll('-', '%2D'),
  'a wildcard': (id) => `${id.slice(0, half)}%`,
  'its random bits and the own proof': (id, { own }) => id.slice(0, 11) + own.contextId.slice(11),
  'the own random bits and its proof': (id, { own }) => own.contextId.slice(0, 11) + id.slice(11),
  'the own one behind it': (id, { own }) => `${id},${own.contextId}`,
  'it behind the own one': (id, { own }) => `${own.contextId}\0${id}`,
};

/** Values that some agents read as the other visitor's task. */
const TASKS: Readonly<Record<string, (id: string, known: Known) => unknown>> = {
  'in capitals': (id) => id.toUpperCase(),
  'in a list': (id) => [id],
  'in an object': (id) => ({ value: id }),
  'with a path': (id, { own }) => `${own.taskId}/../${id}`,
  'with an encoded path': (id, { own }) => `${own.taskId}%2f..%2f${id}`,
  'with a query': (id) => `${id}?historyLength=9`,
  'with a fragment': (id) => `${id}#`,
  'with a parameter': (id, { own }) => `${id};${own.taskId}`,
  'with its own one before it': (id, { own }) => `${own.taskId},${id}`,
  'with an invisible character': (id) => `${id}\u200D`,
  'as a resource name': (id) => `tasks/${id}`,
};

const METHODS = [
  'TASKS/GET',
  'tasks/get ',
  'tasks/get\0',
  'tasks/g\u0435t',
  'tasks//get',
  'tasks/subscribe',
  'tasks/pushNotificationConfig/list',
  'GetTaskPushNotificationConfig',
  'CreateTaskPushNotificationConfig',
  'rpc.discover',
  '__proto__',
  'hasOwnProperty',
];

const named = (what: string, ways: readonly (readonly [name: string, way: Way])[]): Record<string, Way> =>
  Object.fromEntries(ways.map(([name, way]) => [`${what} ${JSON.stringify(name)}`, way]));

/** Further ways into a conversation over JSON-RPC, in forms that parsers and agents read differently. */
export const ODD_WAYS: Readonly<Record<string, Way>> = {
  ...named(
    'a member of the name',
    NAMES.map(([name, value]) => [
      name,
      name.includes('\\')
        ? edited((body, known) => body.replace('"contextId":', `"${name}":"${value(known)}","contextId":`))
        : beside(name, value),
    ]),
  ),
  ...named(
    'the context with',
    Object.entries(VALUES).map(([what, value]) => [
      what,
      sending((known) => ({ contextId: value(context(known), known) })),
    ]),
  ),
  'the context in escapes': edited((body, known) =>
    body.replace(
      /"contextId":"[^"]*"/,
      `"contextId":"${context(known).replaceAll(/./g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)}"`,
    ),
  ),
  ...named(
    'a task to continue',
    Object.entries(TASKS).map(([what, value]) => [what, sending((known) => ({ taskId: value(task(known), known) }))]),
  ),
  ...named(
    'a task to read',
    Object.entries(TASKS).map(([what, value]) => [what, reading((known) => ({ id: value(task(known), known) }))]),
  ),
  ...named(
    'the method',
    METHODS.map((method) => [method, calling(method)]),
  ),
  'a task twice, the own one first': edited((body, known) =>
    body.replace('"contextId":', `"taskId":"${known.own.taskId}","taskId":"${task(known)}","contextId":`),
  ),
  'a reference in a list of lists': sending((known) => ({ referenceTaskIds: [[task(known)]] })),
  'a reference as an object': sending((known) => ({ referenceTaskIds: [{ id: task(known) }] })),
  'references as an object': sending((known) => ({ referenceTaskIds: { 0: task(known), length: 1 } })),
  'a reference behind eight': sending((known) => ({
    referenceTaskIds: [...Array.from({ length: 8 }, () => known.own.taskId), task(known)],
  })),
  'a context in the configuration': around((known) => ({ configuration: { contextId: context(known) } })),
  'a task in the configuration': around((known) => ({ configuration: { taskId: task(known) } })),
  'an unknown member with a list': around((known) => ({ contexts: [context(known)] })),
  'a filter': around(() => ({ filter: 'contextId != ""' })),
  'a page token': around((known) => ({ pageToken: context(known) })),
  'params in a list': (known) => ({ body: text(known.dialect.get, [{ id: task(known) }]) }),
  'a message in a list': rpc(
    ({ send }) => send,
    (known) => ({ message: [known.dialect.message(INTRUDER, { contextId: context(known) })] }),
  ),
  'a message as text': rpc(
    ({ send }) => send,
    (known) => ({ message: JSON.stringify(known.dialect.message(INTRUDER, { contextId: context(known) })) }),
  ),
  'two methods': readingAs((body, { dialect }) => ({ body: body.replace('{', `{"method":"${dialect.send}",`) })),
  'Params beside params': readingAs((body, known) => ({
    body: body.replace('"params"', `"Params":{"id":"${known.own.taskId}"},"params"`),
  })),
  'a session in the envelope': edited((body, known) => body.replace('{', `{"sessionId":"${context(known)}",`)),
  'a tenant in the envelope': edited((body) => body.replace('{', '{"tenant":"globex",')),
  'a batch of an own and a foreign call': (known) => ({
    body: `[${text(known.dialect.get, { id: known.own.taskId })},${text(known.dialect.get, { id: task(known) })}]`,
  }),
  'two requests, one behind the other': readingAs((body, known) => ({
    body: `${text(known.dialect.get, { id: known.own.taskId })}\n${body}`,
  })),
  'a comment': readingAs((body) => ({ body: `/* mine */${body}` })),
  'a byte order mark': readingAs((body) => ({ body: `\uFEFF${body}` })),
  'a form': withType('application/x-www-form-urlencoded'),
  'plain text': withType('text/plain'),
  'another charset': withType('application/json; charset=utf-16le'),
  'two media types': withType('text/plain, application/json'),
  'a compressed body': readingAs((body) => ({ body, headers: { 'content-encoding': 'gzip' } })),
  PUT: readingAs((body) => ({ method: 'PUT', body })),
  // Node 20.19.0 refuses it before any site sees it.
  ...(KNOWN_TO_NODE.includes('QUERY') ? { QUERY: readingAs((body) => ({ method: 'QUERY', body })) } : {}),
  'a version of its own in the query': readingAs((body, known) => ({
    path: `?A2A-Version=1.0&contextId=${context(known)}`,
    body,
  })),
  'a version that ends in another member': readingAs((body, known) => ({
    path: `?A2A-Version=1.0%26id=${task(known)}`,
    body,
  })),
  'a session of the agent in the headers': readingAs((body, known) => ({
    body,
    headers: { 'mcp-session-id': context(known), 'x-session-id': context(known), 'x-user-id': 'alice' },
  })),
  'another version of the protocol': readingAs((body) => ({ body, headers: { 'a2a-version': '0.1' } })),
  'a cookie of 12 KB': withCookie(`agent-bff-visitor=${'A'.repeat(12_000)}.1`),
  'an empty cookie': withCookie('agent-bff-visitor='),
  'a cookie that is sealed to nobody': withCookie(`agent-bff-visitor=s.${'A'.repeat(67)}.1`),
  'the cookie of users': withCookie(`agent-bff-visitor-user=${'A'.repeat(22)}.1`),
  'a protected cookie over http': withCookie(`__Host-agent-bff-visitor=${'A'.repeat(22)}.1`),
  'two protected cookies': withCookie(
    `__Host-agent-bff-visitor=${'A'.repeat(22)}.1; __Host-agent-bff-visitor=${'B'.repeat(21)}A.1`,
  ),
};

const encoded = (id: string): string => id.replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`);

/** Further ways in over HTTP+JSON. */
export const ODD_REST_WAYS: Readonly<Record<string, Way>> = {
  'a path in escapes': get((known) => `/tasks/${encoded(task(known))}`),
  'a path in escapes twice': get((known) => `/tasks/${encodeURIComponent(encoded(task(known)))}`),
  'a path below an own task': get((known) => `/tasks/${known.own.taskId}%2F..%2F${task(known)}`),
  'a path with a parameter': get((known) => `/tasks/${known.own.taskId};id=${task(known)}`),
  'a path with two slashes': get((known) => `//tasks/${task(known)}`),
  'a slash at the end': get((known) => `/tasks/${task(known)}/`),
  'the path of an older version': get((known) => `/v1/tasks/${task(known)}`),
  'a tenant in escapes': get((known) => `/%61cme/tasks/${task(known)}`),
  'an action in capitals': (known) => ({ path: `/tasks/${known.waiting}:CANCEL`, body: {} }),
  'an action in escapes': (known) => ({ path: `/tasks/${known.waiting}%3Acancel`, body: {} }),
  'following by POST': (known) => ({ path: `/tasks/${known.waiting}:subscribe`, body: {} }),
  'following an own task with a foreign one in the body': (known) => ({
    path: `/tasks/${known.own.taskId}:subscribe`,
    body: { id: known.waiting },
  }),
  'cancelling with a foreign name in the body': (known) => ({
    path: `/tasks/${known.own.taskId}:cancel`,
    body: { name: `tasks/${known.waiting}` },
  }),
  'a history in the query twice': get((known) => `/tasks/${task(known)}?historyLength=1&historyLength=9`),
  'a field mask': get((known) => `/tasks/${known.own.taskId}?fields=history&id=${task(known)}`),
  'a method in the query': get((known) => `/tasks/${known.own.taskId}?$alt=json&id=${task(known)}`),
  'the webhooks of the task': get((known) => `/tasks/${task(known)}/pushNotificationConfigs`),
  'a webhook for the task': (known) => ({
    path: `/tasks/${task(known)}/pushNotificationConfigs`,
    body: { id: 'hook', url: 'https://hook.example' },
  }),
  'tasks of all contexts': get(() => '/tasks?pageSize=100'),
  'a message under its old name': post('/message:send', (known) => ({
    request: known.dialect.message(INTRUDER, { contextId: context(known) }),
  })),
  'a message without its envelope': post('/message:send', (known) =>
    known.dialect.message(INTRUDER, { contextId: context(known) }),
  ),
  'a context beside the message': post('/message:stream', (known) => ({
    message: known.dialect.message(INTRUDER),
    contextId: context(known),
  })),
  'a JSON-RPC request': post('/message:send', (known) => ({
    jsonrpc: '2.0',
    id: 1,
    method: known.dialect.get,
    params: { id: task(known) },
  })),
};
