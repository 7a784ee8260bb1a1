import {
  createToolkit,
  forgetVisitorCookies,
  type ChatHandlerOptions,
  type ServerConfig,
  type Toolkit,
} from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Site } from '../site/framework.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { AGENTS, type RememberingAgent, WAIT } from '../support/remembering-agents.js';

const SECRET = 'my account number is 4711';
const INTRUDER = 'who is there?';
const KEYS = [
  '00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210',
  'f0e1d2c3b4a5968778695a4b3c2d1e0f0f1e2d3c4b5a69788796a5b4c3d2e1f0',
] as const;
const MINTED = /^[a-f][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The words of one generation of the protocol. */
interface Dialect {
  readonly send: string;
  readonly stream: string;
  readonly get: string;
  readonly cancel: string;
  readonly subscribe: string;
  readonly headers: Readonly<Record<string, string>>;
  message(text: string, more?: object): object;
}

const OLD: Dialect = {
  send: 'message/send',
  stream: 'message/stream',
  get: 'tasks/get',
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
  headers: {},
  message: (text, more) => ({
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...more,
  }),
};
const NEW: Dialect = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
  headers: { 'a2a-version': '1.0' },
  message: (text, more) => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more }),
};

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Seen {
  readonly status: number;
  readonly text: string;
  readonly setCookie: readonly string[];
}

/** A person with a browser. */
class Person {
  readonly #url: string;
  readonly #dialect: Dialect;
  cookie = '';
  user = '';

  constructor(url: string, dialect: Dialect, cookie = '') {
    this.#url = url;
    this.#dialect = dialect;
    this.cookie = cookie;
  }

  async call({ method = 'POST', path = '', body, headers }: Call): Promise<Seen> {
    const response = await fetch(`${this.#url}/api/a2a${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.cookie === '' ? {} : { cookie: this.cookie }),
        ...(this.user === '' ? {} : { 'x-user': this.user }),
        ...this.#dialect.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const setCookie = response.headers.getSetCookie();
    const [pair] = setCookie.map((one) => one.split(';', 1)[0] ?? '');
    if (pair !== undefined) this.cookie = pair;
    return { status: response.status, text: await response.text(), setCookie };
  }

  rpc(method: string, params: unknown): Promise<Seen> {
    return this.call({ body: { jsonrpc: '2.0', id: 'mine', method, params } });
  }

  async say(text: string, more: object = {}): Promise<{ taskId: string; contextId: string; text: string; seen: Seen }> {
    const blocking = text.includes(WAIT) ? { configuration: { blocking: false, returnImmediately: true } } : {};
    const configuration = this.#dialect === OLD ? { configuration: { blocking: !text.includes(WAIT) } } : blocking;
    const params = { message: this.#dialect.message(text, more), ...clean(configuration, this.#dialect) };
    const seen = await this.rpc(this.#dialect.send, params);
    const { result } = JSON.parse(seen.text) as { result?: Record<string, never> };
    const task = (result?.['task'] ?? result ?? {}) as { id?: string; contextId?: string };
    return { taskId: task.id ?? '', contextId: task.contextId ?? '', text: seen.text, seen };
  }
}

function clean(configuration: object, dialect: Dialect): object {
  if (dialect === OLD || !('configuration' in configuration)) return configuration;
  return { configuration: { returnImmediately: true } };
}

/** All that an intruder knows. */
interface Known {
  readonly dialect: Dialect;
  readonly victim: { readonly taskId: string; readonly contextId: string };
  readonly waiting: string;
  readonly own: { readonly taskId: string; readonly contextId: string };
}

type Way = (known: Known) => Call;

const rpc = (method: (dialect: Dialect) => string, params: (known: Known) => unknown): Way => {
  return (known) => ({ body: { jsonrpc: '2.0', id: 1, method: method(known.dialect), params: params(known) } });
};
const sending = (more: (known: Known) => object, around: (known: Known) => object = () => ({})): Way =>
  rpc(
    ({ send }) => send,
    (known) => ({ message: known.dialect.message(INTRUDER, more(known)), ...around(known) }),
  );
/** A message whose text is edited, for spellings that an object cannot have. */
const edited = (edit: (text: string, known: Known) => string): Way => {
  return (known) => {
    const { dialect } = known;
    const params = { message: dialect.message(INTRUDER, { contextId: known.own.contextId }) };
    return { body: edit(JSON.stringify({ jsonrpc: '2.0', id: 1, method: dialect.send, params }), known) };
  };
};
const beside = (name: string, value: (known: Known) => string): Way =>
  edited((text, known) => text.replace('"contextId":', `"${name}":${JSON.stringify(value(known))},"contextId":`));
const flipped = (id: string): string => (id.endsWith('0') ? `${id.slice(0, -1)}1` : `${id.slice(0, -1)}0`);
const context = ({ victim }: Known): string => victim.contextId;
const task = ({ victim }: Known): string => victim.taskId;

/** The ways into a conversation over JSON-RPC. */
const WAYS: Readonly<Record<string, Way>> = {
  "a message with the other visitor's context": sending((known) => ({ contextId: context(known) })),
  'a streamed message with it': rpc(
    ({ stream }) => stream,
    (known) => ({ message: known.dialect.message(INTRUDER, { contextId: context(known) }) }),
  ),
  'the context in upper case': sending((known) => ({ contextId: context(known).toUpperCase() })),
  'the context with a blank': sending((known) => ({ contextId: `${context(known)} ` })),
  'the context without dashes': sending((known) => ({ contextId: context(known).replaceAll('-', '') })),
  'the context in braces': sending((known) => ({ contextId: `{${context(known)}}` })),
  'a context that differs in the last bit': sending((known) => ({ contextId: flipped(context(known)) })),
  'a context that both chose': sending(() => ({ contextId: 'support' })),
  'a guessed UUID': sending(() => ({ contextId: crypto.randomUUID() })),
  'a context in a list': sending((known) => ({ contextId: [context(known)] })),
  'a context in an object': sending((known) => ({ contextId: { value: context(known) } })),
  'an open task of the other visitor': sending((known) => ({ taskId: task(known) })),
  'a foreign task with a context of its own': sending((known) => ({
    taskId: task(known),
    contextId: known.own.contextId,
  })),
  'a foreign task with its context': sending((known) => ({ taskId: task(known), contextId: context(known) })),
  'an own task with a foreign context': sending((known) => ({ taskId: known.own.taskId, contextId: context(known) })),
  'a task as a number': sending(() => ({ taskId: 7 })),
  'an invented task': sending(() => ({ taskId: crypto.randomUUID() })),
  'a task with a blank': sending((known) => ({ taskId: `${task(known)} ` })),
  'a referenced task': sending((known) => ({ referenceTaskIds: [task(known)] })),
  'a referenced task after an own one': sending((known) => ({ referenceTaskIds: [known.own.taskId, task(known)] })),
  'a referenced task as text': sending((known) => ({ referenceTaskIds: task(known) })),
  'nine references': sending((known) => ({ referenceTaskIds: Array.from({ length: 9 }, () => known.own.taskId) })),
  'context_id beside the own context': beside('context_id', context),
  'ContextId beside it': beside('ContextId', context),
  'contextId twice, the foreign one first': beside('contextId', context),
  'contextId by an escape': beside(String.raw`context\u0049d`, context),
  task_id: beside('task_id', task),
  reference_task_ids: beside('reference_task_ids', task),
  'sessionId in the message': beside('sessionId', context),
  '__proto__ in the message': edited((text, known) =>
    text.replace('"contextId":', `"__proto__":{"contextId":"${context(known)}"},"contextId":`),
  ),
  'params.id of a message': sending(
    () => ({}),
    (known) => ({ id: task(known) }),
  ),
  'params.taskId of a message': sending(
    () => ({}),
    (known) => ({ taskId: task(known) }),
  ),
  'params.contextId of a message': sending(
    () => ({}),
    (known) => ({ contextId: context(known) }),
  ),
  'params.sessionId of a message': sending(
    () => ({}),
    (known) => ({ sessionId: context(known) }),
  ),
  'params.context with a user': sending(
    () => ({}),
    () => ({ context: { userId: 'alice' } }),
  ),
  'params.tenant': sending(
    () => ({}),
    () => ({ tenant: 'globex' }),
  ),
  'params.request': edited((text) => text.replace('"message":', '"request":')),
  'two messages': edited((text, known) =>
    text.replace(
      '"message":',
      `"message":${JSON.stringify(known.dialect.message(INTRUDER, { contextId: context(known) }))},"message":`,
    ),
  ),
  'two params': edited((text, known) => text.replace('"params":', `"params":{"id":"${task(known)}"},"params":`)),
  'a webhook': sending(
    () => ({}),
    () => ({ configuration: { pushNotificationConfig: { url: 'https://hook.example' } } }),
  ),
  'a batch': (known) => ({ body: [{ jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: task(known) } }] }),
  'reading the task': rpc(
    ({ get }) => get,
    (known) => ({ id: task(known) }),
  ),
  'reading it by name': rpc(
    ({ get }) => get,
    (known) => ({ name: `tasks/${task(known)}`, id: known.own.taskId }),
  ),
  'reading it by taskId beside an own id': rpc(
    ({ get }) => get,
    (known) => ({ id: known.own.taskId, taskId: task(known) }),
  ),
  'reading a task that never existed': rpc(
    ({ get }) => get,
    () => ({ id: crypto.randomUUID() }),
  ),
  'reading with the own context beside': rpc(
    ({ get }) => get,
    (known) => ({ id: task(known), contextId: known.own.contextId }),
  ),
  'reading it by a query': (known) => ({
    path: `?id=${task(known)}`,
    body: { jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: known.own.taskId } },
  }),
  'cancelling the task': rpc(
    ({ cancel }) => cancel,
    ({ waiting }) => ({ id: waiting }),
  ),
  'subscribing to the task': rpc(
    ({ subscribe }) => subscribe,
    ({ waiting }) => ({ id: waiting }),
  ),
  'listing tasks': rpc(
    () => 'ListTasks',
    (known) => ({ contextId: context(known) }),
  ),
  'listing tasks in the old spelling': rpc(
    () => 'tasks/list',
    () => ({}),
  ),
  'a webhook for the task': rpc(
    () => 'tasks/pushNotificationConfig/set',
    (known) => ({
      taskId: task(known),
      pushNotificationConfig: { url: 'https://hook.example' },
    }),
  ),
  'an unknown method': rpc(
    () => 'tasks/export',
    (known) => ({ id: task(known) }),
  ),
  'two cookies of one name': (known) => ({
    headers: { cookie: `agent-bff-visitor=${'A'.repeat(22)}.1; agent-bff-visitor=${'B'.repeat(22)}.1` },
    body: { jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: task(known) } },
  }),
  'a cookie that was not issued here': (known) => ({
    headers: { cookie: 'agent-bff-visitor=alice' },
    body: { jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: task(known) } },
  }),
};

/** The ways in over HTTP+JSON. */
const REST_WAYS: Readonly<Record<string, Way>> = {
  'reading the task': (known) => ({ method: 'GET', path: `/tasks/${task(known)}` }),
  'reading an own task with the foreign id in the query': (known) => ({
    method: 'GET',
    path: `/tasks/${known.own.taskId}?id=${task(known)}`,
  }),
  'another tenant': (known) => ({ method: 'GET', path: `/globex/tasks/${task(known)}` }),
  'a tenant in the query': (known) => ({ method: 'GET', path: `/tasks/${task(known)}?tenant=globex` }),
  'cancelling the task': ({ waiting }) => ({ path: `/tasks/${waiting}:cancel`, body: {} }),
  'cancelling an own task with the foreign id in the body': (known) => ({
    path: `/tasks/${known.own.taskId}:cancel`,
    body: { id: known.waiting },
  }),
  'subscribing to the task': ({ waiting }) => ({ method: 'GET', path: `/tasks/${waiting}:subscribe` }),
  'listing tasks': () => ({ method: 'GET', path: '/tasks' }),
  'listing tasks of the context': (known) => ({ method: 'GET', path: `/tasks?contextId=${context(known)}` }),
  'a message with the context': (known) => ({
    path: '/message:send',
    body: { message: known.dialect.message(INTRUDER, { contextId: context(known) }) },
  }),
  'a message with the task': (known) => ({
    path: '/message:send',
    body: { message: known.dialect.message(INTRUDER, { taskId: task(known) }) },
  }),
  'a streamed message with a reference': (known) => ({
    path: '/message:stream',
    body: { message: known.dialect.message(INTRUDER, { referenceTaskIds: [task(known)] }) },
  }),
  'a message with the context in the query': (known) => ({
    path: `/message:send?message.contextId=${context(known)}`,
    body: { message: known.dialect.message(INTRUDER) },
  }),
};

/** The user that the test names, as a site takes it from its session. */
const visitor = (request: IncomingMessage): string | null => {
  const { 'x-user': user } = request.headers;
  return typeof user === 'string' ? user : null;
};

interface Opened {
  readonly url: string;
  close(): Promise<void>;
}

async function openSite(agent: RememberingAgent, a2a: ChatHandlerOptions, more: ServerConfig = {}): Promise<Opened> {
  const { a2aUrl } = agent;
  const bindings = ['JSONRPC', 'HTTP+JSON'] as const;
  const toolkit: Toolkit = createToolkit({ a2aUrl, serviceApiKey: 'key', bindings, telemetry: 'silent', ...more });
  const site: Site = await listeningSite(createNodeHandler({ toolkit, a2a }));
  return { url: site.url, close: () => site.close().then(() => toolkit.close()) };
}

describe.each(Object.entries(AGENTS))('behind an agent on %s', (name, start) => {
  const dialect = name.includes('1.3') ? NEW : OLD;
  let agent: RememberingAgent;
  let site: Opened;
  let alice: Person;
  let known: Known;

  beforeAll(async () => {
    agent = await start();
    site = await openSite(agent, { conversations: 'visitor' });
    alice = new Person(site.url, dialect);
    const first = await alice.say(SECRET);
    const { taskId: waiting } = await alice.say(WAIT);
    expect([first.taskId, waiting]).not.toContain('');
    expect(first.contextId).toMatch(MINTED);
    known = { dialect, victim: first, waiting, own: { taskId: '', contextId: '' } };
  });
  afterAll(async () => {
    await site.close();
    await agent.close();
  });

  const ways = Object.entries({ ...WAYS, ...(dialect === NEW ? prefixed(REST_WAYS) : {}) });
  it.each(ways)('another visitor does not get in by %s', async (_way, way) => {
    const bob = new Person(site.url, dialect);
    const own = await bob.say('hello');
    const before = agent.calls.length;
    const { status, text } = await bob.call(way({ ...known, own }));
    expect(text).not.toContain('4711');
    expect([status, text]).toEqual([status, expect.stringMatching(/"error"/)]);
    // At most, the agent was asked whose task it is.
    for (const call of agent.calls.slice(before)) expect(call).toMatch(/tasks\/get|GetTask|^GET .*\/tasks\/[\w-]+$/);
    const { text: after } = await alice
      .rpc(dialect.get, { id: known.waiting })
      .then(({ text: task }) => ({ text: task }));
    expect(after).toMatch(/working/i);
    const next = await alice.say('And now?', { contextId: known.victim.contextId });
    expect(next.text).toContain('4711');
    expect(next.text).not.toContain(INTRUDER);
  });

  it('"someone else\'s" and "never existed" get the same answer, byte for byte', async () => {
    const bob = new Person(site.url, dialect);
    const own = await bob.say('hello');
    const answers = new Set<string>();
    for (const id of [known.victim.taskId, crypto.randomUUID()]) {
      answers.add((await bob.rpc(dialect.get, { id })).text.replace(/"requestId":"[^"]+"/, ''));
      answers.add((await bob.rpc(dialect.cancel, { id })).text.replace(/"requestId":"[^"]+"/, ''));
    }
    for (const contextId of [known.victim.contextId, flipped(known.victim.contextId), own.taskId]) {
      const { text } = await bob.rpc(dialect.send, { message: dialect.message('x', { contextId }) });
      answers.add(text.replace(/"requestId":"[^"]+"/, ''));
    }
    expect([...answers]).toEqual([expect.stringContaining('CONVERSATION_UNKNOWN')]);
  });

  it('the visitor continues, reads, follows and cancels their own', async () => {
    const carol = new Person(site.url, dialect);
    const first = await carol.say('I am Carol');
    const second = await carol.say('again', { contextId: first.contextId });
    expect([second.contextId, second.text]).toEqual([first.contextId, expect.stringContaining('I am Carol')]);
    const answer = await carol.say('the answer', { taskId: first.taskId });
    expect([answer.contextId, answer.text]).toEqual([first.contextId, expect.stringContaining('I am Carol')]);
    expect((await carol.rpc(dialect.get, { id: first.taskId })).text).toContain('I am Carol');
    const referring = await carol.say('about that', { referenceTaskIds: [first.taskId] });
    expect(referring.contextId).toMatch(MINTED);
    const { taskId } = await carol.say(WAIT, { contextId: first.contextId });
    await carol.rpc(dialect.cancel, { id: taskId });
    await expect.poll(async () => (await carol.rpc(dialect.get, { id: taskId })).text).toMatch(/cancell?ed/i);
    for (const contextId of [null, '']) expect((await carol.say('new', { contextId })).contextId).toMatch(MINTED);
  });

  it('the visitor streams, and follows a task that is still running', async () => {
    const gil = new Person(site.url, dialect);
    const first = await gil.rpc(dialect.stream, { message: dialect.message('I am Gil') });
    const [, contextId = ''] = /"contextId":"([^"]+)"/.exec(first.text) ?? [];
    expect([contextId, first.setCookie.length]).toEqual([expect.stringMatching(MINTED), 1]);
    expect((await gil.say('again', { contextId })).text).toContain('I am Gil');
    const { taskId } = await gil.say(WAIT, { contextId });
    const following = gil.rpc(dialect.subscribe, { id: taskId });
    await expect.poll(() => agent.calls.at(-1)).toMatch(/resubscribe|SubscribeToTask/);
    await gil.rpc(dialect.cancel, { id: taskId });
    const { text } = await following;
    expect([text.includes(taskId), text.includes('"error"')]).toEqual([true, false]);
  });

  it.for(dialect === NEW ? ['HTTP+JSON'] : [])('the visitor does all of it over %s too', async () => {
    const hal = new Person(site.url, dialect);
    const sent = await hal.call({ path: '/message:send', body: { message: dialect.message('I am Hal') } });
    const { task: made } = JSON.parse(sent.text) as { task: { id: string; contextId: string } };
    expect([made.contextId, sent.setCookie.length]).toEqual([expect.stringMatching(MINTED), 1]);
    for (const more of [{ contextId: made.contextId }, { taskId: made.id }, { referenceTaskIds: [made.id] }]) {
      const { status } = await hal.call({ path: '/message:send', body: { message: dialect.message('x', more) } });
      expect(status).toBe(200);
    }
    const read = await hal.call({ method: 'GET', path: `/tasks/${made.id}?historyLength=1` });
    expect([read.status, read.text]).toEqual([200, expect.stringContaining('I am Hal')]);
    // The same conversation in the other binding.
    expect((await hal.rpc(dialect.get, { id: made.id })).text).toContain('I am Hal');
    const { taskId } = await hal.say(WAIT, { contextId: made.contextId });
    const cancelled = await hal.call({ path: `/tasks/${taskId}:cancel`, body: { id: taskId } });
    expect([cancelled.status, cancelled.text]).toEqual([200, expect.stringMatching(/cancell?ed/i)]);
  });

  it('a restart and another process let the visitor in, and still nobody else', async () => {
    const other = await openSite(agent, { conversations: 'visitor' });
    const again = new Person(other.url, dialect, alice.cookie);
    expect((await again.say('Hello', { contextId: known.victim.contextId })).text).toContain('4711');
    expect((await again.rpc(dialect.get, { id: known.victim.taskId })).text).toContain('4711');
    const bob = new Person(other.url, dialect);
    expect((await bob.say('Hello', { contextId: known.victim.contextId })).text).not.toContain('4711');
    await other.close();
  });

  it("the visitor's metadata does not reach the agent, and everything else does", async () => {
    const dora = new Person(site.url, dialect);
    const message = dialect.message('naïve 🙂', { metadata: { resourceId: 'alice' }, extensions: [] });
    const before = agent.calls.length;
    await dora.rpc(dialect.send, { message, metadata: { userId: 'alice' } });
    expect(agent.calls.slice(before)).toEqual([expect.not.stringMatching(/resourceId|userId/)]);
    expect(agent.calls.at(-1)).toContain('naïve 🙂');
  });

  it('signing in keeps the conversation, and the next person at that computer has nothing', async () => {
    const a2a = { conversations: 'visitor', visitor } as const;
    const named = await openSite(agent, a2a, { cacheKeys: [KEYS[0]] });
    const eve = new Person(named.url, dialect);
    const { contextId, taskId } = await eve.say(SECRET);
    const anonymous = eve.cookie;
    eve.user = 'eve';
    expect((await eve.say('signed in', { contextId })).text).toContain('4711');
    expect(eve.cookie).not.toBe(anonymous);
    expect((await eve.rpc(dialect.get, { id: taskId })).text).toContain('4711');
    const later = await eve.say('begun as Eve');

    const rotated = await openSite(agent, a2a, { cacheKeys: [KEYS[1], KEYS[0]] });
    const elsewhere = new Person(rotated.url, dialect, eve.cookie);
    elsewhere.user = 'eve';
    for (const id of [contextId, later.contextId])
      expect((await elsewhere.say('still', { contextId: id })).contextId).toBe(id);

    for (const user of ['', 'frank']) {
      for (const url of [named.url, rotated.url]) {
        const next = new Person(url, dialect, eve.cookie);
        next.user = user;
        for (const id of [contextId, later.contextId]) {
          expect((await next.say('hello', { contextId: id })).text).toContain('CONVERSATION_UNKNOWN');
        }
        expect((await next.rpc(dialect.get, { id: taskId })).text).not.toContain('4711');
      }
    }
    // Eve's own device elsewhere has no cookie, and still everything that Eve began signed in.
    const phone = new Person(named.url, dialect);
    phone.user = 'eve';
    expect((await phone.say('hi', { contextId: later.contextId })).text).toContain('begun as Eve');
    await named.close();
    await rotated.close();
  });
});

describe('a site', () => {
  let agent: RememberingAgent;
  beforeAll(async () => {
    agent = await AGENTS['@a2a-js/sdk 0.3.14']!();
  });
  afterAll(() => agent.close());

  it('with "open" sends the bytes unchanged, sets no cookie, and lets in whoever knows an id', async () => {
    const site = await openSite(agent, {});
    const alice = new Person(site.url, OLD);
    const first = await alice.say(SECRET, { contextId: 'support' });
    const bob = new Person(site.url, OLD);
    const seen = await bob.say('hello', { contextId: 'support', metadata: { plan: 'free' } });
    expect([first.contextId, seen.text]).toEqual(['support', expect.stringContaining('4711')]);
    expect([alice.cookie, bob.cookie, agent.calls.at(-1)]).toEqual(['', '', expect.stringContaining('"plan":"free"')]);
    await site.close();
  });

  it('refuses users without a key for them, and says which setting is missing', async () => {
    const toolkit = createToolkit({ a2aUrl: agent.a2aUrl, serviceApiKey: 'key' });
    expect(() => createNodeHandler({ toolkit, a2a: { conversations: 'visitor', visitor } })).toThrow(/cacheKeys/);
    await toolkit.close();
  });

  it('sets the cookie in the configuration for every chat route, on responses to messages only', async () => {
    const site = await openSite(agent, {}, { conversations: 'visitor' });
    const alice = new Person(site.url, OLD);
    const config = await alice.call({ method: 'GET', path: '/config' });
    const reading = await alice.rpc('tasks/get', { id: 'x' });
    expect([config.status, config.setCookie, reading.setCookie]).toEqual([200, [], []]);
    const { seen, taskId } = await alice.say('hello');
    expect(seen.setCookie).toEqual([
      expect.stringMatching(/^agent-bff-visitor=[\w-]{22}\.\w+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await alice.say('again')).seen.setCookie).toEqual([]);
    expect((await alice.rpc('tasks/get', { id: taskId })).text).toContain('hello');
    await site.close();
  });

  it('behind https sets a cookie that no other host of its domain can set', async () => {
    const site = await openSite(agent, { conversations: 'visitor' }, { publicUrl: 'https://site.example' });
    const alice = new Person(site.url, OLD);
    const headers = { origin: 'https://site.example' };
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: OLD.message('hi') } };
    const { setCookie } = await alice.call({ headers, body });
    expect(setCookie).toEqual([expect.stringMatching(/^__Host-agent-bff-visitor=.*; HttpOnly; Secure; SameSite=Lax$/)]);
    const injected = await alice.call({
      headers: { ...headers, cookie: `agent-bff-visitor=${'A'.repeat(22)}.zzzzzz` },
      body,
    });
    expect(injected.setCookie).toHaveLength(1);
    await site.close();
  });

  it('sets a partitioned cookie for the page of another site that it allows', async () => {
    const shop = 'https://shop.example';
    const more = { publicUrl: 'https://site.example', allowedOrigins: [shop] };
    const site = await openSite(agent, { conversations: 'visitor' }, more);
    const alice = new Person(site.url, OLD);
    const headers = { origin: shop, 'sec-fetch-site': 'cross-site' };
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: OLD.message('hi') } };
    const { setCookie } = await alice.call({ headers, body });
    expect(setCookie).toEqual([expect.stringMatching(/; Secure; SameSite=None; Partitioned$/)]);
    await site.close();
  });

  it('admits to a conversation of its own records', async () => {
    const ownsContext = (contextId: string, { visitor: user }: { readonly visitor: string | null }) =>
      contextId === 'record-7' && user === null;
    const site = await openSite(agent, { conversations: 'visitor', ownsContext });
    const alice = new Person(site.url, OLD);
    expect((await alice.say('hello', { contextId: 'record-7' })).contextId).toBe('record-7');
    expect((await alice.say('hello', { contextId: 'record-8' })).text).toContain('CONVERSATION_UNKNOWN');
    await site.close();
  });

  it('counts each look-up of a task as reading on', async () => {
    const counted: string[] = [];
    const count = (kind: string) => () => {
      counted.push(kind);
      return Promise.resolve({ kind: 'admitted' as const });
    };
    const chatLimit = { admit: count('message'), admitReading: count('reading') };
    const site = await openSite(agent, { conversations: 'visitor' }, { chatLimit });
    const alice = new Person(site.url, OLD);
    const { taskId } = await alice.say('hello');
    await alice.say('again', { referenceTaskIds: [taskId] });
    await alice.say('again', { referenceTaskIds: [taskId] });
    expect(counted).toEqual(['message', 'message', 'reading', 'message']);
    await site.close();
  });

  it('lets an agent that is down be down', async () => {
    const gone = await openSite({ ...agent, a2aUrl: 'http://127.0.0.1:9/' }, { conversations: 'visitor' });
    const alice = new Person(gone.url, OLD);
    for (const method of ['tasks/get', 'tasks/cancel']) {
      expect((await alice.rpc(method, { id: 'x' })).text).toContain('UPSTREAM_UNREACHABLE');
    }
    await gone.close();
  });
});

it('forgets a visitor with one cookie of every form', () => {
  expect(forgetVisitorCookies()).toEqual([
    'agent-bff-visitor=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    '__Host-agent-bff-visitor=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
    '__Host-agent-bff-visitor=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None; Partitioned',
  ]);
});

function prefixed(ways: Readonly<Record<string, Way>>): Record<string, Way> {
  return Object.fromEntries(Object.entries(ways).map(([name, way]) => [`HTTP+JSON: ${name}`, way]));
}
