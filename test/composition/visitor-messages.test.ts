import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { FakeUpstream } from '../../src/adapters/fakes/fakes.js';
import type { ChatHandlerOptions } from '../../src/composition/routes/route-options.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { chatRoute } from '../support/toolkit-routes.js';

/** A site whose conversations belong to their visitors, in front of an agent that answers everything with this task. */
function site(options: ChatHandlerOptions = {}, task: object = {}) {
  const upstream = new FakeUpstream(() => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: task }),
  }));
  const config = {
    a2aUrl: 'https://agent.example/a2a',
    serviceApiKey: 'key',
    cacheKeys: [randomBytes(32).toString('hex')],
    telemetry: 'silent' as const,
  };
  const route = chatRoute(createToolkit(config, { upstream }), { conversations: 'visitor', ...options });
  const call = async (method: string, params: string): Promise<string> => {
    const body = bytes(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
    return textOf((await route(browserRequest({ body }))).body);
  };
  return { call, upstream };
}

/** Values that take a parser long: far more than a message's own length would. */
const LONG: readonly (readonly [what: string, value: string])[] = [
  ['empty objects', `[${Array(20_000).fill('{}').join()}]`],
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
  ])('of %s is refused without being parsed, and the agent is not asked', async (method, params) => {
    const { call, upstream } = site();
    await call('tasks/get', '{"id":"a"}'); // loads what such routes need
    const parse = vi.spyOn(JSON, 'parse');
    expect(await call(method, params)).toMatch(/-32602|-32001/);
    expect(Math.max(0, ...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(20_000);
    expect(upstream.requests).toHaveLength(1);
  });
});

it('the option "visitor" says who a visitor is, even if the route has a session', async () => {
  const ownsContext = vi.fn(() => true);
  const auth = () => ({ kind: 'token', accessToken: 'token', subject: 'ada' }) as const;
  const { call } = site({ auth, visitor: () => 'grace', ownsContext });
  expect(await call('message/send', '{"message":{"contextId":"c-1"}}')).toContain('"result"');
  expect(ownsContext).toHaveBeenCalledWith('c-1', expect.objectContaining({ visitor: 'grace' }));
});

it.each<[string, ChatHandlerOptions, string]>([
  ['a name twice', { metadata: { plan: 1, PLAN: 2 } }, '"PLAN"'],
  ['a value that is not JSON', { metadata: { plan: 10n as never } }, '"plan"'],
  ['a name of the site in the list of the visitor', { metadata: { plan: 1 }, visitorMetadata: ['plan'] }, '"plan"'],
  ['a name that chooses memory', { visitorMetadata: ['userId'] }, '"userId"'],
  ['a list of numbers', { visitorMetadata: [1] as never }, 'visitorMetadata'],
  ['an unknown rule', { visitorMetadata: 'keep' as never }, 'visitorMetadata'],
  ['metadata that is text', { metadata: 'gold' as never }, 'metadata'],
])('a route refuses %s when it is created', (_what, options, named) => {
  expect(() => site(options)).toThrow(named);
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
    for (const metadata of [members(1_001), `"${'é'.repeat(200)}":0`]) expect(await send(metadata)).toContain('-32602');
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

describe('tasks of 12 MB that are read at the same time', () => {
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
      for (let chunk = 0; chunk < 12; chunk += 1) {
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

  it('take 64 MB at most, and the others are served a moment later, without being held', async () => {
    const config = { a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key', telemetry: 'silent' as const };
    const options = { conversations: 'visitor', ownsContext: () => true } as const;
    const route = chatRoute(createToolkit(config, { upstream: agent() }), options);
    const read = (id: number) =>
      route(
        browserRequest({
          body: bytes(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t${String(id)}"}}`),
        }),
      );
    const responses = await Promise.all(Array.from({ length: 8 }, (_, id) => read(id)));
    const busy = responses.flatMap(({ status }, id) => (status === 503 ? [id] : []));
    expect(busy.length).toBeGreaterThan(1);
    expect(busy.length).toBeLessThan(8);
    for (const id of busy) expect((await read(id)).body).not.toBeInstanceOf(Uint8Array);
  });
});
