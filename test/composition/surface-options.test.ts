import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/adapters/fakes/fake-clock.js';
import { FakeSessionTokenSource } from '../../src/adapters/fakes/fake-session-token-source.js';
import { FakeTokenExchange } from '../../src/adapters/fakes/fake-token-exchange.js';
import { renderCacheSettings } from '../../src/composition/routes/render-cache-options.js';
import { SessionPlans } from '../../src/composition/routes/session-plans.js';
import {
  serviceProxyPlan,
  serviceSurfaceHandlerPlan,
  surfaceHandlerPlan,
} from '../../src/composition/routes/surfaces.js';
import { surfaceRouterPlan } from '../../src/composition/routes/surface-router-options.js';
import { secret } from '../../src/domain/shared/secret.js';
import { BrokerWorld, REQUEST } from '../domain/credentials/broker-world.js';

function sessionPlans(): SessionPlans {
  const { tokens } = new BrokerWorld();
  return new SessionPlans({
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
    expect(surfaceRouterPlan({}, KEYED, sessionPlans())).toEqual({
      plan: { kind: 'api-key', apiKey: undefined },
      cache: undefined,
    });
    const { plan } = surfaceRouterPlan({ apiKey: 'its-own' }, KEYLESS, sessionPlans());
    expect(plan.kind === 'api-key' ? plan.apiKey?.reveal() : plan.kind).toBe('its-own');
  });

  it('goes by the configured strategy where there is no key at all', () => {
    expect(surfaceRouterPlan({}, KEYLESS, sessionPlans()).plan).toEqual({
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
    const { plan } = surfaceRouterPlan({ ...options, getHeaders: () => made }, KEYED, sessionPlans());
    expect(plan.kind === 'headers' ? (await plan.obtain(REQUEST)).headers : plan.kind).toEqual(sent);
  });

  it('without a key sends what the site makes alone', async () => {
    const { plan } = surfaceRouterPlan({ getHeaders: () => ({ a: 'b' }) }, KEYLESS, sessionPlans());
    expect(plan.kind === 'headers' ? (await plan.obtain(REQUEST)).headers : plan.kind).toEqual({ a: 'b' });
  });
});

describe("a surface router's credential", () => {
  it('is the one of a strategy, when it names one', () => {
    const { plan } = surfaceRouterPlan({ strategy: 'service_account', apiKey: 'its-own' }, KEYED, sessionPlans());
    expect(plan).toMatchObject({ kind: 'service', strategy: 'service_account' });
  });

  it.each([true, false])("is the signed-in user's, and a session is required when told so: %s", (requireSession) => {
    const { plan } = surfaceRouterPlan({ auth, requireSession }, KEYED, sessionPlans());
    expect(plan).toMatchObject({ kind: 'session', required: requireSession });
  });
});

describe('a surface handler', () => {
  it('goes by the API key when nobody can sign in', () => {
    expect(surfaceHandlerPlan({}, sessionPlans()).plan).toEqual({ kind: 'api-key', apiKey: undefined });
  });

  it.each([true, false])(
    'goes by the session when there is one, and requires one when told so: %s',
    (requireSession) => {
      const { plan } = surfaceHandlerPlan({ auth, requireSession, audience: 'api' }, sessionPlans());
      expect(plan).toMatchObject({ kind: 'session', required: requireSession, audience: 'api', exchange: undefined });
    },
  );

  it('requires no session unless told so', () => {
    expect(surfaceHandlerPlan({ auth }, sessionPlans()).plan).toMatchObject({ required: false });
  });

  it('that requires a session finds none where there is no way to sign in', async () => {
    const { plan } = surfaceHandlerPlan({ requireSession: true }, sessionPlans());
    expect(plan).toMatchObject({ kind: 'session', required: true });
    expect(plan.kind === 'session' && (await plan.source.getToken(REQUEST, {}))).toEqual({ kind: 'no-session' });
  });

  it('with service auth goes by the strategy and the key', () => {
    expect(serviceSurfaceHandlerPlan({}).plan).toEqual({ kind: 'service', strategy: '', apiKey: undefined });
    expect(serviceSurfaceHandlerPlan({ strategy: 'client_credentials' }).plan).toMatchObject({
      strategy: 'client_credentials',
    });
  });
});

describe('the conversation proxy', () => {
  it('always requires a session', () => {
    expect(serviceProxyPlan({ auth, exchange: 'on_behalf_of' }, sessionPlans())).toMatchObject({
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
