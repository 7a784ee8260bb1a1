import { createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import express from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Site } from '../site/framework.js';
import { expressSite } from '../site/frameworks/express.js';
import { EXTENDED, startTaskKeepingAgent, type TaskKeepingAgent } from '../support/task-keeping-agent.js';

const HOOK = 'https://hook.example/collect';
const SECRET = 'Where did I leave the key?';

let agent: TaskKeepingAgent;

beforeAll(async () => {
  agent = await startTaskKeepingAgent();
});
afterAll(() => agent.close());

/** A site whose visitors are all one user of the agent: the site's own API key. */
class Visited {
  readonly #toolkit: Toolkit;
  #site: Site | undefined;
  /** The task of the visitor who came first. */
  taskId = '';

  constructor(a2aMethods: ServerConfig['a2aMethods']) {
    // Tasks of one policy's visitors belong to another user of the agent than those of the other's.
    const serviceApiKey = `key-of-a-site-with-${String(a2aMethods)}`;
    this.#toolkit = createToolkit({
      a2aUrl: agent.a2aUrl,
      serviceApiKey,
      a2aMethods,
      bindings: ['JSONRPC', 'HTTP+JSON'],
    });
  }

  get url(): string {
    return `${this.#site?.url ?? ''}/api/a2a`;
  }

  async open(): Promise<void> {
    this.#site = await expressSite('a site', express).start({ toolkit: this.#toolkit });
    const answer = await this.rpc('1.0', 'SendMessage', message(SECRET));
    this.taskId = /"id":"([0-9a-f-]{36})"/.exec(JSON.stringify(answer.body))?.[1] ?? '';
    expect(this.taskId).not.toBe('');
  }

  async close(): Promise<void> {
    await this.#site?.close();
    await this.#toolkit.close();
  }

  /** What another visitor gets for a JSON-RPC call. */
  rpc(version: Version, method: string, params: object): Promise<Told> {
    return this.#ask('', 'POST', version, { jsonrpc: '2.0', id: 'by-bob', method, params });
  }

  /** What another visitor gets for a call of the HTTP+JSON binding. */
  rest(version: Version, method: string, path: string, body?: object): Promise<Told> {
    return this.#ask(path, method, version, body);
  }

  async #ask(path: string, method: string, version: Version, body: object | undefined): Promise<Told> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        // Clients of v0.3 do not know the field.
        ...(version === '1.0' ? { 'a2a-version': '1.0' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text.startsWith('{') ? (JSON.parse(text) as Told['body']) : null };
  }
}

type Version = '0.3' | '1.0';

interface Told {
  readonly status: number;
  readonly text: string;
  readonly body: {
    readonly id?: unknown;
    readonly result?: unknown;
    readonly error?: {
      readonly code: number;
      readonly data?: readonly { readonly reason: string }[];
      readonly details?: readonly { readonly reason: string }[];
    };
  } | null;
}

function message(text: string, configuration: object = {}): object {
  const messageId = crypto.randomUUID();
  return { message: { messageId, role: 'ROLE_USER', parts: [{ text }] }, configuration };
}

function oldMessage(text: string, configuration: object = {}): object {
  const messageId = crypto.randomUUID();
  return { message: { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] }, configuration };
}

type Call = readonly [version: Version, method: string, params: (taskId: string) => object, code: number];

/** What one visitor could do to another, in the order in which it works where it is allowed. */
const CALLS: readonly Call[] = [
  ['1.0', 'ListTasks', () => ({}), -32004],
  ['1.0', 'GetExtendedAgentCard', () => ({}), -32601],
  ['1.0', 'CreateTaskPushNotificationConfig', (taskId) => ({ taskId, id: 'hook', url: HOOK }), -32003],
  ['1.0', 'GetTaskPushNotificationConfig', (taskId) => ({ taskId, id: 'hook' }), -32003],
  ['1.0', 'ListTaskPushNotificationConfigs', (taskId) => ({ taskId }), -32003],
  ['1.0', 'DeleteTaskPushNotificationConfig', (taskId) => ({ taskId, id: 'hook' }), -32003],
  ['0.3', 'agent/getAuthenticatedExtendedCard', () => ({}), -32601],
  [
    '0.3',
    'tasks/pushNotificationConfig/set',
    (taskId) => ({ taskId, pushNotificationConfig: { id: 'hook', url: HOOK } }),
    -32003,
  ],
  ['0.3', 'tasks/pushNotificationConfig/get', (id) => ({ id, pushNotificationConfigId: 'hook' }), -32003],
  ['0.3', 'tasks/pushNotificationConfig/list', (id) => ({ id }), -32003],
  ['0.3', 'tasks/pushNotificationConfig/delete', (id) => ({ id, pushNotificationConfigId: 'hook' }), -32003],
];

type RestCall = readonly [
  version: Version,
  method: string,
  path: (taskId: string) => string,
  body?: (taskId: string) => object,
];

/** The same over HTTP+JSON. */
const REST_CALLS: readonly RestCall[] = [
  ['1.0', 'GET', () => '/tasks'],
  ['1.0', 'GET', () => '/extendedAgentCard'],
  ['1.0', 'POST', (id) => `/tasks/${id}/pushNotificationConfigs`, () => ({ id: 'hook', url: HOOK })],
  ['1.0', 'GET', (id) => `/tasks/${id}/pushNotificationConfigs/hook`],
  ['1.0', 'GET', (id) => `/tasks/${id}/pushNotificationConfigs`],
  ['1.0', 'DELETE', (id) => `/tasks/${id}/pushNotificationConfigs/hook`],
  ['0.3', 'GET', () => '/v1/card'],
  [
    '0.3',
    'POST',
    (id) => `/v1/tasks/${id}/pushNotificationConfigs`,
    (id) => ({ name: `tasks/${id}/pushNotificationConfigs/hook`, pushNotificationConfig: { id: 'hook', url: HOOK } }),
  ],
  ['0.3', 'GET', (id) => `/v1/tasks/${id}/pushNotificationConfigs/hook`],
  ['0.3', 'GET', (id) => `/v1/tasks/${id}/pushNotificationConfigs`],
  ['0.3', 'DELETE', (id) => `/v1/tasks/${id}/pushNotificationConfigs/hook`],
];

/** Methods that agents of v0.3 know by no or by another name. */
const NO_CALL: Call = ['0.3', 'tasks/list', () => ({}), -32004];
const NO_REST_CALL: RestCall = ['0.3', 'GET', () => '/v1/tasks'];

/** A webhook that comes with a message. */
const HOOKED = [
  ['1.0', 'SendMessage', message(SECRET, { taskPushNotificationConfig: { id: 'hook', url: HOOK } })],
  ['1.0', 'SendStreamingMessage', message(SECRET, { taskPushNotificationConfig: { id: 'hook', url: HOOK } })],
  ['0.3', 'message/send', oldMessage(SECRET, { pushNotificationConfig: { id: 'hook', url: HOOK } })],
  ['0.3', 'message/stream', oldMessage(SECRET, { pushNotificationConfig: { id: 'hook', url: HOOK } })],
] as const;

describe('a visitor of a site whose visitors may chat', () => {
  let site: Visited;
  let before: number;

  beforeAll(async () => {
    site = new Visited('chat');
    await site.open();
  });
  afterAll(() => site.close());
  beforeEach(() => {
    before = agent.calls.length;
  });

  function expectNothingTold({ text }: Told): void {
    for (const secret of [SECRET, site.taskId, EXTENDED, HOOK]) expect(text).not.toContain(secret);
    expect(agent.calls.slice(before)).toEqual([]);
  }

  it.each<Call>([...CALLS, NO_CALL])('in version %s cannot %s', async (version, method, params, code) => {
    // Also not by telling another version than the one the name belongs to.
    for (const told of [version, version === '1.0' ? '0.3' : '1.0'] as const) {
      const answer = await site.rpc(told, method, params(site.taskId));
      expect(answer).toMatchObject({
        status: 200,
        body: { id: 'by-bob', error: { code, data: [{ reason: 'METHOD_DENIED' }] } },
      });
      expectNothingTold(answer);
    }
  });

  for (const [version, method, path, body] of [...REST_CALLS, NO_REST_CALL]) {
    it(`over HTTP+JSON in version ${version} cannot ${method} ${path('{task}')}`, async () => {
      const answer = await site.rest(version, method, path(site.taskId), body?.(site.taskId));
      expect(answer).toMatchObject({
        status: 403,
        body: { error: { code: 403, details: [{ reason: 'METHOD_DENIED' }] } },
      });
      expectNothingTold(answer);
    });
  }

  it.each(HOOKED)('in version %s cannot %s with a webhook inside', async (version, method, params) => {
    const answer = await site.rpc(version, method, params);
    expect(answer.body).toMatchObject({ id: 'by-bob', error: { code: -32003, data: [{ reason: 'METHOD_DENIED' }] } });
    expectNothingTold(answer);
    expect(agent.pushed).toEqual([]);
  });

  it.each([
    ['1.0', '/message:send'],
    ['1.0', '/message:stream'],
    ['0.3', '/v1/message:send'],
    ['0.3', '/v1/message:stream'],
  ] as const)('over HTTP+JSON in version %s cannot POST %s with a webhook inside', async (version, path) => {
    const configuration = { [version === '1.0' ? 'taskPushNotificationConfig' : 'pushNotification']: { url: HOOK } };
    const answer = await site.rest(version, 'POST', path, message(SECRET, configuration));
    expect(answer).toMatchObject({ status: 403, body: { error: { details: [{ reason: 'METHOD_DENIED' }] } } });
    expectNothingTold(answer);
  });

  it('can do what a chat needs, and nobody is promised more', async () => {
    const { taskId } = site;
    expect((await site.rpc('1.0', 'GetTask', { id: taskId })).body).toMatchObject({ result: { id: taskId } });
    expect((await site.rpc('0.3', 'tasks/get', { id: taskId })).body).toMatchObject({ result: { id: taskId } });
    expect(await site.rest('1.0', 'GET', `/tasks/${taskId}`)).toMatchObject({ status: 200, body: { id: taskId } });
    const { body } = await site.rest('0.3', 'GET', '/config');
    const card = (body as { agentCard?: object } | null)?.agentCard;
    expect(card).toMatchObject({
      capabilities: { streaming: true, pushNotifications: false },
      supportsAuthenticatedExtendedCard: false,
    });
  });
});

describe('a visitor of a site that lets every method cross', () => {
  let site: Visited;

  beforeAll(async () => {
    site = new Visited('all');
    await site.open();
  });
  afterAll(() => site.close());

  it('can do all of it, which is why this is not the default', async () => {
    const told: Told[] = [];
    for (const [version, method, params] of CALLS) told.push(await site.rpc(version, method, params(site.taskId)));
    for (const [index, { body }] of told.entries()) {
      expect([CALLS[index]?.[1], body?.id, body?.error]).toEqual([CALLS[index]?.[1], 'by-bob', undefined]);
    }
    const [tasks, extended, set, got, list] = told;
    expect(tasks?.text).toContain(site.taskId);
    expect(tasks?.text).toContain(SECRET);
    expect(extended?.body).toMatchObject({ result: { description: EXTENDED } });
    expect([set, got, list].every((answer) => answer?.text.includes(HOOK))).toBe(true);
    expect((await site.rpc('1.0', 'ListTaskPushNotificationConfigs', { taskId: site.taskId })).text).not.toContain(
      HOOK,
    );
  });

  it('can do all of it over HTTP+JSON', async () => {
    const told: Told[] = [];
    for (const [version, method, path, body] of REST_CALLS) {
      told.push(await site.rest(version, method, path(site.taskId), body?.(site.taskId)));
    }
    expect(told.map(({ status }) => status)).toEqual([200, 200, 201, 200, 200, 204, 200, 201, 200, 200, 204]);
    expect(told[0]?.text).toContain(SECRET);
    const cards = told.filter(({ text }) => text.includes(EXTENDED));
    expect(cards).toHaveLength(2);
    for (const { text } of cards) expect([text.includes(site.url), text.includes(agent.url)]).toEqual([true, false]);
    expect(told.filter(({ text }) => text.includes(HOOK))).toHaveLength(6);
  });

  it.each([
    ['1.0', 'GetExtendedAgentCard'],
    ['0.3', 'agent/getAuthenticatedExtendedCard'],
  ] as const)('reads an extended card by %s that leads to the site', async (version, method) => {
    const { text } = await site.rpc(version, method, {});
    expect(text).toContain(site.url);
    expect(text).toContain('HTTP+JSON');
    expect(text).not.toContain(agent.url);
  });

  it.each(HOOKED)('in version %s can %s with a webhook inside', async (version, method, params) => {
    const before = agent.pushed.length;
    expect((await site.rpc(version, method, params)).status).toBe(200);
    await expect.poll(() => agent.pushed.length).toBeGreaterThan(before);
  });

  it('hears from the agent itself that there is no "tasks/list"', async () => {
    const before = agent.calls.length;
    const { body } = await site.rpc('0.3', 'tasks/list', {});
    expect(body?.error?.code).toBe(-32601);
    expect(agent.calls.slice(before)).toEqual(['POST /a2a']);
  });
});
