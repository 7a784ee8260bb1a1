import { describe, expect, it } from 'vitest';
import { configFromEnv } from '../../src/composition/env.js';

const VARIABLES: readonly (readonly [name: string, first: string, field?: string])[] = [
  ['A2A_URL', 'a2aUrl'],
  ['SERVICE_API_URL', 'serviceApiUrl'],
  ['SERVICE_API_KEY', 'serviceApiKey'],
  ['SERVICE_PROJECT_ID', 'serviceProjectId'],
  ['SERVICE_AUTH_STRATEGY', 'serviceAuthStrategy'],
  ['AUTH_PROVIDER', 'authProvider'],
  ['SERVICE_ACCOUNT_ID', 'serviceAccount', 'serviceAccountId'],
  ['SERVICE_ACCOUNT_KEY_ID', 'serviceAccount', 'keyId'],
  ['SERVICE_ACCOUNT_PRIVATE_KEY', 'serviceAccount', 'privateKeyPem'],
  ['SERVICE_ACCOUNT_PRIVATE_KEY_PATH', 'serviceAccount', 'privateKeyPath'],
  ['SERVICE_ACCOUNT_AUDIENCE', 'serviceAccount', 'audience'],
  ['IDP_A_DOMAIN', 'idpA', 'domain'],
  ['IDP_A_CLIENT_ID', 'idpA', 'clientId'],
  ['IDP_A_CLIENT_SECRET', 'idpA', 'clientSecret'],
  ['IDP_A_AUDIENCE', 'idpA', 'audience'],
  ['IDP_A_SCOPE', 'idpA', 'scope'],
  ['IDP_A_REALM', 'idpA', 'realm'],
  ['IDP_A_SERVICE_USER_USERNAME', 'idpAServiceUser', 'username'],
  ['IDP_A_SERVICE_USER_PASSWORD', 'idpAServiceUser', 'password'],
  ['IDP_B_TENANT_ID', 'idpBService', 'tenantId'],
  ['IDP_B_CLIENT_ID', 'idpBService', 'clientId'],
  ['IDP_B_SCOPE', 'idpBService', 'scope'],
  ['IDP_B_CLIENT_SECRET', 'idpBService', 'clientSecret'],
  ['IDP_B_CERTIFICATE_PATH', 'idpBService', 'certificatePath'],
  ['IDP_B_PRIVATE_KEY_PATH', 'idpBService', 'privateKeyPath'],
  ['PUBLIC_URL', 'publicUrl'],
  ['CACHE_URL', 'cacheStore'],
];

function refusal(env: Readonly<Record<string, string>>): unknown {
  try {
    return configFromEnv(env);
  } catch (error) {
    return error;
  }
}

describe('an environment variable', () => {
  it.each(VARIABLES.map(([name, ...place]) => ({ name, place: place.join('.') })))('$name sets $place', (row) => {
    const [first = '', field] = row.place.split('.');
    const expected = { [first]: field === undefined ? 'value' : { [field]: 'value' } };
    expect(configFromEnv({ [row.name]: 'value' })).toEqual(expected);
  });

  it("does not stand in another's way: all of them together make one configuration", () => {
    const env = Object.fromEntries(VARIABLES.map(([name]) => [name, `value of ${name}`]));
    const config = configFromEnv(env) as Record<string, string | Record<string, string>>;
    for (const [name, first, field] of VARIABLES) {
      const found = config[first];
      expect(field === undefined ? found : (found as Record<string, string>)[field]).toBe(`value of ${name}`);
    }
  });

  it('that holds several values has commas between them', () => {
    expect(configFromEnv({ CACHE_KEYS: 'new-key, old-key,' })).toEqual({ cacheKeys: ['new-key', 'old-key'] });
  });

  it('that is empty or undefined is absent', () => {
    expect(configFromEnv({ A2A_URL: '', SERVICE_ACCOUNT_ID: '', IDP_A_DOMAIN: undefined })).toEqual({});
  });

  it.each([
    'PATH',
    'NODE_ENV',
    'SERVICE_NAME',
    'SERVICE_API_TOKEN_FOR_SOMEBODY_ELSE',
    'A2A_SERVER_PORT_RANGE',
    'MY_IDP_A_DOMAIN',
    'CACHE_TTL',
    'CACHE_KEY',
    'a2a_url',
    'constructor',
    'toString',
    '__proto__',
  ])('of somebody else is left alone: %s', (name) => {
    expect(configFromEnv(Object.fromEntries([[name, 'value']]))).toEqual({});
  });

  it.each([
    ['SERVICE_ACCOUNT_PRIVATE_KEY_PAHT', 'SERVICE_ACCOUNT_PRIVATE_KEY_PATH'],
    ['SERVICE_ACCOUNT_KEYID', 'SERVICE_ACCOUNT_KEY_ID'],
    ['SERVICE_ACCOUNT_SECRET_AUDIENCE', 'SERVICE_ACCOUNT_AUDIENCE'],
    ['SERVICE_AUTH_STRATEGIE', 'SERVICE_AUTH_STRATEGY'],
    ['IDP_A_CLIENTID', 'IDP_A_CLIENT_ID'],
    ['IDP_A_SERVICE_USER_PASSWRD', 'IDP_A_SERVICE_USER_PASSWORD'],
    ['IDP_B_TENANT', 'IDP_B_TENANT_ID'],
    ['A2A_URI', 'A2A_URL'],
    ['SERVICE_API_UR', 'SERVICE_API_URL'],
    ['SERVICE_PROJECT_IDD', 'SERVICE_PROJECT_ID'],
  ])('that is misspelt is refused: %s was meant as %s', (name, meant) => {
    const error = refusal({ [name]: 'hunter2-marker' });
    expect(error).toMatchObject({
      name: 'ConfigurationError',
      code: 'configuration_invalid',
      detail: `The environment variable ${name} is none this package reads.`,
      hint: `Did you mean ${meant}?`,
      block: 'environment',
      fields: [name],
    });
    expect(String(error)).not.toContain('hunter2-marker');
  });

  it('that is misspelt and empty is no mistake', () => {
    expect(configFromEnv({ IDP_A_CLIENTID: '' })).toEqual({});
  });

  it('is read and nothing is set', () => {
    const env = Object.freeze({ A2A_URL: 'https://agent.example' });
    expect(configFromEnv(env)).toEqual({ a2aUrl: 'https://agent.example' });
  });
});
