import { describe, expect, it } from 'vitest';
import { FakeCacheStore, FakeClock } from '../../src/adapters/fakes/fakes.js';
import { FIELDS } from '../../src/composition/config/schema.js';
import { type ResolvedConfig, resolveConfig } from '../../src/composition/config/resolve-config.js';
import { principalOf } from '../../src/composition/config/providers.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { type AnySettings, revealed, valuesOf } from '../../src/domain/shared/setting.js';

const resolve = (config: ServerConfig): ResolvedConfig => resolveConfig(config);

describe('a configuration without any field', () => {
  it('has exactly these defaults', () => {
    const { servicePolicy, sessionPolicy, platformKey, ...others } = resolve({});
    const { serviceAccount, idpA, idpAServiceUser, idpBService, onBehalfOf, variables, ...rest } = others;
    expect(variables('configureServer', ['a2aUrl'])).toBe('');
    expect(platformKey).toMatch(/^[\da-f]{64}$/);
    expect(rest).toEqual({
      agent: undefined,
      agentCard: undefined,
      bindings: ['JSONRPC'],
      upstream: expect.any(Object) as object,
      serviceApi: undefined,
      serviceApiKey: undefined,
      serviceProjectId: '',
      serviceToken: undefined,
      serviceAuthStrategy: '',
      authProvider: '',
      hasServiceAccount: false,
      publicUrl: '',
      timeouts: {
        chat: { headersMs: 300_000, bodyIdleMs: 300_000, bodyMs: 0 },
        connectMs: 5_000,
        headersMs: 60_000,
        bodyIdleMs: 60_000,
        bodyMs: 60_000,
        streamIdleMs: 0,
        requestBodyMs: 60_000,
        requestIdleMs: 30_000,
        sendIdleMs: 60_000,
        lookupMs: 10_000,
        identityProviderMs: 5_000,
        sessionMs: 15_000,
        cacheMs: 50,
      },
      bodyLimitBytes: 2_097_152,
      maxInFlight: 0,
      keepAliveMs: 15_000,
      allowedOrigins: new Set(),
      mediaOrigins: new Set(),
      trustBrandCss: false,
      configPerUser: true,
      allowedHosts: [],
      authUnavailableStatus: 401,
      cacheStore: undefined,
      cacheAddress: undefined,
      cacheKeys: [],
      files: [],
      telemetry: undefined,
      chatLimit: undefined,
      userLimit: undefined,
      conversations: undefined,
      name: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
      identityProviders: {},
      customProviders: new Set(),
      exchangeProvider: 'idp_b',
      alwaysExchange: false,
    });
    for (const [name, block] of Object.entries({ serviceAccount, idpA, idpAServiceUser, idpBService, onBehalfOf })) {
      for (const [field, setting] of Object.entries(block as AnySettings)) {
        expect(setting).toMatchObject({ block: name, field });
        expect([field, revealed(setting)]).toEqual([field, '']);
      }
    }
    expect(serviceAccount.claims.value).toEqual({});
    const methods = ['message/send', 'tasks/get', 'tasks/list', 'agent/getAuthenticatedExtendedCard'];
    expect(methods.map((method) => servicePolicy.allows(method))).toEqual([true, true, false, false]);
    expect(sessionPolicy.isStrict).toBe(false);
  });
});

describe('a service account', () => {
  const account = { serviceAccountId: 'sa-1' };

  it('signs with its own id for the platform unless configured otherwise', () => {
    const serviceApiUrl = ' https://platform.example/api// ';
    expect(valuesOf(resolve({ serviceApiUrl, serviceAccount: account }).serviceAccount)).toMatchObject({
      audience: 'https://platform.example/api',
      subject: 'sa-1',
      issuer: 'sa-1',
    });
    const told = { ...account, audience: ['a', 'b'], subject: 's', issuer: 'i', claims: { role: 'site' } };
    expect(valuesOf(resolve({ serviceAccount: told }).serviceAccount)).toMatchObject({
      audience: ['a', 'b'],
      subject: 's',
      issuer: 'i',
      claims: { role: 'site' },
    });
    expect(resolve({ serviceAccount: { audience: false } }).serviceAccount.audience.value).toBe(false);
  });

  it('treats empty fields as absent', () => {
    const empty = { ...account, audience: '', subject: '', issuer: '', privateKeyPem: '' };
    const { serviceAccount } = resolve({ serviceApiUrl: 'https://platform.example', serviceAccount: empty });
    expect(valuesOf(serviceAccount)).toMatchObject({
      audience: 'https://platform.example',
      subject: 'sa-1',
      issuer: 'sa-1',
      privateKeyPem: undefined,
    });
  });

  it.each([
    [undefined, false],
    [{}, false],
    [{ keyId: '' }, false],
    [{ keyId: undefined }, false],
    [{ keyId: 'k' }, true],
    [{ privateKeyPath: '/k' }, true],
  ])('configured as %j counts as configured: %s', (serviceAccount, filled) => {
    expect(resolve({ serviceAccount }).hasServiceAccount).toBe(filled);
  });
});

describe('the principal of settings', () => {
  const of = (value: unknown): string => principalOf({ claims: { side: 'principal', value } });

  it('is the same for members in another order, and for no other value', () => {
    expect(of({ one: 1, two: [2] })).toBe(of({ two: [2], one: 1 }));
    const values = [{ one: 1 }, { one: 2 }, { one: null }, ['one', 1], 'one', '', undefined];
    expect(new Set(values.map(of)).size).toBe(values.length);
  });
});

describe('addresses', () => {
  it('are split into origin and path', () => {
    expect(resolve({ a2aUrl: 'https://agent.example/a2a' }).agent).toEqual({
      origin: 'https://agent.example',
      path: '/a2a',
    });
    expect(resolve({ serviceApiUrl: 'http://127.0.0.1:9/v1' }).serviceApi).toEqual({
      origin: 'http://127.0.0.1:9',
      path: '/v1',
    });
  });

  it('are undefined when empty', () => {
    expect(resolve({ a2aUrl: '', serviceApiUrl: '', publicUrl: '' })).toMatchObject({
      agent: undefined,
      serviceApi: undefined,
      publicUrl: '',
    });
  });

  it.each([
    ['https://site.example', 'https://site.example'],
    ['https://site.example/', 'https://site.example'],
    [' https://site.example/shop/ ', 'https://site.example/shop'],
  ])('in "publicUrl" lose their trailing slash: %j', (publicUrl, resolved) => {
    expect(resolve({ publicUrl }).publicUrl).toBe(resolved);
  });

  it.each([
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'app://-',
    'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb',
    'moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc',
  ])('in "allowedOrigins" may be one of an app or extension: %s', (origin) => {
    expect([...resolve({ allowedOrigins: [origin] }).allowedOrigins]).toEqual([origin]);
    expect(() => resolve({ mediaOrigins: [origin] })).toThrow('Invalid origin in "mediaOrigins".');
  });

  it.each([
    'null',
    'file://',
    'file://localhost',
    'chrome-extension://*',
    'app://',
    'capacitor://localhost/',
    'ws://a',
  ])('in "allowedOrigins" are never %s', (origin) => {
    expect(() => resolve({ allowedOrigins: [origin] })).toThrow('Invalid origin in "allowedOrigins".');
  });

  it('in "allowedOrigins" are normalized', () => {
    const { allowedOrigins } = resolve({ allowedOrigins: ['HTTPS://Shop.example:443', 'http://localhost:3000'] });
    expect([...allowedOrigins]).toEqual(['https://shop.example', 'http://localhost:3000']);
  });
});

describe('a configured method policy', () => {
  it('applies to services and sessions alike', () => {
    const open = resolve({ a2aMethods: 'all' });
    for (const { isStrict } of [open.servicePolicy, open.sessionPolicy]) expect(isStrict).toBe(false);
    const listed = resolve({ a2aMethods: ['tasks/list'] });
    for (const policy of [listed.servicePolicy, listed.sessionPolicy]) {
      expect([policy.allows('ListTasks'), policy.allows('message/send')]).toEqual([true, false]);
    }
  });
});

describe('a configured value', () => {
  it('is used unchanged: numbers, stores, listeners', () => {
    const names = Object.keys(FIELDS['timeouts']?.fields ?? {});
    const timeouts = Object.fromEntries(names.map((name, index) => [name, index + 1]));
    const cacheStore = new FakeCacheStore(new FakeClock());
    const telemetry = { emit: () => undefined };
    const config = {
      timeouts,
      maxInFlight: 12,
      bodyLimitBytes: 6,
      keepAliveMs: 0,
      authUnavailableStatus: 503 as const,
    };
    expect(resolve({ ...config, telemetry })).toMatchObject({ ...config, telemetry: [telemetry] });
    expect(resolve({ cacheStore }).cacheStore).toBe(cacheStore);
    expect(resolve({ telemetry }).telemetry?.[0]).toBe(telemetry);
    expect(
      resolve({ bindings: ['JSONRPC', 'HTTP+JSON'], conversations: 'open', authUnavailableStatus: 401 }),
    ).toMatchObject({
      bindings: ['JSONRPC', 'HTTP+JSON'],
      conversations: 'open',
      authUnavailableStatus: 401,
    });
    expect([resolve({}).telemetry, resolve({ telemetry: 'silent' }).telemetry]).toEqual([undefined, []]);
  });

  it('is never modified', () => {
    const config = Object.freeze({ serviceAccount: Object.freeze({ keyId: 'k' }), timeouts: Object.freeze({}) });
    resolve(config);
    expect(config).toEqual({ serviceAccount: { keyId: 'k' }, timeouts: {} });
  });
});
