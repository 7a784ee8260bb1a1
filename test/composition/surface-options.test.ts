import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../src/adapters/fakes/fakes.js';
import { renderCacheSettings } from '../../src/composition/toolkit/site-handlers.js';
import { REQUEST } from '../domain/credentials/broker-fixture.js';
import { routeCredentials } from './route-credentials.js';

const KEYED = routeCredentials('site-key');
const KEYLESS = routeCredentials();
const auth = new FakeSessionTokenSource();

describe('a surface router', () => {
  it('goes by the API key', () => {
    expect(KEYED.surfaceRouter({})).toEqual({ kind: 'api-key', apiKey: undefined });
    const route = KEYLESS.surfaceRouter({ apiKey: 'its-own' });
    expect(route.kind === 'api-key' ? route.apiKey?.reveal() : route.kind).toBe('its-own');
  });

  it('goes by the configured strategy where there is no key at all', () => {
    expect(KEYLESS.surfaceRouter({})).toEqual({
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
    const route = KEYED.surfaceRouter({ ...options, getHeaders: () => made });
    expect(route.kind === 'headers' ? (await route.obtain(REQUEST)).headers : route.kind).toEqual(sent);
  });

  it('without a key sends what the site makes alone', async () => {
    const route = KEYLESS.surfaceRouter({ getHeaders: () => ({ a: 'b' }) });
    expect(route.kind === 'headers' ? (await route.obtain(REQUEST)).headers : route.kind).toEqual({ a: 'b' });
  });
});

describe("a surface router's credential", () => {
  it('is the one of a strategy, when it names one', () => {
    const route = KEYED.surfaceRouter({ strategy: 'service_account', apiKey: 'its-own' });
    expect(route).toMatchObject({ kind: 'service', strategy: 'service_account' });
  });

  it.each([true, false])("is the signed-in user's, and a session is required when told so: %s", (requireSession) => {
    const route = KEYED.surfaceRouter({ auth, requireSession });
    expect(route).toMatchObject({ kind: 'session', required: requireSession });
  });
});

describe('a surface handler', () => {
  it('goes by the API key when nobody can sign in', () => {
    expect(KEYED.surfaces({})).toEqual({ kind: 'api-key', apiKey: undefined });
  });

  it.each([true, false])(
    'goes by the session when there is one, and requires one when told so: %s',
    (requireSession) => {
      const route = KEYED.surfaces({ auth, requireSession, audience: 'api' });
      expect(route).toMatchObject({
        kind: 'session',
        required: requireSession,
        audience: 'api',
        exchange: undefined,
      });
    },
  );

  it('requires no session unless told so', () => {
    expect(KEYED.surfaces({ auth })).toMatchObject({ required: false });
  });

  it('that requires a session finds none where there is no way to sign in', async () => {
    const route = KEYED.surfaces({ requireSession: true });
    expect(route).toMatchObject({ kind: 'session', required: true });
    expect(route.kind === 'session' && (await route.source.getToken(REQUEST, {}))).toEqual({ kind: 'no-session' });
  });

  it('with service auth goes by the strategy and the key', () => {
    expect(KEYED.service({})).toEqual({ kind: 'service', strategy: '', apiKey: undefined });
    expect(KEYED.service({ strategy: 'client_credentials' })).toMatchObject({
      strategy: 'client_credentials',
    });
  });
});

describe('the conversation proxy', () => {
  it('always requires a session', () => {
    expect(KEYED.session(auth, { exchange: 'on_behalf_of' })).toMatchObject({
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
