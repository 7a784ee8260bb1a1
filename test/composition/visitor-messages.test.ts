import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { FakeUpstream, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import type { ChatHandlerOptions } from '../../src/composition/routes/route-options.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { HttpRequest } from '../../src/ports/http.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { chatRoute } from '../support/toolkit-routes.js';

const KEYS = [randomBytes(32).toString('hex')];

/** A site whose conversations belong to their visitors, in front of an agent that answers everything with this task. */
function site(
  options: ChatHandlerOptions = {},
  task: object = {},
  cacheKeys = KEYS,
  agent = 'https://agent.example/a2a',
) {
  const upstream = new FakeUpstream(() => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: task }),
  }));
  const config = {
    a2aUrl: agent,
    serviceApiKey: 'key',
    cacheKeys,
  };
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(config, { upstream, telemetry });
  const route = chatRoute(toolkit, { conversations: 'visitor', ...options });
  const call = async (method: string, params: string, changes?: Partial<HttpRequest>): Promise<string> => {
    const body = bytes(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
    return textOf((await route(browserRequest({ body, ...changes }))).body);
  };
  return { call, upstream, telemetry };
}

/** Values that are no ids. */
const LONG: readonly (readonly [what: string, value: string])[] = [
  ['empty objects', `[${Array(9_000).fill('{}').join()}]`],
  ['more values than are read', `[${Array(20_000).fill('{}').join()}]`],
  ['a long text', `"${'x'.repeat(60_000)}"`],
];

describe.each(LONG)('%s in place of an id', (_what, value) => {
  it.each([
    ['message/send', `{"message":{"contextId":${value}}}`],
    ['message/send', `{"message":{"taskId":${value}}}`],
    ['message/send', `{"message":{"referenceTaskIds":${value}}}`],
    ['message/send', `{"message":{"referenceTaskIds":[${value}]}}`],
    ['tasks/get', `{"id":${value}}`],
    ['tasks/cancel', `{"id":${value}}`],
  ])('of %s is refused, and the agent is not asked', async (method, params) => {
    const { call, upstream } = site();
    await call('tasks/get', '{"id":"a"}'); // loads what such routes need
    expect(await call(method, params)).toMatch(/-32602|-32001/);
    expect(upstream.requests).toHaveLength(1);
  });
});

type Owns = NonNullable<ChatHandlerOptions['ownsContext']>;
const user =
  (subject = '') =>
  (_request: unknown) =>
    ({ kind: 'token', accessToken: 'token', subject }) as const;

describe('the visitor that "ownsContext" gets', () => {
  it.each<[string, ChatHandlerOptions, string | null]>([
    [
      'the one of the option "visitor", even if the route has a session',
      { auth: user('ada'), visitor: () => 'grace' },
      'grace',
    ],
    ['null where the option "visitor" returns undefined', { visitor: () => undefined }, null],
    ['null where it returns null', { visitor: () => Promise.resolve(null) }, null],
    ['null where it returns an empty text', { visitor: () => '' }, null],
    ['the subject of the session', { auth: user('ada') }, 'ada'],
    ['null where the session has no subject', { auth: user() }, null],
    ['null on a route for anyone', {}, null],
  ])('is %s', async (_which, options, visitor) => {
    const ownsContext = vi.fn<Owns>((contextId) => contextId === 'c-1');
    const { call } = site({ ...options, ownsContext });
    const request = { ip: '192.0.2.1' };
    const named = (id: string) => call('message/send', `{"message":{"contextId":"${id}"}}`, { native: { request } });
    expect([await named('c-1'), await named('c-2')]).toEqual([
      expect.stringContaining('"result"'),
      expect.stringContaining('-32001'),
    ]);
    expect(ownsContext).toHaveBeenNthCalledWith(1, 'c-1', { request, visitor });
  });
});

it('a conversation belongs to its user at its agent: "ada" of a session is not "ada" of the option "visitor"', async () => {
  const people = [{ visitor: () => 'ada' }, { visitor: () => 'grace' }, { auth: user('ada') }, { auth: user('grace') }];
  for (const one of people) {
    const { call, upstream } = site(one);
    await call('message/send', '{"message":{"role":"user"}}');
    const { params } = JSON.parse(await textOf(upstream.requests[0]?.body ?? null)) as { params: unknown };
    const further = JSON.stringify(params);
    for (const other of people)
      expect(await site(other).call('message/send', further)).toContain(one === other ? '"result"' : '-32001');
    for (const agent of ['https://agent.example/other', 'https://other.example/a2a'])
      expect(await site(one, {}, KEYS, agent).call('message/send', further)).toContain('-32001');
  }
});

it.each<[string, ChatHandlerOptions, string]>([
  [
    '"visitor" returns a number',
    { visitor: () => 7 as never },
    '"visitor" failed: it returned a number instead of a string.',
  ],
  ['"visitor" throws', { visitor: () => Promise.reject(new Error('secret')) }, '"visitor" failed: it threw Error'],
  [
    '"ownsContext" throws',
    { ownsContext: () => Promise.reject(new Error('secret')) },
    '"ownsContext" failed: it threw Error',
  ],
  [
    'one in "metadata" throws',
    { metadata: { plan: () => Promise.reject(new Error('secret')) }, ownsContext: () => true },
    '"metadata.plan" failed: it threw Error',
  ],
  [
    'one in "metadata" returns no JSON',
    { metadata: { plan: () => 10n }, ownsContext: () => true },
    '"metadata.plan" failed: it returned a value that is not JSON.',
  ],
])(
  'a function of the site fails: %s; the agent is not asked, and the log names the option',
  async (_how, options, log) => {
    const { call, upstream, telemetry } = site(options);
    const text = await call('message/send', '{"message":{"contextId":"c-1"}}');
    expect(text).toContain('INTERNAL_ERROR');
    expect(text).toMatch(
      /The (visitor of this request could not be determined|metadata of this message could not be created)\./,
    );
    expect(upstream.requests).toEqual([]);
    const events = JSON.stringify(telemetry.events).replaceAll(String.raw`\"`, '"');
    expect(events).toContain(`The function in ${log}`);
    expect(events).not.toContain('secret');
  },
);

const name = '"metadata"';
it.each<[string, ChatHandlerOptions, string]>([
  [
    'a name twice',
    { metadata: { plan: 1, PLAN: 2 } },
    `${name}: "PLAN" occurs twice, in different spellings. Set ${name} to one of them.`,
  ],
  ['a name without letters', { metadata: { '-': 1 } }, `${name}: "-" cannot be a name. Set ${name} to letters.`],
  [
    'a prototype as a name',
    { metadata: JSON.parse('{"__proto__":1}') as never },
    `${name}: "__proto__" cannot be a name.`,
  ],
  [
    'a value that is not JSON',
    { metadata: { plan: 10n as never } },
    `${name}: "plan" is not JSON. Set ${name} to JSON values or functions.`,
  ],
  [
    'a name of the site in the list of the visitor',
    { metadata: { plan: 1 }, visitorMetadata: ['Plan'] },
    `: A visitor's "Plan" is never forwarded. Set "visitorMetadata" to other names.`,
  ],
  ['a name that chooses memory', { visitorMetadata: ['userId'] }, `: A visitor's "userId" is never forwarded.`],
  [
    'a list of numbers',
    { visitorMetadata: [1] as never },
    ': A name is not a string. Set "visitorMetadata" to a list of strings.',
  ],
  ...(['visitor', 'ownsContext', 'visitorMaxAge'] as const).map((option): [string, ChatHandlerOptions, string] => [
    `"${option}" where conversations are open`,
    { conversations: 'open', [option]: option === 'visitorMaxAge' ? 60 : () => 'ada' },
    `The option "${option}" has no effect, because conversations are open to anyone who knows their id. Set "conversations" to "visitor", here or in configureServer, or leave "${option}" out.`,
  ]),
  ['an unknown rule', { visitorMetadata: 'keep' as never }, 'visitorMetadata'],
  ['metadata that is text', { metadata: 'gold' as never }, 'metadata'],
])('a route refuses %s when it is created', (_what, options, named) => {
  expect(() => site(options)).toThrow(named);
});

it.each<[string, ChatHandlerOptions]>([
  ['the option "visitor"', { visitor: () => 'ada' }],
  ['a session', { auth: user('ada') }],
])('a route refuses conversations of users named by %s without "cacheKeys"', (_how, options) => {
  expect(() => site(options, {}, [])).toThrow(
    'Conversations of signed-in users need a key, and none is configured. Set "cacheKeys" in configureServer; make one with "openssl rand -base64 32".',
  );
  expect(() => site({}, {}, [])).not.toThrow();
});

it('a route without an agent names the missing address', async () => {
  const { call, telemetry } = site({}, {}, KEYS, '');
  await call('message/send', '{"message":{}}');
  expect(telemetry.of('error')).toMatchObject([{ code: 'service_auth_failed', fields: ['a2aUrl'] }]);
});

describe('the metadata that the agent receives', () => {
  const plan = { plan: 'gold' };
  it.each<[string, ChatHandlerOptions, object]>([
    [
      'the visitor’s where conversations are open',
      { conversations: 'open' },
      { note: 'mine', plan: 'free', pageContext: 1 },
    ],
    ['none where they belong to visitors', {}, {}],
    ['none with the rule "drop"', { conversations: 'open', visitorMetadata: 'drop' }, {}],
    ['all with the rule "pass"', { visitorMetadata: 'pass' }, { note: 'mine', plan: 'free', pageContext: 1 }],
    ['what the rule lists', { visitorMetadata: ['note'] }, { note: 'mine' }],
    ['the site’s alone', { metadata: { ...plan, none: undefined as never } }, plan],
    [
      'the site’s instead of a visitor’s',
      { conversations: 'open', metadata: plan },
      { note: 'mine', plan: 'gold', pageContext: 1 },
    ],
    [
      'none for a function that returns undefined',
      { conversations: 'open', metadata: { PLAN: () => undefined } },
      { note: 'mine', pageContext: 1 },
    ],
    [
      'what functions return for the request, its session and its visitor',
      {
        metadata: { ...plan, who: (request, { session, visitor }) => [request, session, visitor] },
        auth: user('ada'),
        visitor: () => 'grace',
      },
      { plan: 'gold', who: ['native', { subject: 'ada' }, 'grace'] },
    ],
  ])('is %s', async (_which, options, expected) => {
    const { call, upstream } = site(options);
    const metadata = '{"note":"mine","plan":"free","pageContext":1}';
    await call('message/send', `{"message":{"metadata":${metadata}}}`, { native: { request: 'native' } });
    const { params } = JSON.parse(await textOf(upstream.requests.at(-1)?.body ?? null)) as {
      params: { message: object };
    };
    expect(params.message).toHaveProperty('metadata', expected);
  });

  it('lacks the context of the page; the log has the fix once', async () => {
    const { call, telemetry } = site();
    await call('message/send', '{"message":{"metadata":{"a":1}}}');
    expect(telemetry.of('warning')).toEqual([]);
    for (let times = 0; times < 2; times += 1)
      await call('message/send', '{"message":{"metadata":{"pageContext":1,"a":1}}}');
    expect(telemetry.of('warning').map(({ code, detail }) => [code, detail])).toEqual([
      [
        'page_context_dropped',
        'The page sends "pageContext", which is not forwarded to the agent. To forward it, set "visitorMetadata" to ["pageContext"] on the chat route.',
      ],
    ]);
  });
});

describe('the metadata of a visitor', () => {
  const members = (count: number): string => Array.from({ length: count }, (_, at) => `"m${String(at)}":0`).join();

  it.each<[string, ChatHandlerOptions]>([
    ['dropped', {}],
    ['passed on', { visitorMetadata: 'pass' }],
    ['added to where conversations are open', { conversations: 'open', metadata: { plan: 'gold' } }],
  ])('is refused with more members than anyone sends, where it is %s', async (_where, options) => {
    const { call, upstream } = site(options);
    const send = (metadata: string): Promise<string> => call('message/send', `{"message":{"metadata":{${metadata}}}}`);
    expect(await send(members(1_000))).toContain('"result"');
    for (const metadata of [members(1_001), `"${'é'.repeat(257)}":0`]) expect(await send(metadata)).toContain('-32602');
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('the question for a task', () => {
  it('goes to the tenant of the call, wherever the call names it', async () => {
    const url = 'https://agent.example/a2a';
    const card = {
      name: 'A',
      supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'acme' }],
    };
    const task = { id: 'task', contextId: 'support' };
    const upstream = new FakeUpstream(({ path }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(path.includes('.well-known') ? card : task),
    }));
    const config = {
      a2aUrl: url,
      serviceApiKey: 'key',
      bindings: ['HTTP+JSON'] as const,
      telemetry: 'silent' as const,
    };
    const route = chatRoute(createToolkit(config, { upstream }), { conversations: 'visitor', ownsContext: () => true });
    for (const [path, body] of [
      ['/tasks/one:cancel', '{"tenant":"acme"}'],
      ['/acme/tasks/two:cancel', '{}'],
    ] as const) {
      task.id = path.includes('one') ? 'one' : 'two';
      expect((await route(browserRequest({ path, body: bytes(body) }))).status).toBe(200);
    }
    const asked = upstream.requests.filter(({ method, path }) => method === 'GET' && path.includes('/tasks/'));
    expect(asked.map(({ path }) => path.split('?', 1)[0])).toEqual(['/a2a/acme/tasks/one', '/a2a/acme/tasks/two']);
  });
});

describe('the context of a task', () => {
  it.each([
    ['an id', 'support', 1],
    ['longer than any id', 'x'.repeat(100_000), 2],
  ])('that is %s is asked of the agent for two calls', async (_what, contextId, times) => {
    const { call, upstream } = site({ ownsContext: () => true }, { id: 'task', contextId });
    for (let count = 0; count < 2; count += 1) expect(await call('tasks/cancel', '{"id":"task"}')).toContain('"task"');
    const sent = await Promise.all(upstream.requests.map(({ body }) => textOf(body)));
    expect(sent.filter((text) => text.includes('tasks/get'))).toHaveLength(times);
  });
});

describe('tasks of 3 MB that are read at the same time', () => {
  const SPACES = bytes(' '.repeat(1_048_576));

  /** An agent that does not know `historyLength`, whose responses arrive together. */
  function agent(): FakeUpstream {
    let arrived = (): void => undefined;
    const all = new Promise<void>((done) => (arrived = done));
    let count = 0;
    async function* large(id: string): AsyncGenerator<Uint8Array> {
      count += 1;
      if (count === 8) arrived();
      await all;
      for (let chunk = 0; chunk < 3; chunk += 1) {
        await new Promise((later) => setImmediate(later));
        yield SPACES;
      }
      yield bytes(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { id, contextId: 'support' } }));
    }
    return new FakeUpstream(async ({ body }) => {
      const { params } = JSON.parse(await textOf(body)) as { params: { id: string } };
      return { status: 200, headers: { 'content-type': 'application/json' }, body: large(params.id) };
    });
  }

  it('are all read, and the responses of the calls stream', async () => {
    const config = { a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key', telemetry: 'silent' as const };
    const options = { conversations: 'visitor', ownsContext: () => true } as const;
    const route = chatRoute(createToolkit(config, { upstream: agent() }), options);
    const read = (id: number) =>
      route(
        browserRequest({
          body: bytes(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t${String(id)}"}}`),
        }),
      );
    for (const { status, body } of await Promise.all(Array.from({ length: 8 }, (_, id) => read(id)))) {
      expect(status).toBe(200);
      expect(body).not.toBeInstanceOf(Uint8Array);
    }
  });
});
