import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { secret } from '../../../src/domain/shared/secret.js';
import { BrokerWorld, REQUEST, SERVICE } from './broker-fixture.js';
import { failure } from './token-fixture.js';
import { errorOf } from '../../support/error-of.js';

describe('a service credential', () => {
  it('is the token of the configured strategy with the API key', async () => {
    const credential = await new BrokerWorld().broker.obtain(SERVICE, REQUEST);
    expect(credential.headers).toEqual({ authorization: 'Bearer account-token-1', 'x-api-key': 'site-key' });
    expect(credential.kind).toBe('service');
    expect(credential.owner.principal).toContain('"service","service_account",');
    expect(credential.block).toBe('serviceAccount');
  });

  it('is the token alone when no API key is configured', async () => {
    const credential = await new BrokerWorld({ apiKey: undefined }).broker.obtain(SERVICE, REQUEST);
    expect(credential.headers).toEqual({ authorization: 'Bearer account-token-1' });
  });

  it('uses the strategy of the route', async () => {
    const auth = { ...SERVICE, strategy: 'resource_owner_password' };
    const credential = await new BrokerWorld().broker.obtain(auth, REQUEST);
    expect(credential.headers['authorization']).toBe('Bearer password-token-1');
    expect(credential.owner.principal).toContain('"service","idp_a.password",');
  });

  it('uses the API key of the route for that route alone', async () => {
    const { broker } = new BrokerWorld();
    const own = await broker.obtain({ ...SERVICE, apiKey: secret('route-key') }, REQUEST);
    const other = await broker.obtain(SERVICE, REQUEST);
    const again = await broker.obtain({ ...SERVICE, apiKey: secret('route-key') }, REQUEST);
    expect([own, other, again].map(({ headers }) => headers['x-api-key'])).toEqual([
      'route-key',
      'site-key',
      'route-key',
    ]);
    // Renders differ by key; the account is that of the strategy.
    expect(own.owner.principal).not.toBe(other.owner.principal);
    expect(own.owner.account).toBe(other.owner.account);
    expect(other.owner.account).toMatch(/^\["service","service_account",.*account/);
  });

  it('uses the configured header name', async () => {
    const { broker } = new BrokerWorld({ apiKeyHeader: 'x-platform-key' });
    expect((await broker.obtain(SERVICE, REQUEST)).headers['x-platform-key']).toBe('site-key');
  });

  it('is built once per token', async () => {
    const world = new BrokerWorld();
    const first = await world.broker.obtain(SERVICE, REQUEST);
    const second = await world.broker.obtain(SERVICE, REQUEST);
    expect(second).toBe(first);
    expect(world.loads).toEqual(['service_account']);
    expect(world.account.issued).toBe(1);
  });

  it('is renewed when due', async () => {
    const world = new BrokerWorld();
    await world.broker.obtain(SERVICE, REQUEST);
    world.clock.advance(295_000);
    const renewed = await world.broker.obtain(SERVICE, REQUEST);
    expect(renewed.headers['authorization']).toBe('Bearer account-token-2');
  });

  it("takes on the provider's new identity at the renewal", async () => {
    const world = new BrokerWorld();
    await world.broker.obtain(SERVICE, REQUEST);
    world.account.name = 'rotated';
    world.clock.advance(240_000);
    const credential = await world.broker.obtain(SERVICE, REQUEST);
    expect(credential.headers['authorization']).toBe('Bearer rotated-token-2');
    expect((await world.broker.obtain(SERVICE, REQUEST)).headers['authorization']).toBe('Bearer rotated-token-2');
  });

  it('never shows a secret when printed', async () => {
    const { broker } = new BrokerWorld();
    const credential = await broker.obtain(SERVICE, REQUEST);
    const shown = [
      inspect(credential, { depth: 12, showHidden: true }),
      JSON.stringify(credential),
      JSON.stringify(Object.assign({}, credential)),
      inspect(broker, { depth: 12, showHidden: true }),
    ].join('\n');
    expect(shown).not.toContain('account-token');
    expect(shown).not.toContain('site-key');
  });
});

describe('the API key alone', () => {
  it('is the credential when nothing else is configured', async () => {
    const { broker } = new BrokerWorld({ strategy: '', hasServiceAccount: false });
    const credential = await broker.obtain(SERVICE, REQUEST);
    expect(credential.headers).toEqual({ 'x-api-key': 'site-key' });
    expect([credential.kind, credential.block]).toEqual(['api-key', 'serviceApiKey']);
  });

  it('can be the key of the route', async () => {
    const { broker } = new BrokerWorld({ strategy: '', hasServiceAccount: false, apiKey: undefined });
    const credential = await broker.obtain({ ...SERVICE, apiKey: secret('route-key') }, REQUEST);
    expect(credential.headers).toEqual({ 'x-api-key': 'route-key' });
  });
});

it.each(['none', 'static_token'])('the credential of the strategy "%s" is made once', async (strategy) => {
  const { broker } = new BrokerWorld({ strategy, serviceToken: secret('token') });
  const first = await broker.obtain(SERVICE, REQUEST);
  expect(await broker.obtain(SERVICE, REQUEST)).toBe(first);
  expect(await broker.obtain({ ...SERVICE, apiKey: secret('route-key') }, REQUEST)).not.toBe(first);
});

describe('a missing credential', () => {
  it('names the strategy for an empty configuration', async () => {
    const { broker } = new BrokerWorld({ strategy: '', hasServiceAccount: false, apiKey: undefined });
    await expect(broker.obtain(SERVICE, REQUEST)).rejects.toMatchObject({
      name: 'ServiceAuthError',
      code: 'service_auth_failed',
      detail: 'The server has no credential for the platform.',
      block: 'configureServer',
      fields: ['serviceAuthStrategy', 'authProvider', 'serviceApiKey', 'serviceToken'],
      hint: 'Set "serviceAuthStrategy" or "authProvider" in configureServer, or "strategy" in the options, and fill in the configuration block of that strategy; or set "serviceApiKey". For an agent without authentication, the strategy is "none"; for a fixed token, "static_token" with "serviceToken".',
      retryable: false,
    });
  });

  it('names an unknown strategy', async () => {
    const { broker } = new BrokerWorld({ strategy: 'client_credentials' });
    await expect(broker.obtain(SERVICE, REQUEST)).rejects.toMatchObject({
      code: 'service_auth_failed',
      block: 'configureServer',
    });
  });

  it.each([
    ['incomplete' as const, 'service_auth_failed', 'The configuration of the service credential is incomplete.', false],
    ['refused' as const, 'service_auth_failed', 'The service credential was refused or cannot be used.', false],
    [
      'unavailable' as const,
      'identity_provider_unavailable',
      'The identity provider cannot be reached or is out of order.',
      true,
    ],
  ])('is reported for a provider that is %s as %s', async (reason, code, detail, retryable) => {
    const world = new BrokerWorld();
    world.account.answer = () => failure(reason, { retryAfterMs: 7_000, log: 'AADSTS7000215 at https://idp.example' });
    const error = await errorOf(world.broker.obtain(SERVICE, REQUEST));
    expect(error).toMatchObject({
      name: 'ServiceAuthError',
      code,
      detail,
      hint: 'Check the "idpA" configuration block: "clientId".',
      block: 'idpA',
      fields: ['clientId'],
      retryable,
      retryAfterMs: 7_000,
    });
    expect(error.logDetail()).toBe('AADSTS7000215 at https://idp.example');
    expect(JSON.stringify(error) + inspect(error, { depth: 12 })).not.toContain('AADSTS');
  });
});

describe('the cached service token', () => {
  it('is absent before the first request and causes no call', () => {
    const world = new BrokerWorld();
    expect(world.broker.cachedServiceToken()).toBeUndefined();
    expect(world.account.issued).toBe(0);
  });

  it('is the one sent with requests until it expires', async () => {
    const world = new BrokerWorld();
    await world.broker.obtain(SERVICE, REQUEST);
    world.clock.advance(299_999);
    expect(world.broker.cachedServiceToken()?.value).toBe('account-token-1');
    world.clock.advance(1);
    expect(world.broker.cachedServiceToken()).toBeUndefined();
  });

  it('is absent with the API key alone', async () => {
    const { broker } = new BrokerWorld({ strategy: '', hasServiceAccount: false });
    await broker.obtain(SERVICE, REQUEST);
    expect(broker.cachedServiceToken()).toBeUndefined();
  });

  it("is the one of the configured strategy, not of a route's", async () => {
    const world = new BrokerWorld();
    await world.broker.obtain({ ...SERVICE, strategy: 'resource_owner_password' }, REQUEST);
    expect(world.broker.cachedServiceToken()).toBeUndefined();
  });
});
