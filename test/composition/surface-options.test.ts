import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/adapters/fakes/fake-clock.js';
import { FakeSessionTokenSource } from '../../src/adapters/fakes/fake-session-token-source.js';
import { FakeTokenExchange } from '../../src/adapters/fakes/fake-token-exchange.js';
import { renderCacheSettings } from '../../src/composition/routes/render-cache-options.js';
import { SessionAuths } from '../../src/composition/routes/session-auths.js';
import {
  serviceProxyAuth,
  serviceSurfaceHandlerSettings,
  surfaceHandlerSettings,
} from '../../src/composition/routes/surfaces.js';
import { surfaceRouterSettings } from '../../src/composition/routes/surface-router-options.js';
import { secret } from '../../src/domain/shared/secret.js';
import { BrokerWorld, REQUEST } from '../domain/credentials/broker-fixture.js';

function sessionAuths(): SessionAuths {
  const { tokens } = new BrokerWorld();
  return new SessionAuths({
    clock: new FakeClock(),
    tokens,
    exchange: new FakeTokenExchange(),
    alwaysExchange: false,
    sessionMs: 0,
  });
}

const KEYED = { apiKey: secret('site-key'), apiKeyHeader: 'x-api-key' };
const KEYLESS = { ...KEYED, apiKey: undefined };
const auth = new FakeSessionTokenSource();

describe('a surface router', () => {
  it('goes by the API key', () => {
    expect(surfaceRouterSettings({}, KEYED, sessionAuths())).toEqual({
      auth: { kind: 'api-key', apiKey: undefined },
      cache: undefined,
    });
    const { auth } = surfaceRouterSettings({ apiKey: 'its-own' }, KEYLESS, sessionAuths());
    expect(auth.kind === 'api-key' ? auth.apiKey?.reveal() : auth.kind).toBe('its-own');
  });

  it('goes by the configured strategy where there is no key at all', () => {
    expect(surfaceRouterSettings({}, KEYLESS, sessionAuths()).auth).toEqual({
      kind: 'service',
      strategy: '',
      apiKey: undefined,
    });
  });

  it.each([
    [{ apiKey: 'its-own' }, {}, { 'x-api-key': 'its-own' }],
    [{}, { Authorization: 'Bearer made' }, { 'x-api-key': 'site-key', authorization: 'Bearer made' }],
    [{ apiKey: 'its-own' }, { 'X-API-Key': 'made' }, { 'x-api-key': 'made' }],
    [{}, null, { 'x-api-key': 'site-key' }],
  ])('sends what the site makes, and the key unless that is made too: %j %j', async (options, made, sent) => {
    const { auth } = surfaceRouterSettings({ ...options, getHeaders: () => made }, KEYED, sessionAuths());
    expect(auth.kind === 'headers' ? (await auth.obtain(REQUEST)).headers : auth.kind).toEqual(sent);
  });

  it('without a key sends what the site makes alone', async () => {
    const { auth } = surfaceRouterSettings({ getHeaders: () => ({ a: 'b' }) }, KEYLESS, sessionAuths());
    expect(auth.kind === 'headers' ? (await auth.obtain(REQUEST)).headers : auth.kind).toEqual({ a: 'b' });
  });
});

describe("a surface router's credential", () => {
  it('is the one of a strategy, when it names one', () => {
    const { auth } = surfaceRouterSettings({ strategy: 'service_account', apiKey: 'its-own' }, KEYED, sessionAuths());
    expect(auth).toMatchObject({ kind: 'service', strategy: 'service_account' });
  });

  it.each([true, false])("is the signed-in user's, and a session is required when told so: %s", (requireSession) => {
    const settings = surfaceRouterSettings({ auth, requireSession }, KEYED, sessionAuths());
    expect(settings.auth).toMatchObject({ kind: 'session', required: requireSession });
  });
});

describe('a surface handler', () => {
  it('goes by the API key when nobody can sign in', () => {
    expect(surfaceHandlerSettings({}, sessionAuths()).auth).toEqual({ kind: 'api-key', apiKey: undefined });
  });

  it.each([true, false])(
    'goes by the session when there is one, and requires one when told so: %s',
    (requireSession) => {
      const settings = surfaceHandlerSettings({ auth, requireSession, audience: 'api' }, sessionAuths());
      expect(settings.auth).toMatchObject({
        kind: 'session',
        required: requireSession,
        audience: 'api',
        exchange: undefined,
      });
    },
  );

  it('requires no session unless told so', () => {
    expect(surfaceHandlerSettings({ auth }, sessionAuths()).auth).toMatchObject({ required: false });
  });

  it('that requires a session finds none where there is no way to sign in', async () => {
    const { auth } = surfaceHandlerSettings({ requireSession: true }, sessionAuths());
    expect(auth).toMatchObject({ kind: 'session', required: true });
    expect(auth.kind === 'session' && (await auth.source.getToken(REQUEST, {}))).toEqual({ kind: 'no-session' });
  });

  it('with service auth goes by the strategy and the key', () => {
    expect(serviceSurfaceHandlerSettings({}).auth).toEqual({ kind: 'service', strategy: '', apiKey: undefined });
    expect(serviceSurfaceHandlerSettings({ strategy: 'client_credentials' }).auth).toMatchObject({
      strategy: 'client_credentials',
    });
  });
});

describe('the conversation proxy', () => {
  it('always requires a session', () => {
    expect(serviceProxyAuth({ auth, exchange: 'on_behalf_of' }, sessionAuths())).toMatchObject({
      kind: 'session',
      required: true,
    });
  });
});

describe('the cache of renders', () => {
  it('is off unless it is switched on', () => {
    expect(renderCacheSettings(undefined)).toBeUndefined();
    expect(renderCacheSettings({})).toBeUndefined();
    expect(renderCacheSettings({ enabled: false, freshMs: 9 })).toBeUndefined();
  });

  it('keeps this much for so long', () => {
    expect(renderCacheSettings({ enabled: true })).toEqual({
      freshMs: 3_000,
      maxAgeMs: 300_000,
      maxEntries: 500,
      maxEntryBytes: 1_048_576,
    });
    expect(renderCacheSettings({ enabled: true, freshMs: 0 })).toMatchObject({
      freshMs: 0,
      maxEntries: 500,
    });
  });
});
