import { describe, expect, it } from 'vitest';
import { FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { chatRoutes, httpJsonRoutes } from '../../../src/adapters/web/chat-routes.js';
import { configRoute } from '../../../src/adapters/web/config-route.js';
import { sha256 } from '../../../src/adapters/system/system.js';
import { ChatConfig } from '../../../src/domain/chat/chat-config.js';
import { ChatForwarder, type ChatForwarderDependencies } from '../../../src/domain/chat/chat-forwarder.js';
import { HttpJsonBinding } from '../../../src/domain/chat/http-json-binding.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { HttpRequest, HttpResponse, UpstreamOutcome, UpstreamRequest } from '../../../src/ports/http.js';
import { BrokerWorld, SERVICE, TIMEOUTS } from '../../domain/credentials/broker-fixture.js';
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
    const routes = { site: this.settings, auth: SERVICE, policy: this.#policy, bindings: BINDINGS, publicUrl: '' };
    const parts: ChatForwarderDependencies = { ...shared, card: (version, caller) => chatConfig.card(version, caller) };
    const binding = new HttpJsonBinding(parts);
    const card = configRoute({ ...routes, chatConfig, hash: sha256 }, 'agentCard');
    const handle = chatRoutes({
      ...routes,
      forwarder: new ChatForwarder(parts),
      card,
      httpJson: httpJsonRoutes({ ...routes, binding }),
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
    expect((await new RestWorld().ask('POST', '/message:send', { headers })).status).toBe(400);
    expect((await new RestWorld().ask('POST', '/message:send', { body: bytes('{') })).status).toBe(400);
  });
});
