import { describe, expect, it } from 'vitest';
import type { HttpResponse, UpstreamRequest } from '../../../src/ports/http.js';
import { type AgentBffError, isAgentBffError } from '../../../src/domain/shared/errors.js';
import { REQUEST, SERVICE } from '../credentials/broker-fixture.js';
import { WatchedBody } from './chat-world.js';
import { at, CARD, ConfigWorld, FAR, NEAR, NOT_FOUND, served, session } from './config-world.js';

const ELSEWHERE = { origin: 'https://cards.example', path: '/agents/7.json' };

async function failureOf(reading: Promise<unknown>): Promise<AgentBffError> {
  const error = await reading.catch((reason: unknown) => reason);
  if (!isAgentBffError(error)) throw new Error('no failure');
  return error;
}

describe('the card is looked for', () => {
  it('below the agent and at its origin, under the new name and the old one', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => NOT_FOUND);
    const error = await failureOf(world.read());
    expect(error).toMatchObject({
      code: 'upstream_invalid_response',
      detail: 'No agent card found.',
      hint: 'Check "a2aUrl" in configureServer, or set "agentCardUrl" to the address of the card.',
      block: 'configureServer',
      fields: ['a2aUrl', 'agentCardUrl'],
    });
    expect(error.logDetail()).toBe(
      '/v1/a2a/.well-known/agent-card.json: status 404: no; /.well-known/agent-card.json: status 404: no; ' +
        '/v1/a2a/.well-known/agent.json: status 404: no; /.well-known/agent.json: status 404: no',
    );
    expect(world.paths).toEqual([NEAR, FAR, '/v1/a2a/.well-known/agent.json', '/.well-known/agent.json']);
    expect(new Set(world.upstream.requests.map(({ origin, method }) => `${method} ${origin}`))).toEqual(
      new Set(['GET https://agent.example']),
    );
  });

  it('once where the agent is at the root of its origin', async () => {
    const world = new ConfigWorld({ agent: { origin: 'https://agent.example', path: '/' } });
    world.upstream.willAnswer(() => NOT_FOUND);
    await expect(world.read()).rejects.toThrow('No agent card found');
    expect(world.paths).toEqual([FAR, '/.well-known/agent.json']);
  });

  it('at one place, however many slashes the address of the agent ends with', async () => {
    const world = new ConfigWorld({ agent: { origin: 'https://agent.example', path: '/v1/a2a//' } });
    world.upstream.willAnswer(at(NEAR, served()));
    expect((await world.read()).agentCard['name']).toBe('Agent');
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
    world.upstream.willAnswer(at(FAR, served(CARD, { etag: '"1"' })));
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(at(NEAR, served({ ...CARD, name: 'Moved' })));
    expect((await world.read()).agentCard['name']).toBe('Moved');
    expect(world.paths).toEqual([NEAR, FAR, FAR, NEAR]);
    // The tag is one of that address alone.
    expect(world.upstream.requests.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      undefined,
      '"1"',
      undefined,
    ]);
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
    ['a card it does not stand by', { ...served(), status: 404 }],
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

  it('is made again where its connection was closed before', async () => {
    const world = new ConfigWorld();
    const stale = { kind: 'failure', reason: 'reset', detail: 'closed', sent: 'on-stale-connection' } as const;
    world.upstream.willAnswer((request) => (world.paths.length === 1 ? stale : at(NEAR, served())(request)));
    expect((await world.read()).agentCard['name']).toBe('Agent');
    expect(world.paths).toEqual([NEAR, NEAR]);
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

  it('that fails is told to operators beside the others', async () => {
    const world = new ConfigWorld({
      cardAddress: ELSEWHERE,
      agent: { origin: 'https://agent.example', path: '/' },
    });
    world.upstream.willAnswer(({ origin }) =>
      origin === ELSEWHERE.origin ? { kind: 'failure', reason: 'unreachable', detail: 'ECONNREFUSED' } : NOT_FOUND,
    );
    expect((await failureOf(world.read())).logDetail()).toBe(
      '/agents/7.json: ECONNREFUSED; /.well-known/agent-card.json: status 404: no; /.well-known/agent.json: status 404: no',
    );
  });

  it('that says much leaves room in the log for what the others say', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE, agent: { origin: 'https://agent.example', path: '/' } });
    world.upstream.willAnswer(({ origin }) =>
      origin === ELSEWHERE.origin ? { ...NOT_FOUND, body: 'much '.repeat(500) } : NOT_FOUND,
    );
    const said = (await failureOf(world.read())).logDetail();
    expect(said).toMatch(
      /^\/agents\/7\.json: status 404: much much .*…; \/\.well-known\/agent-card\.json: status 404: no;/,
    );
    expect(said.length).toBeLessThan(600);
  });

  it('that shows something else than a card is quoted too', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => served('<!doctype html>sign in', { 'content-type': 'text/html' }));
    expect((await failureOf(world.read())).logDetail()).toMatch(/: status 200, text\/html: <!doctype html>sign in; /);
  });

  it('that refuses everybody says nothing about the credential', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer(({ origin }) => ({ ...NOT_FOUND, status: origin === ELSEWHERE.origin ? 401 : 404 }));
    await expect(world.read()).rejects.toMatchObject({ code: 'upstream_invalid_response' });
    expect(world.account.issued).toBe(1);
  });

  it('that works again is used again, before the address that stood in for it', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(() => served());
    expect((await world.read()).warnings).toEqual([]);
  });
});

describe('the version of the protocol', () => {
  it("is the browser's, and none where the browser names none", async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(NEAR, served()));
    for (const version of ['', '1.0', '0.3']) await world.read(version);
    expect(world.upstream.requests.map(({ headers }) => headers['a2a-version'])).toEqual([undefined, '1.0', '0.3']);
    expect(Object.keys(world.upstream.requests[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'authorization',
      'x-api-key',
    ]);
  });
});

describe('an agent that does not show its card', () => {
  const page = { 'content-type': 'text/html' };

  it.each<[string, HttpResponse, object]>([
    [
      'to an account without the role says so',
      { status: 403, headers: {}, body: 'no role' },
      { code: 'service_token_rejected', block: 'serviceAccount', upstreamStatus: 403 },
    ],
    [
      'since it is out of order says so',
      { status: 503, headers: { 'retry-after': '7' }, body: null },
      { code: 'upstream_error', upstreamStatus: 503, retryAfterMs: 7_000 },
    ],
    [
      'but a page says so',
      served('<h1>Shop</h1>', page),
      { code: 'upstream_invalid_response', detail: 'The address of the agent leads to a web page.' },
    ],
    [
      'but a sign-in page says so',
      served('<title>Sign in</title>', page),
      { code: 'upstream_invalid_response', detail: 'The address of the agent leads to a sign-in page.' },
    ],
    [
      'but leads elsewhere says so',
      { status: 302, headers: { location: '/login' }, body: null },
      { code: 'upstream_redirect', fields: ['a2aUrl', 'agentCardUrl'] },
    ],
    ['but other JSON shows none', served({ hello: 'world' }), { detail: 'No agent card found.' }],
  ])('is there, %s', async (_how, answer, expected) => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, answer));
    const error = await failureOf(world.read());
    expect(error).toMatchObject(expected);
    expect(error.logDetail()).toContain('/.well-known/agent-card.json: status ');
  });

  it('to a user without the role says so', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => ({ status: 403, headers: {}, body: null }));
    expect(await failureOf(world.read('', session('ada')))).toMatchObject({
      code: 'upstream_error',
      upstreamStatus: 403,
      detail: 'The agent does not allow the signed-in user to do this.',
    });
  });

  it('where it is configured names that field as one to mend', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer(({ origin }) =>
      origin === ELSEWHERE.origin ? { status: 403, headers: {}, body: null } : NOT_FOUND,
    );
    expect(await failureOf(world.read())).toMatchObject({
      detail: 'No agent card found.',
      hint: 'Check "a2aUrl" and "agentCardUrl" in configureServer.',
    });
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

  it("is renewed by the agent's clock", async () => {
    const world = new ConfigWorld();
    const date = new Date(world.clock.now() + 600_000).toUTCString();
    world.upstream.willAnswer((request) => {
      const answer = refusing('Bearer account-token-2')(request);
      return answer.status === 401 ? { ...answer, headers: { date } } : answer;
    });
    await world.read();
    expect(world.telemetry.of('warning').map(({ code }) => code)).toEqual(['clock_skew']);
  });

  it('again is named, with the block to check', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('none'));
    await expect(world.read()).rejects.toMatchObject({ code: 'service_token_rejected', block: 'serviceAccount' });
    expect(world.account.issued).toBe(2);
  });

  it('that the site itself chose is not renewed', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('none'));
    const auth = { kind: 'headers' as const, obtain: () => world.broker.obtain(SERVICE, REQUEST) };
    await expect(world.read('', auth)).rejects.toMatchObject({ code: 'service_token_rejected' });
    expect(world.account.issued).toBe(1);
  });

  it('at one address only is good enough for the others', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served(), { status: 401, headers: {}, body: null }));
    expect((await world.read()).agentCard['name']).toBe('Agent');
    expect(world.account.issued).toBe(1);
  });

  it('of a user is theirs to renew by signing in', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('none'));
    const error = await failureOf(world.read('', session('ada')));
    expect(error).toMatchObject({ code: 'upstream_error', upstreamStatus: 401, hint: 'Sign in again.' });
    expect(error.logDetail()).toMatch(/^\/v1\/a2a\/.well-known\/agent-card.json: status 401, no body; /);
  });

  it('that is an API key names the key', async () => {
    const world = new ConfigWorld({}, { strategy: '', hasServiceAccount: false });
    world.upstream.willAnswer(refusing('none'));
    await expect(world.read()).rejects.toMatchObject({ code: 'service_token_rejected', block: 'serviceApiKey' });
  });
});
