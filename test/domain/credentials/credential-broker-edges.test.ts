import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { secret } from '../../../src/domain/shared/secret.js';
import type { SessionTokenSource } from '../../../src/ports/session-token-source.js';
import { BrokerWorld, REQUEST, SERVICE, sessionPlan } from './broker-fixture.js';
import { failure } from './token-fixture.js';
import { mayHoldSession, type RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import { errorOf } from '../../support/error-of.js';

const KEY_ALONE = { kind: 'api-key', apiKey: undefined } as const;
const [TOKEN, KEY] = [{ authorization: 'Bearer fixed' }, { 'x-api-key': 'site-key' }];
const BOTH = { ...TOKEN, ...KEY };
const nobody = { ...sessionPlan(new FakeSessionTokenSource({ kind: 'no-session' })), required: false } as const;

const never = (): Promise<never> => Promise.reject(new Error('unused'));

/** A session with a new token for each call. */
function rotating(): SessionTokenSource {
  let calls = 0;
  return {
    getToken: () => Promise.resolve({ kind: 'token', accessToken: `ada-${String((calls += 1))}`, subject: 'ada' }),
  };
}

describe('the API key alone', () => {
  it("is the configured one, or the route's own", async () => {
    const { broker, loads } = new BrokerWorld();
    const credentials = [
      await broker.obtain(KEY_ALONE, REQUEST),
      await broker.obtain({ ...KEY_ALONE, apiKey: secret('route-key') }, REQUEST),
    ];
    expect(credentials.map(({ headers }) => headers)).toEqual([
      { 'x-api-key': 'site-key' },
      { 'x-api-key': 'route-key' },
    ]);
    expect(credentials[0]).toMatchObject({
      kind: 'api-key',
      owner: { principal: '["api-key","hash(agent-bff API key site-key)"]' },
      block: 'serviceApiKey',
    });
    expect(loads).toEqual([]);
  });

  it('is used for visitors without a session on optional routes', async () => {
    const { headers } = await new BrokerWorld().broker.obtain(nobody, REQUEST);
    expect(headers).toEqual({ 'x-api-key': 'site-key' });
  });

  it.each([KEY_ALONE, nobody])('is reported as missing when it is not configured', async (auth) => {
    await expect(new BrokerWorld({ apiKey: undefined }).broker.obtain(auth, REQUEST)).rejects.toMatchObject({
      code: 'service_auth_failed',
      detail: 'The server has no API key for the platform.',
      hint: 'Set "serviceApiKey" in configureServer, or "apiKey" in the options of the route.',
      block: 'configureServer',
      fields: ['serviceApiKey'],
    });
  });
});

const named = (key: string): string => `"hash(agent-bff API key ${key})"`;

describe('the credential of a strategy without a provider', () => {
  it.each<[string, string | undefined, string, object, object, string]>([
    ['static_token', 'site-key', 'serviceToken', BOTH, BOTH, `["static-token",${named('fixed')},${named('site-key')}]`],
    ['static_token', undefined, 'serviceToken', TOKEN, TOKEN, `["static-token",${named('fixed')},null]`],
    ['none', 'site-key', 'serviceAuthStrategy', {}, KEY, `["no-credential",null,${named('site-key')}]`],
    ['none', undefined, 'serviceAuthStrategy', {}, {}, '["no-credential",null,null]'],
  ])('%s with the API key %s', async (strategy, key, block, headers, forPlatform, principal) => {
    const apiKey = key === undefined ? undefined : secret(key);
    const world = new BrokerWorld({ strategy, apiKey, serviceToken: secret('fixed') });
    const found = await world.broker.obtain(SERVICE, REQUEST);
    expect(found).toMatchObject({ kind: 'service', block, headers, forPlatform: { headers: forPlatform } });
    expect([found.headers, found.forPlatform.headers]).toStrictEqual([headers, forPlatform]);
    // Renders are those of the caller, with both parts.
    expect([found.owner, found.forPlatform.owner]).toStrictEqual(Array(2).fill({ principal, reader: principal }));
    const cached = strategy === 'none' ? undefined : { value: 'fixed', expiresAt: Infinity };
    expect([world.broker.cachedServiceToken(), await world.broker.recall(), world.loads]).toEqual([
      cached,
      undefined,
      [],
    ]);
  });

  it('is reported as missing when there is no token', async () => {
    const { broker } = new BrokerWorld({ strategy: 'static_token' });
    expect(broker.cachedServiceToken()).toBeUndefined();
    await expect(broker.obtain(SERVICE, REQUEST)).rejects.toMatchObject({
      code: 'service_auth_failed',
      detail: 'The server has no token for the strategy "static_token".',
      hint: 'Set "serviceToken" in configureServer.',
      block: 'configureServer',
      fields: ['serviceToken'],
    });
  });
});

it("a site's own headers are the credential, and are not renewed after a rejection", async () => {
  const { broker } = new BrokerWorld();
  const own = await broker.obtain(KEY_ALONE, REQUEST);
  const auth: RouteAuth = {
    kind: 'headers',
    obtain: (request) => (request === REQUEST ? Promise.resolve(own) : never()),
  };
  expect(await broker.obtain(auth, REQUEST)).toBe(own);
  expect(await broker.renew(auth, own, REQUEST, '')).toBeUndefined();
});

describe('the fields of a site', () => {
  const native = { request: {} };
  const request = { headers: { 'x-run': '1', 'x-other': '2' }, native };

  it.each<[string, object, RouteAuth, unknown[]]>([
    ['a service token', { authorization: 'Bearer account-token-2' }, SERVICE, [null]],
    ['a user', { authorization: 'Bearer ada-2' }, sessionPlan(rotating()), [{ subject: 'ada' }]],
  ])('are sent with %s, also after its renewal, and never replace it', async (_whose, own, auth, users) => {
    const { broker } = new BrokerWorld();
    const made: unknown[] = [];
    const make = async (...given: unknown[]): Promise<Record<string, string>> => {
      made.push(given);
      return Promise.resolve({ 'x-tenant': 'acme', authorization: 'mine' });
    };
    const fields = { request: ['x-run'], response: ['x-cost'], make };
    const found = await broker.obtain({ ...auth, fields }, request);
    const renewed = await broker.renew({ ...auth, fields }, found, request, '');
    expect(renewed?.headers).toEqual({ ...own, 'x-api-key': 'site-key', 'x-run': '1', 'x-tenant': 'acme' });
    expect(renewed?.own).toEqual({ ...own, 'x-api-key': 'site-key' });
    expect(renewed?.fields?.response).toEqual(['x-cost']);
    expect(made).toEqual(users.map((user) => [request, user, undefined]));
  });

  it.each<[string, RouteAuth]>([
    ['service_account', KEY_ALONE],
    ['none', SERVICE],
  ])('are those of the browser alone if the site makes none (%s)', async (strategy, auth) => {
    const fields = { request: ['x-run'], response: [] };
    const { forPlatform } = await new BrokerWorld({ strategy }).broker.obtain({ ...auth, fields }, request);
    expect(forPlatform.headers).toEqual({ 'x-api-key': 'site-key', 'x-run': '1' });
  });
});

it.each<[boolean, RouteAuth]>([
  [false, SERVICE],
  [false, KEY_ALONE],
  [false, { ...SERVICE, fields: { request: [], response: [] } }],
  [true, { ...SERVICE, fields: { request: [], response: [], make: () => Promise.resolve({}) } }],
  [true, nobody],
  [true, { kind: 'headers', obtain: never }],
])('may hold a session: %s for %j', (expected, auth) => {
  expect(mayHoldSession(auth)).toBe(expected);
});

describe('a provider without an identity', () => {
  it('is an outage that names the strategy', async () => {
    const world = new BrokerWorld();
    world.account.identity = () => Promise.reject(new TypeError('no disk'));
    const error = await errorOf(world.broker.obtain(SERVICE, REQUEST));
    expect(error).toMatchObject({
      code: 'identity_provider_unavailable',
      detail: 'The identity provider of this strategy cannot be used.',
      hint: 'See the server log for the cause.',
      block: 'configureServer',
      fields: ['serviceAuthStrategy'],
      retryable: true,
    });
    expect(error.logDetail()).toBe('TypeError: no disk');
  });

  it.each([null, {}, { principal: '', proof: '' }, { principal: 7, proof: '' }, { principal: 'a' }])(
    'causes an outage instead of an identity that visitors would share: %j',
    async (identity) => {
      const world = new BrokerWorld();
      world.account.identity = () => identity as never;
      const error = await errorOf(world.broker.obtain(SERVICE, REQUEST));
      expect(error.logDetail()).toBe(
        'TypeError: "identity" must return a non-empty "principal" and a "proof", both strings',
      );
    },
  );

  it('is logged by type alone when it throws something other than an Error', async () => {
    const world = new BrokerWorld();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    world.account.identity = () => Promise.reject('no disk');
    const error = await errorOf(world.broker.obtain(SERVICE, REQUEST));
    expect(error.logDetail()).toBe('string');
  });

  it('keeps its last identity', async () => {
    const world = new BrokerWorld();
    const before = await world.broker.obtain(SERVICE, REQUEST);
    world.account.identity = () => Promise.reject(new TypeError('no disk'));
    const renewed = await world.broker.renew(SERVICE, before, REQUEST, '');
    expect(renewed?.token).toBe('account-token-2');
  });

  it('does not affect requests that do not need its token', async () => {
    const world = new BrokerWorld();
    world.account.identity = () => Promise.reject(new TypeError('no disk'));
    await expect(world.broker.recall()).resolves.toBeUndefined();
  });
});

describe('a token of an earlier process', () => {
  it('is found by a new broker once its identity is known', async () => {
    const { broker: former, tokens, account } = new BrokerWorld();
    await former.obtain(SERVICE, REQUEST);
    const next = new BrokerWorld({ tokens, provider: () => Promise.resolve(account) });
    expect(next.broker.cachedServiceToken()).toBeUndefined();
    await next.broker.recall();
    expect(next.broker.cachedServiceToken()?.value).toBe('account-token-1');
    expect(account.issued).toBe(1);
  });

  it('is not looked up when only an API key is configured', async () => {
    const world = new BrokerWorld({ strategy: '', hasServiceAccount: false });
    await world.broker.recall();
    expect(world.loads).toEqual([]);
  });
});

describe('a failing provider', () => {
  it('has a retry delay only when it is known', async () => {
    const world = new BrokerWorld();
    world.account.answer = () => failure('incomplete');
    const error = await errorOf(world.broker.obtain(SERVICE, REQUEST));
    expect(error).toMatchObject({ code: 'service_auth_failed', retryAfterMs: undefined });
  });
});
