import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AUTH_PROVIDERS } from '../../src/composition/config/providers.js';
import { FIELDS } from '../../src/composition/config/schema.js';
import type { AnyRows } from '../../src/domain/shared/setting.js';
import { words } from '../support/words.js';
import { FakeIdentityProvider } from '../../src/adapters/fakes/fakes.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { configureServer } from '../../src/composition/server.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';

function refusal(config: unknown, customProviders: readonly string[] = []): Error {
  try {
    resolveConfig(config as ServerConfig, {
      identityProviders: Object.fromEntries(customProviders.map((name) => [name, new FakeIdentityProvider(name)])),
    });
  } catch (error) {
    return error as Error;
  }
  throw new Error('accepted');
}

describe('a project id', () => {
  it.each(['p\n', 'p\x1b', 'prüfung'])('is rejected when it is not a valid header value: %j', (serviceProjectId) => {
    const expected = { fields: ['serviceProjectId'], hint: 'Set it to an id in ASCII.' };
    expect(refusal({ serviceProjectId })).toMatchObject(expected);
  });
});

describe('an unknown field', () => {
  it.each([
    ['a2aURL', 'a2aUrl'],
    ['apiKey', 'serviceApiKey'],
    ['timeout', 'timeouts'],
    ['A2A_Url', 'a2aUrl'],
  ])('is rejected, and for "%s" the error suggests "%s"', (field, meant) => {
    expect(refusal({ [field]: 'x' })).toMatchObject({
      name: 'ConfigurationError',
      code: 'configuration_invalid',
      detail: `Unknown field "${field}" in configureServer.`,
      hint: `Did you mean "${meant}"?`,
      block: 'configureServer',
      fields: [field],
    });
  });

  it.each([
    ['serviceAccount', 'privateKey', 'privateKeyPem'],
    ['idpA', 'client_id', 'clientId'],
    ['timeouts', 'connect', 'connectMs'],
  ])('in the block "%s" is rejected, and for "%s" the error suggests "%s"', (block, field, meant) => {
    expect(refusal({ [block]: { [field]: 'x' } })).toMatchObject({
      detail: `Unknown field "${field}" in the "${block}" configuration block.`,
      hint: `Did you mean "${meant}"?`,
      block,
      fields: [field],
    });
  });

  it('is rejected with a list of the known fields when none is similar', () => {
    expect(refusal({ serviceAccount: { color: 'x' } })).toMatchObject({
      hint: expect.stringMatching(/^Known fields: serviceAccountId, keyId, /) as string,
    });
  });

  it('is rejected with a hint at configFromEnv when a whole environment is passed', () => {
    for (const environment of [{ npm_config_registry: 'x', SHELL: '/bin/sh' }, { A2A_URL: 'https://agent.example' }])
      expect(refusal(environment)).toMatchObject({ hint: 'Pass variables through configFromEnv(process.env).' });
  });
});

const OTHER_CLAIMS =
  'an object of JSON values without iss, sub, aud, iat, exp, jti, which each token has: "issuer", "subject" and "audience" set theirs';
const DOMAIN =
  'the domain of the tenant, such as acme.eu.auth0.com, or its https address without user, query or fragment';
const AUTHORITY = 'an https address without user, query or fragment, such as https://login.microsoftonline.us';
const TELEMETRY = 'an object with emit, such as loggerTelemetry(logger), several, or "silent"';
const DISPATCHER =
  'a dispatcher of undici, such as new ProxyAgent(address), or to { agent, platform } with one each; an address, or an agent of node:http, is none';

describe('a configured value', () => {
  it('of "claims" is rejected when it is not JSON', () => {
    const circular: Record<string, unknown> = {};
    circular['itself'] = circular;
    for (const claims of [{ big: 1n }, circular])
      expect(refusal({ serviceAccount: { claims } })).toMatchObject({ hint: `Set it to ${OTHER_CLAIMS}.` });
  });

  it.each([
    ['a2aUrl', 7, 'a string'],
    ['serviceApiKey', null, 'a string'],
    ['serviceAccount', 'text', 'an object'],
    ['bodyLimitBytes', '2mb', 'a whole number from 1'],
    ['bodyLimitBytes', 0, 'a whole number from 1'],
    ['bodyLimitBytes', 1.5, 'a whole number from 1'],
    ['keepAliveMs', -1, 'a whole number from 0 to 2147483647'],
    ['keepAliveMs', 2_147_483_648, 'a whole number from 0 to 2147483647'],
    ['authUnavailableStatus', 500, '401 or 503'],
    [
      'cacheStore',
      { get: () => undefined, set: () => undefined },
      'an address, a Keyv, or a CacheStore with get, set and delete; a Map keeps entries that have expired',
    ],
    ['dispatcher', 'http://site:secret@proxy.example', DISPATCHER],
    ['dispatcher', { destroy: () => undefined }, DISPATCHER],
    ['dispatcher', { agent: { dispatch: () => true }, chat: { dispatch: () => true } }, DISPATCHER],
    ['telemetry', {}, TELEMETRY],
    ['telemetry', null, TELEMETRY],
    ['telemetry', [{ emit: () => undefined }, {}], TELEMETRY],
    ['name', 'Acme & Co', 'up to 64 letters, digits, dots, underscores and hyphens'],
    ['chatLimit', { consume: () => undefined }, 'an object with admit'],
    ['allowedOrigins', 'https://shop.example', 'a list of strings'],
    ['mediaOrigins', 'https://cdn.example', 'a list of strings'],
    ['trustBrandCss', 'true', 'true or false'],
    ['configPerUser', 'false', 'true or false'],
    ['allowedHosts', 'site.example', 'a list of strings'],
    ['a2aMethods', 'chats', '"chat", "all", or a list of strings'],
    ['a2aMethods', ['message/send', 7], '"chat", "all", or a list of strings'],
    ['bindings', 'JSONRPC', 'a list of "JSONRPC" and "HTTP+JSON"'],
    ['bindings', ['JSONRPC', 'GRPC'], 'a list of "JSONRPC" and "HTTP+JSON"'],
    ['conversations', 'closed', '"open" or "visitor"'],
    ['serviceToken', 'two words', 'the token alone: ASCII, no spaces'],
    ['serviceToken', 7, 'a string'],
    ['serviceAuthStrategy', ['apiKey'], 'a string'],
  ])('of "%s" is rejected: %j', (field, value, expected) => {
    expect(refusal({ [field]: value })).toMatchObject({
      detail: `Invalid value for "${field}" in configureServer.`,
      hint: `Set it to ${expected}.`,
      block: 'configureServer',
      fields: [field],
    });
  });

  it.each([
    ['serviceAccount', 'serviceAccountId', 7, 'a string'],
    ['serviceAccount', 'claims', 'text', OTHER_CLAIMS],
    ['serviceAccount', 'claims', { exp: 1 }, OTHER_CLAIMS],
    ['serviceAccount', 'claims', { iss: 'site' }, OTHER_CLAIMS],
    ['idpA', 'domain', 'https://a b', DOMAIN],
    ['idpA', 'domain', 'http://acme.example', DOMAIN],
    ['idpA', 'domain', 'ftp://acme.example', DOMAIN],
    ['idpA', 'domain', 'https://me:pw@acme.example', DOMAIN],
    ['idpA', 'domain', 'acme.example?x=1', DOMAIN],
    ['idpBService', 'authority', 'not a url', AUTHORITY],
    ['idpBService', 'authority', 'http://login.example', AUTHORITY],
    ['idpBService', 'authority', 'https://me@login.example', AUTHORITY],
    ['idpBService', 'authority', 'https://login.example/?x', AUTHORITY],
    ['idpBService', 'authority', 'https://login.example/#x', AUTHORITY],
    ['idpAServiceUser', 'password', 1234, 'a string'],
    ['timeouts', 'headersMs', '60s', 'a whole number from 0 to 2147483647'],
    ['timeouts', 'connectMs', -1, 'a whole number from 0 to 2147483647'],
    ['timeouts', 'cacheMs', 0, 'a whole number from 1 to 2147483647'],
    ['timeouts', 'identityProviderMs', 0, 'a whole number from 1 to 2147483647'],
    ['timeouts', 'lookupMs', 0, 'a whole number from 1 to 2147483647'],
    ['timeouts', 'headersMs', Number.POSITIVE_INFINITY, 'a whole number from 0 to 2147483647'],
  ])('of "%s.%s" is rejected: %j', (block, field, value, expected) => {
    expect(refusal({ [block]: { [field]: value } })).toMatchObject({
      detail: `Invalid value for "${field}" in the "${block}" configuration block.`,
      hint: `Set it to ${expected}.`,
      block,
      fields: [field],
    });
  });

  it.each(Object.keys(FIELDS['timeouts']?.fields ?? {}))(
    'of "timeouts.%s" is rejected when it is longer than a timer can wait',
    (field) => {
      expect(refusal({ timeouts: { [field]: 2_147_483_648 } })).toMatchObject({
        hint: expect.stringMatching(/^Set it to a whole number from [01] to 2147483647\.$/) as string,
        block: 'timeouts',
        fields: [field],
      });
    },
  );

  it('is accepted up to the longest time a timer can wait', () => {
    const longest = 2_147_483_647;
    const timeouts = { connectMs: longest, lookupMs: longest, sessionMs: longest };
    expect(resolveConfig({ keepAliveMs: longest, timeouts })).toMatchObject({
      keepAliveMs: longest,
      timeouts,
    });
  });

  it('that is the address of the agent card is rejected with an explanation', () => {
    expect(refusal({ a2aUrl: 'https://agent.example/a2a/.well-known/agent-card.json' })).toMatchObject({
      hint: expect.stringMatching(/^This is the address of the agent card: remove /) as string,
      fields: ['a2aUrl'],
    });
  });

  it('in a list is rejected with the name of the list', () => {
    expect(refusal({ allowedOrigins: ['https://shop.example', 7] })).toMatchObject({
      detail: 'Invalid value for "allowedOrigins" in configureServer.',
      block: 'configureServer',
      fields: ['allowedOrigins'],
    });
  });

  it.each([
    null,
    'text',
    [],
    new Map(),
    new URL('https://agent.example'),
    Promise.resolve({ a2aUrl: 'https://agent.example' }),
  ])('in place of the whole configuration is rejected: %s', (config) => {
    expect(refusal(config)).toMatchObject({
      detail: 'The configuration is not an object.',
      hint: 'Pass an object to configureServer.',
      block: 'configureServer',
    });
    expect(() => configureServer(config as never)).toThrow('The configuration is not an object. Pass an object to');
  });
});

describe('an empty string', () => {
  it.each(['bodyLimitBytes', 'allowedOrigins', 'telemetry', 'onBehalfOf', 'timeouts', 'chatLimit', 'upstream'])(
    'clears "%s", whatever type the field has',
    (field) => {
      const { platformKey: _key, ...cleared } = resolveConfig({ [field]: '' } as never);
      const { platformKey: _other, ...unset } = resolveConfig({});
      expect(inspect(cleared, { depth: 6 })).toBe(inspect(unset, { depth: 6 }));
    },
  );
});

const KEYCLOAK = { keycloak: new FakeIdentityProvider('keycloak') };

describe('an unknown strategy or provider', () => {
  it.each(['api_key', 'apiKey', 'static_key'])('that names a key, "%s", is rejected with what a key needs', (name) => {
    expect(refusal({ serviceAuthStrategy: name })).toMatchObject({
      hint: expect.stringMatching(/static_token, none\. For "serviceApiKey" alone, leave it out\.$/) as string,
    });
  });

  it('is rejected with a suggestion of the nearest strategy, custom ones included', () => {
    expect(refusal({ serviceAuthStrategy: 'service-account' })).toMatchObject({
      detail: 'Invalid value for "serviceAuthStrategy" in configureServer.',
      hint: 'Did you mean "service_account"? Known values: service_account, resource_owner_password, client_credentials, static_token, none.',
      block: 'configureServer',
      fields: ['serviceAuthStrategy'],
    });
    expect(() =>
      resolveConfig({ serviceAuthStrategy: 'keycloak' as never }, { identityProviders: KEYCLOAK }),
    ).not.toThrow();
    expect(refusal({ serviceAuthStrategy: 'oktaa' }, ['okta'])).toMatchObject({
      hint: 'Did you mean "okta"? Known values: service_account, resource_owner_password, client_credentials, static_token, none, okta.',
    });
  });

  it('is rejected with a suggestion of the nearest provider', () => {
    expect(refusal({ authProvider: 'idpb' })).toMatchObject({
      hint: `Did you mean "idp_b"? Known values: ${AUTH_PROVIDERS.join(', ')}.`,
      fields: ['authProvider'],
    });
  });
});

it('an empty string counts as a field that is not set', () => {
  const texts = ['a2aUrl', 'serviceApiKey', 'serviceToken', 'publicUrl', 'serviceProjectId', 'cacheStore', 'name'];
  expect(() => resolveConfig(Object.fromEntries(texts.map((field) => [field, ''])))).not.toThrow();
});

describe('an invalid address or key', () => {
  it.each(['a2aUrl', 'serviceApiUrl', 'publicUrl'])('is rejected in "%s"', (field) => {
    for (const address of ['agent.example', 'https://user:pass@agent.example']) {
      expect(refusal({ [field]: address })).toMatchObject({
        detail: `Invalid URL in "${field}".`,
        fields: [field],
      });
    }
  });

  it.each([
    ...words(
      'shop.example https://shop.example/ https://shop.example/path https://*.shop.example https://shop.example?x=1',
    ),
    ...words('https://shop.example#x https://shop.example\\x xhttps://shop.example * null'),
    'https://a.example, https://b.example',
    '',
  ])('is rejected as an allowed origin: "%s"', (origin) => {
    for (const field of ['allowedOrigins', 'mediaOrigins']) {
      expect(refusal({ [field]: [origin] })).toMatchObject({
        detail: `Invalid origin in "${field}".`,
        hint: 'List scheme and host only, such as https://shop.example.',
        fields: [field],
      });
    }
  });

  it.each([
    ...words('https://site.example site.example/ site.example/path site.example?x=1 site.example#x site.example\\x'),
    ...words('user@site.example user:pass@site.example *.site.example * .* site%2eexample site.example:'),
    ...words('site.example:http site.example:65536 ::1 [::1 [::g] :3000'),
    'site.example, other.example',
    'site.example other.example',
    '',
    ' ',
  ])('is rejected as an allowed host: "%s"', (host) => {
    expect(refusal({ allowedHosts: [host] })).toMatchObject({
      detail: 'Invalid value in "allowedHosts".',
      hint: expect.stringMatching(/^List host names, .* no scheme, path, user name or wildcard\.$/) as string,
      block: 'configureServer',
      fields: ['allowedHosts'],
    });
  });

  it('is rejected as a cache key or as the address of a cache', () => {
    expect(refusal({ cacheKeys: ['abc'] })).toMatchObject({ detail: 'Invalid key in "cacheKeys".' });
    expect(refusal({ cacheStore: 'http://cache.example' })).toMatchObject({
      detail: 'Invalid value for "cacheStore" of configureServer.',
    });
  });

  it.each(['two words', 'line\nbreak', 'tab\t', 'ключ', 'key\u0000'])(
    'is rejected as an API key: %j',
    (serviceApiKey) => {
      expect(refusal({ serviceApiKey })).toMatchObject({
        detail: 'Invalid value for "serviceApiKey" in configureServer.',
        hint: 'Set it to the key alone: ASCII, no spaces.',
        fields: ['serviceApiKey'],
      });
    },
  );
});

describe('a configuration error', () => {
  /** Configurations with this value in each field, including those inside blocks. */
  const filled = (rows: AnyRows, value: unknown): object[] =>
    Object.entries(rows).flatMap(([name, { fields = {} }]) => [
      { [name]: value },
      ...filled(fields, value).map((inner) => ({ [name]: inner })),
    ]);

  it('never quotes the value of any field', () => {
    const marker = 'hunter2-marker';
    const values = [marker, [marker], { marker }, `https://user:${marker}@agent.example`, `${marker} with blanks`];
    const errors = [marker, [marker], ...values.flatMap((value) => filled(FIELDS, value))].flatMap((config) => {
      try {
        resolveConfig(config as ServerConfig);
        return [];
      } catch (error) {
        return [error as Error];
      }
    });
    expect(errors.length).toBeGreaterThan(150);
    for (const error of errors) {
      const shown = [
        error.message,
        error.stack,
        inspect(error, { depth: 12, showHidden: true }),
        JSON.stringify(error),
      ];
      expect(error.name).toBe('ConfigurationError');
      expect(shown.join('\n')).not.toContain(marker);
    }
  });
});
