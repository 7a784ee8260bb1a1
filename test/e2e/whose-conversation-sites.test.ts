import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { OLD, openSite, Person, SECRET, visitor } from '../support/conversation-people.js';
import { AGENTS, type RememberingAgent } from '../support/remembering-agents.js';

describe('a site', () => {
  let agent: RememberingAgent;
  beforeAll(async () => {
    agent = await AGENTS['@a2a-js/sdk 0.3.14']!();
  });
  afterAll(() => agent.close());

  it('with "open" forwards messages unchanged, sets no cookie and admits anyone with the id', async () => {
    const site = await openSite(agent, {});
    const alice = new Person(site.url, OLD);
    const first = await alice.say(SECRET, { contextId: 'support' });
    const bob = new Person(site.url, OLD);
    const seen = await bob.say('hello', { contextId: 'support', metadata: { plan: 'free' } });
    expect([first.contextId, seen.text]).toEqual(['support', expect.stringContaining('XQ-4711')]);
    expect([alice.cookie, bob.cookie, agent.calls.at(-1)]).toEqual(['', '', expect.stringContaining('"plan":"free"')]);
    await site.close();
  });

  it('refuses users without a key for them, and names the missing setting', async () => {
    const toolkit = createToolkit({ a2aUrl: agent.a2aUrl, serviceApiKey: 'key' });
    expect(() => createNodeHandler({ toolkit, a2a: { conversations: 'visitor', visitor } })).toThrow(/cacheKeys/);
    await toolkit.close();
  });

  it.each([
    ['visitor', visitor],
    ['ownsContext', () => true],
    ['visitorMaxAge', 60],
  ])('refuses the option "%s" for open conversations, which it would not protect', async (name, value) => {
    const toolkit = createToolkit({ a2aUrl: agent.a2aUrl, serviceApiKey: 'key' });
    expect(() => createNodeHandler({ toolkit, a2a: { [name]: value } })).toThrow(`The option "${name}" has no effect`);
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
    // A cookie of 1970 is due, and still only a message renews it.
    alice.cookie = alice.cookie.replace(/\w+$/, '1');
    const later = await alice.rpc('tasks/get', { id: taskId });
    expect([later.text, later.setCookie]).toEqual([expect.stringContaining('hello'), []]);
    expect((await alice.say('again')).seen.setCookie).toHaveLength(1);
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

  it('admits to a conversation of its own records', async () => {
    const ownsContext = (contextId: string, { visitor: user }: { readonly visitor: string | null }) =>
      contextId === 'record-7' && user === null;
    const site = await openSite(agent, { conversations: 'visitor', ownsContext });
    const alice = new Person(site.url, OLD);
    expect((await alice.say('hello', { contextId: 'record-7' })).contextId).toBe('record-7');
    expect((await alice.say('hello', { contextId: 'record-8' })).text).toContain('CONVERSATION_UNKNOWN');
    await site.close();
  });

  it.each(['tasks/list', 'tasks/export', 'tasks/pushNotificationConfig/set', 'ListTasks', 'constructor'])(
    'does not forward %s, even where every method crosses',
    async (method) => {
      const site = await openSite(agent, { conversations: 'visitor' }, { a2aMethods: 'all' });
      const alice = new Person(site.url, OLD);
      const { contextId } = await alice.say('hello');
      const before = agent.calls.length;
      expect((await alice.rpc(method, { contextId })).text).toContain('METHOD_DENIED');
      expect(agent.calls.length).toBe(before);
      await site.close();
    },
  );

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

  it.each([
    ['open', ['7', 'once']],
    ['visitor', [undefined, undefined]],
  ] as const)('with "%s" forwards fields that name a stream or a repetition: %j', async (conversations, expected) => {
    const seen: unknown[] = [];
    const recording = await listeningSite((request, response) => {
      if (request.method === 'POST') seen.push(request.headers['last-event-id'], request.headers['idempotency-key']);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}');
    });
    const site = await openSite({ a2aUrl: `${recording.url}/` }, { conversations });
    const params = { message: OLD.message('hello') };
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params };
    await new Person(site.url, OLD).call({ headers: { 'last-event-id': '7', 'idempotency-key': 'once' }, body });
    expect(seen).toEqual(expected);
    await site.close();
    await recording.close();
  });

  it('reports an agent that is down as unreachable', async () => {
    const gone = await openSite({ ...agent, a2aUrl: 'http://127.0.0.1:9/' }, { conversations: 'visitor' });
    const alice = new Person(gone.url, OLD);
    for (const method of ['tasks/get', 'tasks/cancel']) {
      expect((await alice.rpc(method, { id: 'x' })).text).toContain('UPSTREAM_UNREACHABLE');
    }
    await gone.close();
  });
});
