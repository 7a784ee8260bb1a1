import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type ResolvedConfig, resolveConfig } from '../../src/composition/config/resolve-config.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { type AnySettings, revealed, valuesOf } from '../../src/domain/shared/setting.js';

const resolve = (config: ServerConfig): ResolvedConfig => resolveConfig(config);

/** The values of settings, secrets in the clear. */
function texts(settings: object): Record<string, string> {
  const entries = Object.entries(settings as AnySettings).map(([name, setting]) => [name, revealed(setting)]);
  return Object.fromEntries(entries) as Record<string, string>;
}

describe('a configuration that sets nothing', () => {
  it('has these defaults, and no others', () => {
    const { servicePolicy, sessionPolicy, place, ...others } = resolve({});
    const { serviceAccount, idpA, idpAServiceUser, idpBService, onBehalfOf, ...rest } = others;
    expect(place).toMatch(/^[\da-f]{64}$/);
    expect(rest).toStrictEqual({
      agent: undefined,
      agentCard: undefined,
      bindings: ['JSONRPC'],
      upstream: {
        paths: {
          surface: '/surfaces/{id}',
          surfaceByName: '/surfaces/by-name/{name}',
          render: '/surfaces/{id}/render',
          renderByName: '/surfaces/by-name/{name}/render',
          action: '/surfaces/{id}/actions/{action}',
          actionByName: '/surfaces/by-name/{name}/actions/{action}',
          theme: '/surfaces/{id}/theme.css',
          themeByName: '/surfaces/by-name/{name}/theme.css',
          project: '/project',
          brand: '/brand.css',
          conversations: '/{path}',
        },
        headers: { apiKey: 'x-api-key', projectId: 'x-project-id' },
      },
      serviceApi: undefined,
      serviceApiKey: undefined,
      serviceProjectId: '',
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
      allowedHosts: [],
      authUnavailableStatus: 401,
      cacheStore: undefined,
      cacheAddress: undefined,
      cacheKeys: [],
      telemetry: undefined,
      chatLimit: undefined,
      identityProviders: {},
      customProviders: new Set(),
      exchangeProvider: 'idp_b',
      alwaysExchange: false,
    });
    const blocks = { serviceAccount, idpA, idpAServiceUser, idpBService, onBehalfOf };
    for (const [name, block] of Object.entries(blocks)) {
      for (const [field, setting] of Object.entries(block as AnySettings))
        expect(setting).toMatchObject({ block: name, field });
    }
    expect(valuesOf(serviceAccount)).toStrictEqual({
      serviceAccountId: '',
      keyId: '',
      privateKeyPem: undefined,
      privateKeyPath: '',
      audience: '',
      subject: '',
      issuer: '',
      claims: {},
    });
    expect(texts(idpA)).toStrictEqual({
      domain: '',
      clientId: '',
      clientSecret: '',
      audience: '',
      scope: '',
      realm: '',
    });
    expect(texts(idpAServiceUser)).toStrictEqual({ username: '', password: '' });
    expect(texts(idpBService)).toStrictEqual({
      tenantId: '',
      authority: '',
      clientId: '',
      scope: '',
      clientSecret: '',
      certificatePath: '',
      privateKeyPath: '',
    });
    expect(texts(onBehalfOf)).toStrictEqual({
      provider: '',
      scope: '',
      audience: '',
      subjectTokenType: '',
      clientId: '',
      tenantId: '',
      clientSecret: '',
      certificatePath: '',
      privateKeyPath: '',
    });
    const methods = ['message/send', 'tasks/get', 'tasks/list', 'agent/getAuthenticatedExtendedCard'];
    expect(methods.map((method) => servicePolicy.allows(method))).toEqual([true, true, false, false]);
    expect(sessionPolicy.scrutiny).toBe('method');
  });
});

describe('a service account', () => {
  const account = { serviceAccountId: 'sa-1' };

  it("signs as itself for the platform's address, unless told otherwise", () => {
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

  it('with empty fields takes the defaults, for empty means absent', () => {
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
  ])('given as %j is filled: %s', (serviceAccount, filled) => {
    expect(resolve({ serviceAccount }).hasServiceAccount).toBe(filled);
  });
});

describe('addresses', () => {
  it('are split once', () => {
    expect(resolve({ a2aUrl: 'https://agent.example/a2a' }).agent).toEqual({
      origin: 'https://agent.example',
      path: '/a2a',
    });
    expect(resolve({ serviceApiUrl: 'http://127.0.0.1:9/v1' }).serviceApi).toEqual({
      origin: 'http://127.0.0.1:9',
      path: '/v1',
    });
  });

  it('that are empty are absent', () => {
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
  ])('of the site lose their trailing slash: %j', (publicUrl, resolved) => {
    expect(resolve({ publicUrl }).publicUrl).toBe(resolved);
  });

  it('of further pages are compared in lower case', () => {
    const { allowedOrigins } = resolve({ allowedOrigins: ['HTTPS://Shop.example:443', 'http://localhost:3000'] });
    expect([...allowedOrigins]).toEqual(['https://shop.example', 'http://localhost:3000']);
  });
});

describe('a method policy', () => {
  it('that is configured holds for services and sessions alike', () => {
    const open = resolve({ a2aMethods: 'all' });
    for (const { scrutiny } of [open.servicePolicy, open.sessionPolicy]) expect(scrutiny).toBe('method');
    const listed = resolve({ a2aMethods: ['tasks/list'] });
    for (const policy of [listed.servicePolicy, listed.sessionPolicy]) {
      expect([policy.allows('ListTasks'), policy.allows('message/send')]).toEqual([true, false]);
    }
  });
});

describe('what is configured', () => {
  it('is kept: numbers, stores, listeners', () => {
    const cacheStore = {
      get: () => Promise.resolve(undefined),
      set: () => Promise.resolve(),
      delete: () => Promise.resolve(),
    };
    const telemetry = { emit: () => undefined };
    const config: ServerConfig = {
      timeouts: {
        connectMs: 1,
        headersMs: 2,
        bodyIdleMs: 0,
        bodyMs: 6,
        streamIdleMs: 7,
        requestBodyMs: 8,
        requestIdleMs: 11,
        lookupMs: 3,
        identityProviderMs: 4,
        sessionMs: 9,
        cacheMs: 5,
      },
      maxInFlight: 12,
      bodyLimitBytes: 6,
      keepAliveMs: 0,
      authUnavailableStatus: 503,
      cacheStore,
      telemetry,
    };
    expect(resolve(config)).toMatchObject({ ...config, telemetry: [telemetry] });
    expect(resolve(config).cacheStore).toBe(cacheStore);
    expect(resolve(config).telemetry?.[0]).toBe(telemetry);
    expect(resolve({}).telemetry).toBe(undefined);
    expect(resolve({ telemetry: 'silent' }).telemetry).toEqual([]);
  });

  it('shows no secret however it is printed', () => {
    const resolved = resolve({
      serviceApiKey: 'marker-1',
      serviceAccount: { privateKeyPem: 'marker-2' },
      idpA: { clientSecret: 'marker-3' },
      idpAServiceUser: { password: 'marker-4' },
      idpBService: { clientSecret: 'marker-5' },
    });
    expect(resolved.serviceApiKey?.reveal()).toBe('marker-1');
    expect(inspect(resolved, { depth: 12, showHidden: true }) + JSON.stringify(resolved)).not.toContain('marker');
  });

  it('is not changed', () => {
    const config = Object.freeze({ serviceAccount: Object.freeze({ keyId: 'k' }), timeouts: Object.freeze({}) });
    resolve(config);
    expect(config).toEqual({ serviceAccount: { keyId: 'k' }, timeouts: {} });
  });
});
