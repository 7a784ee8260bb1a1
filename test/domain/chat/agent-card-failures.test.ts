import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import type { HttpResponse, UpstreamRequest } from '../../../src/ports/http.js';
import { errorOf } from '../../support/error-of.js';
import { REQUEST, SERVICE } from '../credentials/broker-fixture.js';
import { ADDRESSES, at, ConfigWorld, FAR, NOT_FOUND, served, session } from './config-world.js';

const ELSEWHERE = { origin: 'https://cards.example', path: '/agents/7.json' };

describe('a failed search for the agent card', () => {
  const page = { 'content-type': 'text/html' };

  it.each<[string, HttpResponse, object]>([
    [
      'an account without the role',
      { status: 403, headers: {}, body: 'no role' },
      { code: 'service_token_rejected', block: 'serviceAccount', upstreamStatus: 403 },
    ],
    [
      'an agent that is down',
      { status: 503, headers: { 'retry-after': '7' }, body: null },
      { code: 'upstream_error', upstreamStatus: 503, retryAfterMs: 7_000 },
    ],
    [
      'a web page',
      served('<h1>Shop</h1>', page),
      { code: 'upstream_invalid_response', detail: 'The address of the agent leads to a web page.' },
    ],
    [
      'a sign-in page',
      served('<title>Sign in</title>', page),
      { code: 'upstream_invalid_response', detail: 'The address of the agent leads to a sign-in page.' },
    ],
    [
      'a redirect',
      { status: 302, headers: { location: '/login' }, body: null },
      { code: 'upstream_redirect', fields: ['a2aUrl', 'agentCardUrl'] },
    ],
    ['a redirect without a place', { status: 300, headers: {}, body: null }, { code: 'upstream_redirect' }],
    ['too many requests', { ...NOT_FOUND, status: 429 }, { code: 'upstream_error', upstreamStatus: 429 }],
    ['an internal error', { ...NOT_FOUND, status: 500 }, { code: 'upstream_error', upstreamStatus: 500 }],
    ['a request it does not read', { ...NOT_FOUND, status: 400 }, { detail: 'No agent card found.' }],
    ['an unrequested 304', { status: 304, headers: {}, body: null }, { detail: 'No agent card found.' }],
    ['other JSON', served({ hello: 'world' }), { detail: 'No agent card found.' }],
  ])('reports the cause: %s', async (_how, answer, expected) => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, answer));
    const error = await errorOf(world.card());
    expect(error).toMatchObject(expected);
    expect(error.logDetail()).toContain('/.well-known/agent-card.json: status ');
    expect(world.account.issued).toBe(1);
  });

  it('names the configured field to correct', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer(({ origin }) =>
      origin === ELSEWHERE.origin ? { status: 403, headers: {}, body: null } : NOT_FOUND,
    );
    expect(await errorOf(world.card())).toMatchObject({
      detail: 'No agent card found.',
      hint: 'Check "a2aUrl" and "agentCardUrl" in configureServer.',
    });
  });
});

describe('a credential rejected at the card', () => {
  const refusing =
    (good: string) =>
    (request: UpstreamRequest): HttpResponse =>
      request.headers['authorization'] === good ? at(FAR, served())(request) : { status: 401, headers: {}, body: null };

  it('is renewed once', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('Bearer account-token-2'));
    expect((await world.card())?.['name']).toBe('Agent');
    expect(world.account.issued).toBe(2);
    const calls = world.paths.length;
    await world.read();
    expect(world.paths).toHaveLength(calls);
  });

  it("without a user's name may be renewed for another user, whose card is not cached for the old token", async () => {
    const world = new ConfigWorld();
    const first = { kind: 'token', accessToken: 'one' } as const;
    const source = new FakeSessionTokenSource(first);
    world.upstream.willAnswer((request) => {
      if (request.headers['authorization'] !== 'Bearer one') return at(FAR, served())(request);
      source.session = { kind: 'token', accessToken: 'two' };
      return { status: 401, headers: {}, body: null };
    });
    const auth = { ...session(), source } as typeof SERVICE;
    expect((await world.card('', auth))?.['name']).toBe('Agent');
    source.session = first;
    await world.card('', auth);
    const tokens = world.upstream.requests.map(({ headers }) => headers['authorization']);
    expect(tokens.filter((token) => token === 'Bearer one').length).toBeGreaterThan(ADDRESSES.length);
  });

  it('is not renewed when the site made it', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('none'));
    const auth = { kind: 'headers' as const, obtain: () => world.broker.obtain(SERVICE, REQUEST) };
    await expect(world.card('', auth)).rejects.toMatchObject({ code: 'service_token_rejected' });
    expect(world.account.issued).toBe(1);
  });

  it('is still used at the other addresses', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served(), { status: 401, headers: {}, body: null }));
    expect((await world.card())?.['name']).toBe('Agent');
    expect(world.account.issued).toBe(1);
  });

  it('is reported to a user with the hint to sign in', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(refusing('none'));
    const error = await errorOf(world.card('', session('ada')));
    expect(error).toMatchObject({ code: 'upstream_error', upstreamStatus: 401, hint: 'Sign in again.' });
    expect(error.logDetail()).toMatch(/^\/v1\/a2a\/.well-known\/agent-card.json: status 401, no body; /);
  });
});
