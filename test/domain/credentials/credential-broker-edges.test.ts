import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { secret } from '../../../src/domain/shared/secret.js';
import { BrokerWorld, REQUEST, SERVICE, sessionPlan } from './broker-fixture.js';
import { failure } from './token-fixture.js';
import { errorOf } from '../../support/error-of.js';

const KEY_ALONE = { kind: 'api-key', apiKey: undefined } as const;
const nobody = { ...sessionPlan(new FakeSessionTokenSource({ kind: 'no-session' })), required: false } as const;

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
