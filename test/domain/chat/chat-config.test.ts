import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fake-session-token-source.js';
import { FakeUpstream } from '../../../src/adapters/fakes/fake-upstream.js';
import { ChatConfig, type ChatConfigDependencies, type ChatEntrance } from '../../../src/domain/chat/chat-config.js';
import { Credential } from '../../../src/domain/credentials/credential.js';
import type { HttpResponse, UpstreamRequest } from '../../../src/ports/http.js';
import { secret } from '../../../src/domain/secret.js';
import { BrokerWorld, REQUEST, SERVICE } from '../credentials/broker-world.js';
import { WatchedBody } from './chat-world.js';

const CARD = {
  name: 'Agent',
  url: 'https://agent.internal/a2a',
  capabilities: { streaming: true, pushNotifications: true },
};
const ENTRANCE: ChatEntrance = {
  url: 'https://site.example/api/a2a',
  path: '/api/a2a',
  policy: { allows: () => true },
  bindings: ['JSONRPC'],
};
const NEAR = '/v1/a2a/.well-known/agent-card.json';
const FAR = '/.well-known/agent-card.json';
const NOT_FOUND: HttpResponse = { status: 404, headers: {}, body: 'no' };
const ELSEWHERE = { origin: 'https://cards.example', path: '/agents/7.json' };

const served = (card: unknown = CARD, headers: Record<string, string> = {}): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof card === 'string' ? card : JSON.stringify(card),
});

/** An agent whose card is at `FAR`, until a test says otherwise. */
class ConfigWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream(at(FAR, served()));
  readonly asked: Credential[] = [];
  readonly config: ChatConfig;

  constructor(
    settings: Partial<ChatConfigDependencies> = {},
    credentials: ConstructorParameters<typeof BrokerWorld>[0] = {},
  ) {
    super(credentials);
    this.config = new ChatConfig({
      clock: this.clock,
      upstream: this.upstream,
      credentials: this.broker,
      agent: { origin: 'https://agent.example', path: '/v1/a2a/' },
      cardAddress: undefined,
      directory: ({ credential }) => {
        this.asked.push(credential);
        return {
          project: () => Promise.resolve({ value: 'proj-1' }),
          brand: () => Promise.resolve({ value: ':root{}' }),
        };
      },
      hash: (text) => `#${text}`,
      headersMs: 10_000,
      bodyIdleMs: 5_000,
      maxEntries: 100,
      ...settings,
    });
  }

  read(version = '', plan: Parameters<ChatConfig['record']>[2] = SERVICE) {
    return this.config.record(version, REQUEST, plan, ENTRANCE);
  }

  get paths(): string[] {
    return this.upstream.requests.map(({ path }) => path);
  }
}

function at(path: string, answer: HttpResponse, otherwise: HttpResponse = NOT_FOUND) {
  return (request: UpstreamRequest): HttpResponse => (request.path === path ? answer : otherwise);
}

function session(subject?: string) {
  const found = { kind: 'token', accessToken: `token-of-${subject ?? 'somebody'}` } as const;
  const source = new FakeSessionTokenSource(subject === undefined ? found : { ...found, subject });
  return { kind: 'session', source, audience: '', apiKey: undefined, required: true } as unknown as typeof SERVICE;
}

describe('the chat configuration', () => {
  it('is the rewritten card, the project, the brand, and how to reach the chat', async () => {
    expect(await new ConfigWorld().read()).toEqual({
      agentCard: { ...CARD, url: 'https://site.example/api/a2a', preferredTransport: 'JSONRPC' },
      serviceProjectId: 'proj-1',
      brandCss: ':root{}',
      supportsStreaming: true,
      a2aEndpoint: '/api/a2a',
      warnings: [],
    });
  });

  it.each([
    ['absent', {}, false],
    ['false', { capabilities: { streaming: false } }, false],
    ['no boolean', { capabilities: { streaming: 'true' } }, false],
    ['null', { capabilities: null }, false],
    ['true', { capabilities: { streaming: true } }, true],
  ])('says whether the agent streams: its flag is %s', async (_what, fields, streams) => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served({ name: 'a', url: 'https://agent.internal', ...fields })));
    expect((await world.read()).supportsStreaming).toBe(streams);
  });

  it('does without project and brand, and warns', async () => {
    const directory = () => ({
      project: () => Promise.resolve({ value: null, warning: 'project_forbidden' }),
      brand: () => Promise.reject(new Error('bug')),
    });
    expect(await new ConfigWorld({ directory }).read()).toMatchObject({
      serviceProjectId: null,
      brandCss: '',
      warnings: ['project_forbidden', 'brand_unavailable'],
    });
  });

  it("is looked up with the caller's credential, all of it", async () => {
    const world = new ConfigWorld();
    await world.read('', session('ada'));
    expect(world.asked[0]?.headers).toEqual({ authorization: 'Bearer token-of-ada', 'x-api-key': 'site-key' });
    expect(world.upstream.requests[0]?.headers).toEqual({
      accept: 'application/json',
      authorization: 'Bearer token-of-ada',
      'x-api-key': 'site-key',
    });
  });

  it('is looked up with the headers the site makes, and nothing else', async () => {
    const world = new ConfigWorld();
    const credential = credentialOf({ 'x-own': '1' });
    await world.read('', { kind: 'headers', obtain: () => Promise.resolve(credential) });
    expect(world.upstream.requests[0]?.headers).toEqual({ accept: 'application/json', 'x-own': '1' });
    expect(world.asked).toEqual([credential]);
    expect(world.account.issued).toBe(0);
  });

  it('without a configured agent names the field', async () => {
    await expect(new ConfigWorld({ agent: undefined }).read()).rejects.toMatchObject({
      code: 'service_auth_failed',
      fields: ['a2aUrl'],
    });
  });

  it('without a session asks nobody', async () => {
    const world = new ConfigWorld();
    const plan = { ...session(), source: new FakeSessionTokenSource() } as typeof SERVICE;
    await expect(world.read('', plan)).rejects.toMatchObject({ code: 'session_required' });
    expect(world.paths).toEqual([]);
  });
});

describe('the card is looked for', () => {
  it('below the agent and at its origin, under the new name and the old one', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => NOT_FOUND);
    await expect(world.read()).rejects.toMatchObject({
      code: 'upstream_invalid_response',
      fields: ['a2aUrl', 'agentCardUrl'],
    });
    expect(world.paths).toEqual([NEAR, FAR, '/v1/a2a/.well-known/agent.json', '/.well-known/agent.json']);
    expect(new Set(world.upstream.requests.map(({ origin, method }) => `${method} ${origin}`))).toEqual(
      new Set(['GET https://agent.example']),
    );
  });

  it('once where the agent is at the root of its origin', async () => {
    const world = new ConfigWorld({ agent: { origin: 'https://agent.example', path: '/' } });
    world.upstream.willAnswer(() => NOT_FOUND);
    await expect(world.read()).rejects.toThrow('shows no agent card');
    expect(world.paths).toEqual([FAR, '/.well-known/agent.json']);
  });

  it('at the address that had it last time', async () => {
    const world = new ConfigWorld();
    await world.read();
    world.clock.advance(60_000);
    await world.read('1.0');
    expect(world.paths).toEqual([NEAR, FAR, FAR]);
  });

  it('everywhere again when that address has it no more', async () => {
    const world = new ConfigWorld();
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(at(NEAR, served({ ...CARD, name: 'Moved' })));
    expect((await world.read()).agentCard['name']).toBe('Moved');
    expect(world.paths).toEqual([NEAR, FAR, FAR, NEAR]);
  });

  it.each([
    ['a web page', served('<!doctype html>')],
    ['some other JSON', served({ hello: 'world' })],
    ['a list', served([CARD])],
    ['half a card', served('{"name":')],
    ['too much', served(JSON.stringify({ ...CARD, x: 'x'.repeat(1_048_577) }))],
    ['a redirect', { status: 302, headers: { location: 'https://evil.example' }, body: null }],
    ['a compressed answer nobody asked for', served(CARD, { 'content-encoding': 'gzip' })],
    ['an answer of its own', { ...NOT_FOUND, status: 500 }],
    ['"not modified" although nobody had one', { status: 304, headers: {}, body: null }],
  ])('further on when an address has %s', async (_what, answer) => {
    const world = new ConfigWorld();
    const body = typeof answer.body === 'string' ? new WatchedBody(answer.body) : null;
    world.upstream.willAnswer(at(NEAR, { ...answer, body }, served()));
    expect((await world.read()).agentCard['name']).toBe('Agent');
    expect(world.paths).toEqual([NEAR, FAR]);
  });

  it('no further at an origin that does not answer', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'unreachable', detail: 'ECONNREFUSED 10.0.0.1' }));
    const failed = world.read();
    await expect(failed).rejects.toMatchObject({ code: 'upstream_unreachable', retryable: true });
    await expect(failed).rejects.not.toThrow(/10\.0\.0\.1/);
    expect(world.paths).toEqual([NEAR]);
  });

  it('and a silent agent is a timeout', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'timeout', detail: '' }));
    await expect(world.read()).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it('of an agent without JSON-RPC is refused', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served({ ...CARD, preferredTransport: 'GRPC' })));
    await expect(world.read()).rejects.toMatchObject({ code: 'agent_binding_unsupported' });
  });
});

describe('a configured card address', () => {
  it('is asked first, and never sees a credential of the agent', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer(at(ELSEWHERE.path, served()));
    expect((await world.read('1.0')).warnings).toEqual([]);
    expect(world.upstream.requests).toMatchObject([{ origin: 'https://cards.example', path: '/agents/7.json' }]);
    expect(world.upstream.requests[0]?.headers).toEqual({ accept: 'application/json', 'a2a-version': '1.0' });
  });

  it("on the agent's own origin gets the credential", async () => {
    const world = new ConfigWorld({ cardAddress: { origin: 'https://AGENT.example', path: '/card' } });
    world.upstream.willAnswer(at('/card', served()));
    await world.read();
    expect(world.upstream.requests[0]?.headers['authorization']).toBe('Bearer account-token-1');
  });

  it("that fails is replaced by the agent's own card, with a warning", async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer((request) =>
      request.origin === ELSEWHERE.origin
        ? { kind: 'failure', reason: 'unreachable', detail: '' }
        : at(FAR, served())(request),
    );
    expect((await world.read()).warnings).toEqual(['agent_card_url_unavailable']);
    expect(world.paths).toEqual([ELSEWHERE.path, NEAR, FAR]);
  });

  it('that refuses everybody says nothing about the credential', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer(({ origin }) => ({ ...NOT_FOUND, status: origin === ELSEWHERE.origin ? 401 : 404 }));
    await expect(world.read()).rejects.toMatchObject({ code: 'upstream_invalid_response' });
    expect(world.account.issued).toBe(1);
  });

  it('that works again is used again', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(at(ELSEWHERE.path, served()));
    expect((await world.read()).warnings).toEqual([]);
  });
});

describe('the version of the protocol', () => {
  it("is the browser's, and none where the browser names none", async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(NEAR, served()));
    for (const version of ['', '1.0', '0.3']) await world.read(version);
    expect(world.upstream.requests.map(({ headers }) => headers['a2a-version'])).toEqual([undefined, '1.0', '0.3']);
    expect(Object.keys(world.upstream.requests[0]?.headers ?? {})).not.toContain('a2a-version');
  });
});

describe('a card that is known', () => {
  const near = (card: unknown, headers: Record<string, string> = {}) => at(NEAR, served(card, headers));

  it.each([
    ['a minute when the agent says nothing', {}, 60_000],
    ['as long as the agent says', { 'cache-control': 'public, max-age=120' }, 120_000],
    ['five minutes at most', { 'cache-control': 'max-age=3600' }, 300_000],
  ])('is good for %s', async (_what, headers, lifeMs) => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD, headers));
    await world.read();
    world.clock.advance(lifeMs - 1);
    await world.read();
    expect(world.paths).toHaveLength(1);
    world.clock.advance(1);
    await world.read();
    expect(world.paths).toHaveLength(2);
  });

  it.each(['no-store', 'private, no-cache', 'max-age=0'])(
    'is asked for each time when the agent says %s',
    async (control) => {
      const world = new ConfigWorld();
      world.upstream.willAnswer(near(CARD, { 'cache-control': control }));
      await world.read();
      await world.read();
      expect(world.paths).toEqual([NEAR, NEAR]);
    },
  );

  it('is asked for by its tag, and good again when it did not change', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD, { etag: 'W/"1"', 'cache-control': 'max-age=100' }));
    await world.read();
    world.clock.advance(100_000);
    world.upstream.willAnswer(at(NEAR, { status: 304, headers: {}, body: null }));
    expect((await world.read()).agentCard['name']).toBe('Agent');
    world.clock.advance(99_999);
    await world.read();
    expect(world.upstream.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, 'W/"1"']);
  });

  it('is replaced when it changed', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD, { etag: '"1"' }));
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(near({ ...CARD, name: 'New' }, { etag: '"2"' }));
    expect((await world.read()).agentCard['name']).toBe('New');
  });

  it('that cannot be asked for again is not shown on', async () => {
    const world = new ConfigWorld();
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'reset', detail: '' }));
    await expect(world.read()).rejects.toMatchObject({ code: 'upstream_unreachable' });
  });

  it('is known for one version and one caller only', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD));
    const ownKey: typeof SERVICE = { kind: 'service', strategy: '', apiKey: secret('other-key') };
    for (const plan of [SERVICE, ownKey, session('ada'), session('bob')]) {
      for (const version of ['', '1.0']) await world.read(version, plan);
    }
    expect(world.paths).toHaveLength(8);
    for (const plan of [SERVICE, ownKey, session('ada'), session('bob')]) await world.read('1.0', plan);
    expect(world.paths).toHaveLength(8);
  });

  it("stays known when the service's token is a new one", async () => {
    const world = new ConfigWorld();
    world.account.lifeMs = 30_000;
    await world.read();
    world.clock.advance(31_000);
    await world.read();
    expect(world.asked.map(({ token }) => token)).toEqual(['account-token-1', 'account-token-2']);
    expect(world.paths).toEqual([NEAR, FAR]);
  });

  it('of a caller without a name is known for exactly these headers', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD));
    const own = (value: string) =>
      ({ kind: 'headers', obtain: () => Promise.resolve(credentialOf({ 'x-own': value })) }) as const;
    for (const value of ['1', '2', '1']) await world.read('', own(value));
    expect(world.paths).toEqual([NEAR, NEAR]);
  });

  it('makes room for newer ones', async () => {
    const world = new ConfigWorld({ maxEntries: 2 });
    world.upstream.willAnswer(near(CARD));
    for (const version of ['1', '2', '3', '3', '2', '1']) await world.read(version);
    expect(world.upstream.requests.map(({ headers }) => headers['a2a-version'])).toEqual(['1', '2', '3', '1']);
  });

  it('is fetched once for all who wait for it, and again after a failure', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => NOT_FOUND);
    const failed = await Promise.allSettled([world.read(), world.read()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(world.paths).toHaveLength(4);
    world.upstream.willAnswer(near(CARD));
    await Promise.all([world.read(), world.read(), world.read()]);
    expect(world.paths).toHaveLength(5);
  });

  it("is fetched on nobody's signal", async () => {
    const world = new ConfigWorld();
    const leaving = new AbortController();
    leaving.abort();
    await world.config.record('', { ...REQUEST, signal: leaving.signal } as typeof REQUEST, SERVICE, ENTRANCE);
    expect(world.upstream.requests[0]?.signal.aborted).toBe(false);
  });
});

describe('a credential the agent refuses for its card', () => {
  const refusing =
    (good: string) =>
    (request: UpstreamRequest): HttpResponse =>
      request.headers['authorization'] === good ? at(FAR, served())(request) : { status: 401, headers: {}, body: null };

  it('is renewed once', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('Bearer account-token-2'));
    expect((await world.read()).agentCard['name']).toBe('Agent');
    expect(world.account.issued).toBe(2);
  });

  it('again is named, with the block to check', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('none'));
    await expect(world.read()).rejects.toMatchObject({ code: 'service_token_rejected', block: 'serviceAccount' });
    expect(world.account.issued).toBe(2);
  });

  it('at one address only is good enough for the others', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served(), { status: 401, headers: {}, body: null }));
    expect((await world.read()).agentCard['name']).toBe('Agent');
    expect(world.account.issued).toBe(1);
  });

  it('of a user is a failing card', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('none'));
    await expect(world.read('', session('ada'))).rejects.toMatchObject({ code: 'upstream_invalid_response' });
  });

  it('that is an API key names the key', async () => {
    const world = new ConfigWorld({}, { strategy: '', hasServiceAccount: false });
    world.upstream.willAnswer(refusing('none'));
    await expect(world.read()).rejects.toMatchObject({ code: 'service_token_rejected', block: 'serviceApiKey' });
  });
});

function credentialOf(headers: Record<string, string>): Credential {
  return new Credential({
    kind: 'session',
    headers,
    identity: undefined,
    block: 'getHeaders',
    cacheKey: undefined,
    token: undefined,
  });
}
