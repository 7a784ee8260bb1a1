import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import type { ChatMount, VisitorOf } from '../../../src/adapters/web/chat-mount.js';
import { chatRoutes } from '../../../src/adapters/web/chat-routes.js';
import { httpJsonRoutes } from '../../../src/adapters/web/http-json-routes.js';
import { configRoute } from '../../../src/adapters/web/config-route.js';
import { sha256 } from '../../../src/adapters/system/system.js';
import { ChatConfig } from '../../../src/domain/chat/chat-config.js';
import { ChatForwarder, type ChatForwarderDependencies } from '../../../src/domain/chat/chat-forwarder.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { HttpRequest, HttpResponse, UpstreamOutcome, UpstreamRequest } from '../../../src/ports/http.js';
import type { LimitVerdict } from '../../../src/ports/visitor-limit.js';
import { BrokerWorld, SERVICE, sessionPlan, TIMEOUTS } from '../../domain/credentials/broker-fixture.js';
import { FakeDeadlines } from '../../domain/upstream/fake-deadlines.js';
import { browserRequest, bytes, site, streamed } from './browser-request.js';
import { memoryOf } from '../../support/memory.js';

const AGENT = 'https://agent.internal';
const PLATFORM = 'https://platform.example';
const CARD = {
  name: 'Agent',
  url: `${AGENT}/rpc`,
  additionalInterfaces: [{ url: `${AGENT}/old/`, transport: 'HTTP+JSON' }],
  supportedInterfaces: [
    { url: `${AGENT}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://elsewhere.example/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: `${AGENT}:443/rest`, protocolBinding: 'http+json', protocolVersion: '1.0' },
  ],
};
const BINDINGS = ['JSONRPC', 'HTTP+JSON'];
const FINE: HttpResponse = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"task":{}}' };

class RestWorld extends BrokerWorld {
  readonly settings: ReturnType<typeof site> = site();
  /** Replaces settings of the mount. */
  mount: Partial<ChatMount> = {};
  card: object = CARD;
  answer: (request: UpstreamRequest) => HttpResponse | UpstreamOutcome = () => FINE;
  readonly upstream: FakeUpstream = new FakeUpstream((request) =>
    request.path.includes('/.well-known/')
      ? { status: 200, headers: {}, body: JSON.stringify(this.card) }
      : this.answer(request),
  );
  readonly #policy: MethodPolicy;

  constructor(policy: ConstructorParameters<typeof MethodPolicy>[0] = 'chat') {
    super();
    this.#policy = new MethodPolicy(policy);
  }

  /** The calls the agent saw, besides those for its card. */
  get calls(): UpstreamRequest[] {
    return this.upstream.requests.filter(({ path }) => !path.includes('/.well-known/'));
  }

  ask(method: string, path: string, changes: Partial<HttpRequest> = {}): Promise<HttpResponse> {
    const agent = { origin: AGENT, path: '/rpc' };
    const call = this.callThrough(this.upstream);
    const shared = { call, telemetry: this.telemetry, agent, platformOrigin: PLATFORM, timeouts: TIMEOUTS };
    const directory = {
      project: () => Promise.resolve({ value: null }),
      brand: () => Promise.resolve({ value: null }),
    };
    const chatConfig = new ChatConfig({
      ...shared,
      lookupMs: 10_000,
      deadline: new FakeDeadlines().start,
      clock: this.clock,
      cardAddress: undefined,
      mediaOrigins: [],
      directory,
      hash: sha256,
      memory: memoryOf(this.clock),
    });
    const { settings } = this;
    const routes = {
      site: settings,
      auth: SERVICE,
      policy: this.#policy,
      bindings: BINDINGS,
      publicUrl: '',
      ...this.mount,
    };
    const parts: ChatForwarderDependencies = {
      ...shared,
      card: (version, caller) => chatConfig.card(version, caller),
      nextTurn: () => Promise.resolve(),
    };
    const forwarder = new ChatForwarder(parts);
    const card = configRoute({ ...routes, chatConfig, hash: sha256 }, 'agentCard');
    const handle = chatRoutes({
      ...routes,
      forwarder,
      card,
      httpJson: httpJsonRoutes({ ...routes, forwarder }),
    });
    const body = method === 'POST' ? bytes('{"message":{"parts":[]}}') : null;
    return handle(browserRequest({ method, path, body, ...changes }));
  }
}

const json = ({ body }: HttpResponse): unknown =>
  JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array));

describe('a client of HTTP+JSON', () => {
  it("finds the card at the agent's path, leading back to the site", async () => {
    const world = new RestWorld();
    for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json']) {
      const response = await world.ask('GET', path);
      expect(response.headers).toMatchObject({ vary: 'A2A-Version, Cookie', 'cache-control': 'private, max-age=60' });
      expect(json(response)).toMatchObject({
        name: 'Agent',
        additionalInterfaces: [{ url: 'https://site.example/api/a2a', transport: 'HTTP+JSON' }],
        supportedInterfaces: [
          { url: 'https://site.example/api/a2a', protocolBinding: 'JSONRPC' },
          { url: 'https://site.example/api/a2a', protocolBinding: 'http+json' },
        ],
      });
      expect(response.body).not.toContain('agent.internal');
    }
  });

  it('receives an error event of its binding when a stream breaks', async () => {
    const world = new RestWorld();
    const body = streamed(['data: 1\n\n'], new Error('reset'));
    world.answer = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
    const response = await world.ask('POST', '/message:stream');
    let text = '';
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(chunk);
    const [first, event = ''] = text.split('\n\n');
    expect(first).toBe('data: 1');
    expect(event).toMatch(/^event: error\ndata: /);
    expect(JSON.parse(event.split('\ndata: ')[1] ?? '')).toMatchObject({
      error: { code: 502, details: [{ reason: 'UPSTREAM_UNREACHABLE' }] },
    });
  });
});

describe('an extended card', () => {
  type Binding = readonly [name: string, method: string, path: string, answer: (card: object) => object];
  const bindings: readonly Binding[] = [
    ['HTTP+JSON', 'GET', '/extendedAgentCard', (card: object) => card],
    ['JSON-RPC', 'POST', '', (card: object) => ({ jsonrpc: '2.0', id: 7, result: card })],
  ];
  async function shown(card: object, [, method, path, answer]: Binding): Promise<unknown> {
    const world = new RestWorld('all');
    world.answer = () => ({ ...FINE, body: JSON.stringify(answer(card)) });
    const body = bytes('{"jsonrpc":"2.0","id":7,"method":"GetExtendedAgentCard"}');
    return json(await world.ask(method, path, method === 'POST' ? { body } : {}));
  }

  it.each(bindings)('shows by %s what the site can forward', async (...binding) => {
    const [, , , answer] = binding;
    const capabilities = { pushNotifications: true };
    const told = await shown({ ...CARD, capabilities }, binding);
    const url = 'https://site.example/api/a2a';
    const supportedInterfaces = [
      { url, protocolBinding: 'JSONRPC' },
      { url, protocolBinding: 'http+json' },
    ];
    const additionalInterfaces = [{ url, transport: 'HTTP+JSON' }];
    expect(told).toMatchObject(answer({ capabilities, supportedInterfaces, additionalInterfaces }));
  });

  it.each(bindings)('names by %s neither the agent nor the platform', async (...binding) => {
    const addresses = { documentationUrl: `${PLATFORM}/docs`, iconUrl: `${AGENT}/icon.png` };
    const told = JSON.stringify(await shown({ ...CARD, ...addresses, version: '7' }, binding));
    expect(told).toContain('"version":"7"');
    expect(told).not.toMatch(/platform\.example|agent\.internal/);
  });
});

const USER = sessionPlan(new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada', subject: 'ada' }));

/** A limit with one verdict, and the requests it counted. */
function counter(verdict: LimitVerdict = { kind: 'admitted' }) {
  const counted: string[] = [];
  const count = (kind: string) => async () => {
    counted.push(kind);
    return verdict;
  };
  return { counted, limit: { admit: count('message'), admitReading: count('reading') } };
}

const rpc = (method: string) => (world: RestWorld) =>
  world.ask('POST', '', {
    body: bytes(`{"jsonrpc":"2.0","id":7,"method":"${method}","params":{"id":"7","message":{}}}`),
  });

describe.each([
  ['JSON-RPC', rpc('message/send'), rpc('tasks/get')],
  [
    'HTTP+JSON',
    (world: RestWorld) => world.ask('POST', '/message:send'),
    (world: RestWorld) => world.ask('GET', '/tasks/7'),
  ],
])('a call by %s', (_binding, message, reading) => {
  it.each([
    ['a visitor', SERVICE, 'chatLimit', 'userLimit'],
    ['a user', USER, 'userLimit', 'chatLimit'],
  ])('of %s is counted as a message or as a reading, by its own limit', async (_who, auth, own, other) => {
    const world = new RestWorld();
    const statuses = async (limits: object) => {
      world.mount = { auth, site: site(limits) };
      return [(await message(world)).status, (await reading(world)).status];
    };
    const { counted, limit } = counter();
    expect(await statuses({ [own]: limit })).toEqual([200, 200]);
    expect(await statuses({ [other]: limit })).toEqual([200, 200]);
    expect([counted, world.calls.length]).toEqual([['message', 'reading'], 4]);
    expect(await statuses({ [own]: counter({ kind: 'refused', retryAfterMs: 1 }).limit })).toEqual([429, 429]);
    expect(world.calls).toHaveLength(4);
  });

  it.each<[string, VisitorOf, readonly string[]]>([
    ['at once', () => ({ cookie: 'v=1' }), ['message', 'reading']],
    [
      'by a lookup, which counts as a reading',
      async (_request, countLookup) => {
        await countLookup();
        return { cookie: 'v=1' };
      },
      ['message', 'reading', 'reading', 'reading'],
    ],
  ])('of a visitor who is recognized %s sets the cookie with a message only', async (_how, visitor, counts) => {
    const { counted, limit } = counter();
    const world = new RestWorld();
    world.mount = { visitor, site: site({ chatLimit: limit }) };
    expect((await message(world)).headers['set-cookie']).toBe('v=1');
    expect((await reading(world)).headers).not.toHaveProperty('set-cookie');
    expect(counted).toEqual(counts);
  });

  it('is reported with digests of its names if a listener asks for them, and releases its body', async () => {
    const world = new RestWorld();
    const settings = site({ digest: (text) => `<${text}>` });
    for (const one of [settings, world.settings]) {
      world.mount = { visitor: () => ({ key: 'ada' }), site: one };
      await message(world);
      await reading(world);
      expect(one.bodies.heldBytes).toBe(0);
    }
    expect(settings.telemetry.of('chat')).toMatchObject([
      { method: 'SendMessage', visitor: '<visitor ada>' },
      { method: 'GetTask', visitor: '<visitor ada>', task: '<task 7>' },
    ]);
    expect(world.settings.telemetry.of('chat')).toEqual([]);
  });
});

it('a message with a member in two spellings is counted as a message, whatever its method', async () => {
  const { counted, limit } = counter();
  const world = new RestWorld();
  world.mount = { site: site({ chatLimit: limit }) };
  const body = bytes('{"jsonrpc":"2.0","id":7,"method":"tasks/get","ID":8}');
  expect(await world.ask('POST', '', { body })).toMatchObject({ status: 400 });
  expect([counted, world.calls]).toEqual([['message'], []]);
});

describe('a reading by HTTP+JSON', () => {
  it.each<[string, Partial<ChatMount>, number]>([
    ['a service', {}, 200],
    ['a user', { auth: USER }, 403],
    ['a recognized visitor', { visitor: () => ({}) }, 403],
  ])('from a page of another site, in the name of %s, is %i', async (_who, mount, status) => {
    const world = new RestWorld();
    world.mount = mount;
    const headers = { host: 'site.example', 'sec-fetch-site': 'cross-site' };
    expect((await world.ask('GET', '/tasks/7', { headers })).status).toBe(status);
  });

  it('needs no body', async () => {
    const world = new RestWorld();
    const lone = { headers: {}, body: null };
    const statuses = [
      (await world.ask('GET', '/tasks/7', { headers: {}, body: bytes('x') })).status,
      (await world.ask('POST', '/tasks/7:cancel', lone)).status,
      (await world.ask('POST', '/tasks/7:cancel', { ...lone, bodyConsumed: true })).status,
      (await world.ask('POST', '/tasks/7:cancel', { body: null, bodyConsumed: true })).status,
    ];
    expect(statuses).toEqual([200, 200, 400, 500]);
  });
});

describe('a failing call of the HTTP+JSON binding', () => {
  it('returns 404 outside of the binding and 405 for a wrong method', async () => {
    const world = new RestWorld();
    expect((await world.ask('GET', '/whatever')).status).toBe(404);
    const response = await world.ask('DELETE', '/tasks/7:subscribe');
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET, POST']);
    expect((await world.ask('constructor', '/tasks/7')).status).toBe(405);
    expect(world.upstream.requests).toEqual([]);
  });

  it('returns 400 when the body is no JSON', async () => {
    const headers = { 'content-type': 'text/plain' };
    const response = await new RestWorld().ask('POST', '/message:send', { headers });
    expect(response.status).toBe(400);
    expect(response.body).toContain('application/json\\" or \\"application/a2a+json');
    expect((await new RestWorld().ask('POST', '/message:send', { body: bytes('{') })).status).toBe(400);
  });
});
