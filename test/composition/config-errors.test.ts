import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeIdentityProvider } from '../../src/adapters/fakes/fakes.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
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

describe('the id of a project', () => {
  it.each(['p\n', 'p\x1b', 'prüfung'])('is refused when no header field can carry it: %j', (serviceProjectId) => {
    const expected = { fields: ['serviceProjectId'], hint: 'Set it to an id in ASCII.' };
    expect(refusal({ serviceProjectId })).toMatchObject(expected);
  });
});

describe('a field nobody knows', () => {
  it.each([
    ['a2aURL', 'a2aUrl'],
    ['apiKey', 'serviceApiKey'],
    ['serviceApikey', 'serviceApiKey'],
    ['serviceAcount', 'serviceAccount'],
    ['timeout', 'timeouts'],
    ['allowedOrigin', 'allowedOrigins'],
    ['allowedHost', 'allowedHosts'],
  ])('is refused: "%s" was meant as "%s"', (field, meant) => {
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
    ['serviceAccount', 'kid', 'keyId'],
    ['idpA', 'client_id', 'clientId'],
    ['idpAServiceUser', 'user', 'username'],
    ['idpBService', 'tenant', 'tenantId'],
    ['timeouts', 'connect', 'connectMs'],
  ])('is refused in the block "%s": "%s" was meant as "%s"', (block, field, meant) => {
    expect(refusal({ [block]: { [field]: 'x' } })).toMatchObject({
      detail: `Unknown field "${field}" in the "${block}" configuration block.`,
      hint: `Did you mean "${meant}"?`,
      block,
      fields: [field],
    });
  });

  it('is no guess where nothing is near: the fields there are', () => {
    expect(refusal({ serviceAccount: { color: 'x' } })).toMatchObject({
      hint: expect.stringMatching(/^Known fields: serviceAccountId, keyId, /) as string,
    });
  });

  it.each([
    ['configureServer', '{ "__proto__": { "a2aUrl": "https://agent.example" } }'],
    ['serviceAccount', '{ "serviceAccount": { "__proto__": { "keyId": "k" } } }'],
    ['upstream', '{ "upstream": { "__proto__": {} } }'],
  ])('is refused in "%s" when its name is __proto__', (block, json) => {
    expect(refusal(JSON.parse(json))).toMatchObject({ block, fields: ['__proto__'] });
  });

  it('is an environment that was passed as it is', () => {
    expect(refusal({ npm_config_registry: 'x', SHELL: '/bin/sh' })).toMatchObject({
      hint: 'Pass variables through configFromEnv(process.env).',
    });
  });
});

describe('an invalid value', () => {
  it.each([
    ['a2aUrl', 7, 'a string'],
    ['serviceApiKey', null, 'a string'],
    ['serviceAccount', 'text', 'an object'],
    ['bodyLimitBytes', '2mb', 'a number'],
    ['bodyLimitBytes', 0, 'a number of at least 1'],
    ['bodyLimitBytes', 1.5, 'a whole number'],
    ['keepAliveMs', -1, 'a number of at least 0'],
    ['keepAliveMs', 2_147_483_648, 'a number of at most 2147483647'],
    ['authUnavailableStatus', 500, '401 or 503'],
    ['cacheStore', { get: () => undefined }, 'an address, or an object with get, set and delete'],
    ['telemetry', {}, 'an object with emit, several, or "silent"'],
    ['telemetry', null, 'an object with emit, several, or "silent"'],
    ['telemetry', [{ emit: () => undefined }, {}], 'an object with emit, several, or "silent"'],
    ['chatLimit', { consume: () => undefined }, 'an object with admit'],
    ['allowedOrigins', 'https://shop.example', 'a list of strings'],
    ['mediaOrigins', 'https://cdn.example', 'a list of strings'],
    ['trustBrandCss', 'true', 'true or false'],
    ['allowedHosts', 'site.example', 'a list of strings'],
    ['a2aMethods', 'chats', '"chat", "all", or a list of strings'],
  ])('in "%s" is refused: %j', (field, value, expected) => {
    expect(refusal({ [field]: value })).toMatchObject({
      detail: `Invalid value for "${field}" in configureServer.`,
      hint: `Set it to ${expected}.`,
      block: 'configureServer',
      fields: [field],
    });
  });

  it.each([
    ['serviceAccount', 'serviceAccountId', 7, 'a string'],
    ['serviceAccount', 'claims', 'text', 'an object'],
    ['idpAServiceUser', 'password', 1234, 'a string'],
    ['timeouts', 'headersMs', '60s', 'a number'],
    ['timeouts', 'connectMs', -1, 'a number of at least 0'],
    ['timeouts', 'cacheMs', 0, 'a number of at least 1'],
    ['timeouts', 'identityProviderMs', 0, 'a number of at least 1'],
    ['timeouts', 'lookupMs', 0, 'a number of at least 1'],
    ['timeouts', 'headersMs', Number.POSITIVE_INFINITY, 'a whole number'],
  ])('in the block "%s" is refused in "%s": %j', (block, field, value, expected) => {
    expect(refusal({ [block]: { [field]: value } })).toMatchObject({
      detail: `Invalid value for "${field}" in the "${block}" configuration block.`,
      hint: `Set it to ${expected}.`,
      block,
      fields: [field],
    });
  });

  it.each([
    'connectMs',
    'headersMs',
    'bodyIdleMs',
    'bodyMs',
    'streamIdleMs',
    'requestBodyMs',
    'requestIdleMs',
    'lookupMs',
    'identityProviderMs',
    'sessionMs',
    'cacheMs',
  ])('in the block "timeouts" is refused in "%s" when no timer can wait so long: it would fire at once', (field) => {
    expect(refusal({ timeouts: { [field]: 2_147_483_648 } })).toMatchObject({
      hint: 'Set it to a number of at most 2147483647.',
      block: 'timeouts',
      fields: [field],
    });
  });

  it('is none: the longest a timer can wait', () => {
    const longest = 2_147_483_647;
    const timeouts = { connectMs: longest, lookupMs: longest, sessionMs: longest };
    expect(resolveConfig({ keepAliveMs: longest, timeouts })).toMatchObject({
      keepAliveMs: longest,
      timeouts,
    });
  });

  it('that is the address of the agent card says what to leave out', () => {
    expect(refusal({ a2aUrl: 'https://agent.example/a2a/.well-known/agent-card.json' })).toMatchObject({
      hint: expect.stringMatching(/^This is the address of the agent card: remove /) as string,
      fields: ['a2aUrl'],
    });
  });

  it('inside a list names the list', () => {
    expect(refusal({ allowedOrigins: ['https://shop.example', 7] })).toMatchObject({
      detail: 'Invalid value for "allowedOrigins" in configureServer.',
      block: 'configureServer',
      fields: ['allowedOrigins'],
    });
  });

  it.each([
    null,
    undefined,
    'text',
    7,
    [],
    new Map(),
    new URL('https://agent.example'),
    Promise.resolve({ a2aUrl: 'https://agent.example' }),
  ])('for the whole configuration is refused: %s', (config) => {
    expect(refusal(config)).toMatchObject({
      detail: 'The configuration is not an object.',
      hint: 'Pass an object to configureServer.',
      block: 'configureServer',
    });
  });
});

describe('an empty text', () => {
  it.each(['bodyLimitBytes', 'allowedOrigins', 'telemetry', 'onBehalfOf', 'timeouts', 'chatLimit', 'upstream'])(
    'clears "%s", whatever the field holds otherwise',
    (field) => {
      const { place: _place, ...cleared } = resolveConfig({ [field]: '' } as never);
      const { place: _other, ...unset } = resolveConfig({});
      expect(inspect(cleared, { depth: 6 })).toBe(inspect(unset, { depth: 6 }));
    },
  );
});

describe('a name nobody knows', () => {
  it("is refused with the nearest strategy, the site's own ones among them", () => {
    expect(refusal({ serviceAuthStrategy: 'service-account' })).toMatchObject({
      detail: 'Invalid value for "serviceAuthStrategy" in configureServer.',
      hint: 'Did you mean "service_account"? Known values: service_account, resource_owner_password, client_credentials.',
      block: 'configureServer',
      fields: ['serviceAuthStrategy'],
    });
    expect(refusal({ serviceAuthStrategy: 'oktaa' }, ['okta'])).toMatchObject({
      hint: 'Did you mean "okta"? Known values: service_account, resource_owner_password, client_credentials, okta.',
    });
  });

  it('is refused with the nearest provider', () => {
    expect(refusal({ authProvider: 'idpb' })).toMatchObject({
      hint: 'Did you mean "idp_b"? Known values: idp_a, idp_b.',
      fields: ['authProvider'],
    });
  });

  it("is neither an empty one, which is absent, nor one of the site's own", () => {
    expect(() => resolveConfig({ serviceAuthStrategy: '' })).not.toThrow();
    expect(() =>
      resolveConfig({ serviceAuthStrategy: 'okta' }, { identityProviders: { okta: new FakeIdentityProvider('okta') } }),
    ).not.toThrow();
  });
});

describe('an address that cannot be called', () => {
  it.each(['a2aUrl', 'serviceApiUrl', 'publicUrl'])('is refused in "%s"', (field) => {
    for (const address of [
      'agent.example',
      'ftp://agent.example',
      'https://user:pass@agent.example',
      'https://agent.example?x=1',
      'https://agent.example#x',
    ]) {
      expect(refusal({ [field]: address })).toMatchObject({
        detail: `Invalid URL in "${field}".`,
        fields: [field],
      });
    }
  });

  it.each([
    'shop.example',
    'https://shop.example/',
    'https://shop.example/path',
    'https://a.example, https://b.example',
    'https://*.shop.example',
    'https://shop.example?x=1',
    'https://shop.example#x',
    'https://shop.example\\x',
    '*',
    'null',
    '',
  ])('is refused as an allowed origin: "%s"', (origin) => {
    for (const field of ['allowedOrigins', 'mediaOrigins']) {
      expect(refusal({ [field]: [origin] })).toMatchObject({
        detail: `Invalid origin in "${field}".`,
        fields: [field],
      });
    }
  });

  it.each([
    'https://site.example',
    'site.example/',
    'site.example/path',
    'site.example?x=1',
    'site.example#x',
    'site.example\\x',
    'user@site.example',
    'user:pass@site.example',
    '*.site.example',
    '*',
    '.*',
    'site.example, other.example',
    'site.example other.example',
    'site%2eexample',
    'site.example:',
    'site.example:http',
    'site.example:65536',
    '::1',
    '[::1',
    '[::g]',
    ':3000',
    '',
    ' ',
  ])('is refused as an allowed host: "%s"', (host) => {
    expect(refusal({ allowedHosts: [host] })).toMatchObject({
      detail: 'Invalid value in "allowedHosts".',
      block: 'configureServer',
      fields: ['allowedHosts'],
    });
  });

  it.each(['two words', 'line\nbreak', 'tab\t', 'ключ', 'key\u0000'])(
    'and a key that fits into no header field: %j',
    (serviceApiKey) => {
      expect(refusal({ serviceApiKey })).toMatchObject({
        detail: 'Invalid value for "serviceApiKey" in configureServer.',
        hint: 'Set it to the key alone: ASCII, no spaces.',
        fields: ['serviceApiKey'],
      });
    },
  );
});

describe('no error about a configuration quotes a value, for a secret may sit in the wrong field:', () => {
  const marker = 'hunter2-marker';
  const wrong: readonly unknown[] = [
    marker,
    [marker],
    { nonsense: marker },
    { a2aUrl: marker },
    { a2aUrl: `https://user:${marker}@agent.example` },
    { serviceApiUrl: `https://agent.example?key=${marker}` },
    { publicUrl: { marker } },
    { serviceApiKey: `${marker} with blanks` },
    { serviceApiKey: [marker] },
    { serviceAuthStrategy: marker },
    { authProvider: marker },
    { serviceAccount: marker },
    { serviceAccount: { privateKeyPem: [marker] } },
    { serviceAccount: { nonsense: marker } },
    { serviceAccount: { claims: marker } },
    { serviceAccount: { audience: { marker } } },
    { idpAServiceUser: { password: { value: marker } } },
    { a2aMethods: marker },
    { a2aMethods: { marker } },
    { timeouts: { connectMs: marker } },
    { bodyLimitBytes: marker },
    { keepAliveMs: marker },
    { allowedOrigins: [marker] },
    { allowedOrigins: marker },
    { allowedHosts: [`https://${marker}`] },
    { allowedHosts: marker },
    { authUnavailableStatus: marker },
    { cacheStore: marker },
    { telemetry: marker },
  ];

  it.each(wrong.map((config) => [config]))('%j', (config) => {
    const error = refusal(config);
    const shown = [error.message, error.stack, inspect(error, { depth: 12, showHidden: true }), JSON.stringify(error)];
    expect(error.name).toBe('ConfigurationError');
    expect(shown.join('\n')).not.toContain(marker);
  });
});
