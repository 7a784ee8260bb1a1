import { createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/** A call of another visitor: JSON-RPC with a method and params, or HTTP+JSON with an HTTP method, a path and a body. */
type Call = (taskId: string) => readonly [version: '0.3' | '1.0', method: string, path: string, body?: object];
const rpc = (version: '0.3' | '1.0', method: string, params: (taskId: string) => object): Call => {
  return (taskId) => [version, 'POST', '', { jsonrpc: '2.0', id: 'by-bob', method, params: params(taskId) }];
};

/** Calls with the ids of another visitor. Without protection, each would succeed in this order. */
const CALLS: Readonly<Record<string, Call>> = {
  ListTasks: rpc('1.0', 'ListTasks', () => ({})),
  GetExtendedAgentCard: rpc('1.0', 'GetExtendedAgentCard', () => ({})),
  'agent/getAuthenticatedExtendedCard': rpc('0.3', 'agent/getAuthenticatedExtendedCard', () => ({})),
  CreateTaskPushNotificationConfig: rpc('1.0', 'CreateTaskPushNotificationConfig', (taskId) => ({
    taskId,
    id: 'hook',
    url: HOOK,
  })),
  'tasks/pushNotificationConfig/get': rpc('0.3', 'tasks/pushNotificationConfig/get', (id) => ({
    id,
    pushNotificationConfigId: 'hook',
  })),
  ListTaskPushNotificationConfigs: rpc('1.0', 'ListTaskPushNotificationConfigs', (taskId) => ({ taskId })),
  DeleteTaskPushNotificationConfig: rpc('1.0', 'DeleteTaskPushNotificationConfig', (taskId) => ({
    taskId,
    id: 'hook',
  })),
  'GET /tasks': () => ['1.0', 'GET', '/tasks'],
  'GET /extendedAgentCard': () => ['1.0', 'GET', '/extendedAgentCard'],
  'GET /v1/card': () => ['0.3', 'GET', '/v1/card'],
  'POST /tasks/{id}/pushNotificationConfigs': (id) => [
    '1.0',
    'POST',
    `/tasks/${id}/pushNotificationConfigs`,
    { id: 'hook', url: HOOK },
  ],
  'GET /v1/tasks/{id}/pushNotificationConfigs': (id) => ['0.3', 'GET', `/v1/tasks/${id}/pushNotificationConfigs`],
};

/** A message that registers a webhook. */
const HOOKED: Call = () => ['1.0', 'POST', '', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message(HOOK) }];

function message(url?: string): object {
  const configuration = url === undefined ? {} : { taskPushNotificationConfig: { id: 'hook', url } };
  const parts = [{ text: SECRET }];
  return { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts }, configuration };
}

/** A site whose visitors share one API key, so the agent sees one user. */
class Visited {
  readonly #toolkit: Toolkit;
  #site: Site | undefined;
  /** The first visitor's task. */
  taskId = '';

  constructor(a2aMethods: ServerConfig['a2aMethods']) {
    // Each policy has its own user at the agent, so the tasks are kept apart.
    const serviceApiKey = `key-of-a-site-with-${String(a2aMethods)}`;
    const bindings = ['JSONRPC', 'HTTP+JSON'] as const;
    this.#toolkit = createToolkit({ a2aUrl: agent.a2aUrl, serviceApiKey, a2aMethods, bindings });
  }

  get url(): string {
    return `${this.#site?.url ?? ''}/api/a2a`;
  }

  async open(): Promise<void> {
    this.#site = await expressSite('a site', express).start({ toolkit: this.#toolkit });
    const { text } = await this.make(rpc('1.0', 'SendMessage', () => message()));
    this.taskId = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] ?? '';
    expect(this.taskId).not.toBe('');
  }

  async close(): Promise<void> {
    await this.#site?.close();
    await this.#toolkit.close();
  }

  async make(call: Call): Promise<{ readonly status: number; readonly text: string }> {
    const [version, method, path, body] = call(this.taskId);
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        // Clients of v0.3 do not know the field.
        ...(version === '1.0' ? { 'a2a-version': '1.0' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }
}

describe('a visitor of a site with a2aMethods "chat"', () => {
  let site: Visited;

  beforeAll(async () => {
    site = new Visited('chat');
    await site.open();
  });
  afterAll(() => site.close());

  it.each(Object.entries({ ...CALLS, 'SendMessage with a webhook': HOOKED }))(
    'cannot call %s, and the agent is not called',
    async (name, call) => {
      const before = agent.calls.length;
      const { status, text } = await site.make(call);
      expect([status, text]).toEqual([name.includes(' /') ? 403 : 200, expect.stringContaining('METHOD_DENIED')]);
      for (const secret of [SECRET, site.taskId, EXTENDED, HOOK]) expect(text).not.toContain(secret);
      expect(agent.calls.slice(before)).toEqual([]);
      expect(agent.pushed).toEqual([]);
    },
  );

  it('can read a task by its id, and gets a card that offers neither webhooks nor an extended card', async () => {
    const byRpc = await site.make(rpc('0.3', 'tasks/get', (id) => ({ id })));
    const byRest = await site.make((id) => ['1.0', 'GET', `/tasks/${id}`]);
    for (const { text } of [byRpc, byRest]) expect(text).toContain(SECRET);
    const { text } = await site.make(() => ['0.3', 'GET', '/config']);
    const { agentCard } = JSON.parse(text) as { agentCard: object };
    expect(agentCard).toMatchObject({
      capabilities: { streaming: true, pushNotifications: false },
      supportsAuthenticatedExtendedCard: false,
    });
  });
});

it('a visitor of a site with a2aMethods "all" reads every task and card, and sets webhooks', async () => {
  const site = new Visited('all');
  await site.open();
  const told: Record<string, { readonly status: number; readonly text: string }> = {};
  for (const [name, call] of Object.entries(CALLS)) told[name] = await site.make(call);
  for (const [name, { status, text }] of Object.entries(told)) {
    expect([name, status < 300, text]).toEqual([name, true, expect.not.stringContaining('"error"')]);
    if (/ListTasks|GET \/tasks$/.test(name)) expect(text).toContain(SECRET);
    if (name.endsWith('ard')) {
      expect([text.includes(EXTENDED), text.includes(site.url), text.includes(agent.url)]).toEqual([true, true, false]);
    }
    if (/Config/.test(name) && !name.startsWith('Delete')) expect(text).toContain(HOOK);
  }
  await site.make(HOOKED);
  await expect.poll(() => agent.pushed.length).toBeGreaterThan(0);
  await site.close();
});
