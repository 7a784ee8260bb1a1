import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  type AgentBffError,
  ServiceAuthError,
  configFromEnv,
  configureServer,
  createToolkit,
  getAuthHeaders,
  type ServerConfig,
} from 'agent-bff';
import { FakeIdentityProvider, FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { words } from '../support/words.js';
import { examine } from '../../src/composition/cli/doctor.js';
import { warningsOf } from '../../src/composition/config/env.js';
import { PROVIDERS } from '../../src/composition/config/providers.js';
import { FIELDS } from '../../src/composition/config/schema.js';
import type { AnyRows } from '../../src/domain/shared/setting.js';

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
  ['IDP_B_AUTHORITY', 'idpBService', 'authority'],
  ['IDP_B_CLIENT_ID', 'idpBService', 'clientId'],
  ['IDP_B_SCOPE', 'idpBService', 'scope'],
  ['IDP_B_CLIENT_SECRET', 'idpBService', 'clientSecret'],
  ['IDP_B_CERTIFICATE_PATH', 'idpBService', 'certificatePath'],
  ['IDP_B_PRIVATE_KEY_PATH', 'idpBService', 'privateKeyPath'],
  ['PUBLIC_URL', 'publicUrl'],
  ['CACHE_URL', 'cacheStore'],
];

/** A configuration without its origin, which only spread and assignment see. */
function fieldsOf(config: object): object {
  return Object.fromEntries(Object.entries(config));
}

function valueOf(name: string): string {
  return `https://${name.toLowerCase().replaceAll('_', '-')}.example`;
}

/** The variables Kubernetes sets for two neighbouring services: one called a2a with an unnamed port, and one with a named port. */
function kubernetesService(name: string): Record<string, string> {
  return {
    [`${name}_SERVICE_HOST`]: '10.0.0.1',
    [`${name}_SERVICE_PORT`]: '80',
    [`${name}_SERVICE_PORT_HTTP`]: '80',
    [`${name}_PORT`]: 'tcp://10.0.0.1:80',
    [`${name}_PORT_80_TCP`]: 'tcp://10.0.0.1:80',
    [`${name}_PORT_80_TCP_PROTO`]: 'tcp',
    [`${name}_PORT_80_TCP_PORT`]: '80',
    [`${name}_PORT_80_TCP_ADDR`]: '10.0.0.1',
    [`${name}_PORT_53_UDP`]: 'udp://10.0.0.1:53',
  };
}

const SERVICES = words('KUBERNETES A2A SERVICE_API SERVICE_ACCOUNT SERVICE_AUTH SERVICE_PROJECT IDP_A IDP_B');

const PLACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a pod beside services with our names, which knows its own account': {
    ...Object.fromEntries(SERVICES.flatMap((name) => Object.entries(kubernetesService(name)))),
    ...kubernetesService('SERVICE_ACCOUNT_PRIVATE_KEY'),
    SERVICE_ACCOUNT_NAME: 'site',
    SERVICE_ACCOUNT_EMAIL: 'site@p.iam.example',
    SERVICE_ACCOUNT: 'site',
    SERVICE_NAME: 'site',
    SERVICE_PORT: '3000',
    POD_NAME: 'site-1',
    HOSTNAME: 'site-1',
    PORT: '3000',
  },
  'Cloud Run': {
    K_SERVICE: 'site',
    K_REVISION: 'site-1',
    K_CONFIGURATION: 'site',
    PORT: '8080',
    CLOUD_RUN_JOB: 'job',
    CLOUD_RUN_TASK_INDEX: '0',
    GOOGLE_CLOUD_PROJECT: 'p',
    SERVICE_ACCOUNT_KEY: '{}',
  },
};

/** The variables of a table, each with its field. */
function variablesIn(rows: AnyRows): readonly (readonly [field: string, variable: string])[] {
  return Object.entries(rows).flatMap(([name, { variable, fields = {} }]) => [
    ...(variable === undefined ? [] : [[name, variable] as const]),
    ...variablesIn(fields),
  ]);
}

/** Fields whose variable does not end in their own name. */
const RENAMED = ['privateKeyPem', 'cacheStore'];

describe('the environment variables of all fields', () => {
  it('are different, and each ends in the name of its field', () => {
    const named = variablesIn(FIELDS);
    expect(named.map(([, variable]) => variable).filter((one, index, all) => all.indexOf(one) !== index)).toEqual([]);
    const others = named.filter(([field, name]) => !name.endsWith(field.replace(/[A-Z]/g, '_$&').toUpperCase()));
    expect(others.map(([field]) => field)).toEqual(RENAMED);
  });

  it.each(Object.entries(PROVIDERS))('of the provider %s begin with its prefix', (_name, { blocks, prefix }) => {
    const variables = Object.values(blocks as Readonly<Record<string, AnyRows>>).flatMap(variablesIn);
    expect(variables.filter(([, variable]) => !variable.startsWith(prefix))).toEqual([]);
  });
});

describe('an environment variable', () => {
  it.each(VARIABLES.map(([name, ...place]) => ({ name, place: place.join('.') })))('$name sets $place', (row) => {
    const [first = '', field] = row.place.split('.');
    const expected = { [first]: field === undefined ? valueOf(row.name) : { [field]: valueOf(row.name) } };
    expect(fieldsOf(configFromEnv({ [row.name]: valueOf(row.name) }))).toEqual(expected);
  });

  it('is split into a list at commas', () => {
    expect(fieldsOf(configFromEnv({ CACHE_KEYS: 'new-key, old-key,' }))).toEqual({ cacheKeys: ['new-key', 'old-key'] });
  });

  it('is ignored when it is empty or undefined', () => {
    expect(fieldsOf(configFromEnv({ A2A_URL: '', SERVICE_ACCOUNT_ID: '', IDP_A_DOMAIN: undefined }))).toEqual({});
  });

  it.each([
    ...words('PATH NODE_ENV SERVICE_NAME SERVICE_API_TOKEN_FOR_SOMEBODY_ELSE A2A_SERVER_PORT_RANGE MY_IDP_A_DOMAIN'),
    ...words('CACHE_TTL CACHE_KEY a2a_url constructor toString __proto__'),
  ])('that belongs to another program is ignored: %s', (name) => {
    expect(fieldsOf(configFromEnv(Object.fromEntries([[name, 'value']])))).toEqual({});
  });

  it.each(Object.entries(PLACES))('set by %s is ignored without a warning', (_place, env) => {
    const config = configFromEnv({ ...env, A2A_URL: 'https://agent.example' });
    expect(fieldsOf(config)).toEqual({ a2aUrl: 'https://agent.example' });
    const telemetry = new RecordingTelemetry();
    createToolkit(config, { telemetry });
    expect(telemetry.events).toEqual([]);
  });

  it.each([
    ['SERVICE_ACCOUNT_PRIVATE_KEY_PAHT', 'SERVICE_ACCOUNT_PRIVATE_KEY_PATH'],
    ['SERVICE_AUTH_STRATEGIE', 'SERVICE_AUTH_STRATEGY'],
    ['IDP_A_CLIENTID', 'IDP_A_CLIENT_ID'],
    ['A2A_URI', 'A2A_URL'],
    ['SERVICE_API_KYE', 'SERVICE_API_KEY'],
    ['SERVCE_API_KEY', 'SERVICE_API_KEY'],
    ['A2AURL', 'A2A_URL'],
    ['SERVICE_ACCOUNT_PRIVATE_KEY_PEM', 'SERVICE_ACCOUNT_PRIVATE_KEY'],
    ['SERVICE_ACCOUNT_SERVICE_ACCOUNT_ID', 'SERVICE_ACCOUNT_ID'],
    ['SERVICE_API_Key', 'SERVICE_API_KEY'],
    ['XA2A_URL', 'A2A_URL'],
  ])('is reported as misspelt: %s for %s', (name, meant) => {
    const config = configFromEnv({ [name]: 'hunter2-marker' });
    expect(warningsOf(config)).toEqual([
      {
        code: 'variable_misspelt',
        detail: `${name}: unknown environment variable. Did you mean ${meant}?`,
        variable: name,
      },
    ]);
    expect(JSON.stringify(config)).toBe('{}');
  });

  it.each([
    ...words('A2A_KEY A2A_HOST SERVICE_API_HOST SERVICE_ACCOUNT_JSON IDP_B_REGION CACHE_URI PUBLIC_URI B2B_URL'),
    ...words('A2a_URL CONVERSATIONS \uFEFFHOST'),
  ])('is not reported as misspelt when it is not similar enough, or not ours: %s', (name) => {
    expect(warningsOf(configFromEnv({ [name]: 'value', SERVICE_AUTH_STRATEGY: 'static_token' }))).toEqual([]);
  });

  it.each([
    ['utf16le', '\uFEFFA2A_URL=https://agent.example'],
    ['latin1', '\xFE\xFF\x00A\x002\x00A\x00=\x00x'],
  ] as const)('of a UTF-16 file is reported with that cause: %s', (encoding, text) => {
    const file = join(temporaryFolder('env'), '.env');
    writeFileSync(file, Buffer.from(text, encoding));
    const read = 'process.loadEnvFile(process.argv[1]); console.log(JSON.stringify(process.env))';
    const env = JSON.parse(execFileSync(process.execPath, ['-e', read, file], { encoding: 'utf8', env: {} })) as object;
    expect(warningsOf(configFromEnv({ ...env }))).toMatchObject([
      { code: 'variable_misspelt', detail: expect.stringMatching(/UTF-16.*Save the file as UTF-8\.$/) as string },
    ]);
  });

  it('that follows a byte order mark is reported with that cause', () => {
    expect(warningsOf(configFromEnv({ '\uFEFFA2A_URL': 'https://agent.example' }))).toEqual([
      {
        code: 'variable_misspelt',
        detail:
          'A2A_URL: its file begins with a byte order mark, which is read as part of this name. Save the file without one.',
        variable: 'A2A_URL',
      },
    ]);
  });

  it.each([
    ['key\n', 'key'],
    ['key\r\n', 'key'],
    ['key \n\n', 'key'],
    ['key ', 'key '],
  ])('loses its trailing line break, and nothing else: %j', (value, serviceApiKey) => {
    expect(fieldsOf(configFromEnv({ SERVICE_API_KEY: value }))).toEqual({ serviceApiKey });
  });

  it.each(['SERVICE_TOKN', 'SERVICE_TOKENS', 'SERVIC_TOKEN'])(
    '%s is reported when the strategy needs a token',
    (name) => {
      expect(warningsOf(configFromEnv({ [name]: 'x' }))).toEqual([]);
      const env = { [name]: 'x', SERVICE_AUTH_STRATEGY: 'static_token' };
      expect(warningsOf(configFromEnv(env))).toEqual([
        expect.objectContaining({ code: 'variable_misspelt', variable: name }),
      ]);
    },
  );

  it('is not reported as misspelt when the right one is set too', () => {
    const env = { SERVICE_API_KEY: 'now', SERVICE_API_KEY2: 'before' };
    expect(warningsOf(configFromEnv(env))).toEqual([]);
  });

  it.each(['/', '.', '/app', './', 'site.example', 'site.example:3000', 'xhttps://site.example'])(
    'called PUBLIC_URL is ignored with a warning when it has no scheme: %s',
    (value) => {
      const config = configFromEnv({ PUBLIC_URL: value });
      expect(config).not.toHaveProperty('publicUrl');
      expect(warningsOf(config)).toEqual([
        {
          code: 'variable_ignored',
          detail:
            'PUBLIC_URL: ignored, because it is not a URL such as https://site.example. Set "publicUrl" in configureServer if this variable belongs to another program.',
          variable: 'PUBLIC_URL',
        },
      ]);
      expect(configFromEnv({ PUBLIC_URL: 'http://site.example' })).toHaveProperty('publicUrl');
    },
  );

  const FOREIGN: readonly (readonly [string, string, string])[] = [
    ['CACHE_URL', 'memcached://cache.example:11211', 'cacheStore'],
    ['CACHE_URL', 'file:///tmp/cache', 'cacheStore'],
    ['CACHE_KEYS', 'users,posts', 'cacheKeys'],
    ['AUTH_PROVIDER', 'google', 'authProvider'],
    ['AUTH_PROVIDER', 'credentials', 'authProvider'],
  ];
  it.each(FOREIGN)(
    'called %s is ignored with one warning when its value is foreign: %s',
    async (name, value, field) => {
      const telemetry = new RecordingTelemetry();
      configureServer({ ...configFromEnv({ [name]: value }), telemetry });
      configureServer({ keepAliveMs: 10_000 });
      const detail = `${name}: ignored, because its value is none of "${field}". Set "${field}" in configureServer if this variable belongs to another program.`;
      expect(telemetry.of('warning').map(({ code, detail: said }) => [code, said])).toEqual([
        ['variable_foreign', detail],
      ]);
      const [found] = (
        await examine(configFromEnv({ [name]: value }), {
          upstream: new FakeUpstream(() => ({ status: 404, headers: {}, body: null })),
        })
      ).filter(({ check }) => check === 'environment');
      expect(found).toMatchObject({ result: 'failed', fields: [name] });
      const own = { [field]: field === 'cacheKeys' ? value.split(',') : value };
      expect(() => createToolkit(own)).toThrow(`"${field}"`);
    },
  );

  it.each([
    ['CACHE_URL', 'reddis://cache.example:6379', 'rediss://cache.example:6379/0'],
    ['CACHE_URL', 'cache.example:6379', 'rediss://cache.example:6379/0'],
    ['CACHE_KEYS', `${'ab'.repeat(11)}==,users`, 'Invalid key in "cacheKeys".'],
    ['AUTH_PROVIDER', 'auth0', 'Set it to "idp_a", which is for providers like auth0.'],
    ['AUTH_PROVIDER', 'Entra', 'Set it to "idp_b", which is for providers like entra.'],
    ['AUTH_PROVIDER', 'microsoft-entra-id', 'Set it to "idp_b", which is for providers like microsoft-entra-id.'],
    ['AUTH_PROVIDER', 'idpa', 'Did you mean "idp_a"?'],
  ])('called %s stops the start when its value is nearly right: %s', (name, value, advice) => {
    expect(() => createToolkit(configFromEnv({ [name]: value }))).toThrow(advice);
  });

  it('called CACHE_KEYS stops the start with a short value when something needs keys', () => {
    const env = { CACHE_KEYS: 'users,posts' };
    for (const more of [{ CACHE_URL: 'redis://cache.example' }, { A2A_CONVERSATIONS: 'visitor' }]) {
      expect(() => createToolkit(configFromEnv({ ...env, ...more }))).toThrow('Invalid key in "cacheKeys".');
    }
    expect(() => createToolkit(configFromEnv({ ...env, CACHE_URL: 'memcached://cache.example' }))).not.toThrow();
  });

  it('called AUTH_PROVIDER may name a provider of the site', () => {
    const google = new FakeIdentityProvider('google');
    for (const toolkit of [
      () => createToolkit({ ...configFromEnv({ AUTH_PROVIDER: 'google' }), identityProviders: { google } }),
      () => createToolkit(configFromEnv({ AUTH_PROVIDER: 'google' }), { identityProviders: { google } }),
    ]) {
      expect(toolkit().handlers.facts.customProviders).toEqual(new Set(['google']));
    }
  });

  it('called SERVICE_TOKEN is read under SERVICE_AUTH_STRATEGY=static_token, and otherwise ignored with a warning', () => {
    const read = configFromEnv({ SERVICE_TOKEN: 'token', SERVICE_AUTH_STRATEGY: 'static_token\n' });
    expect(fieldsOf(read)).toEqual({ serviceToken: 'token', serviceAuthStrategy: 'static_token' });
    for (const strategy of [undefined, 'none', 'service_account']) {
      const config = configFromEnv({ SERVICE_TOKEN: 'token', SERVICE_AUTH_STRATEGY: strategy });
      expect(config).not.toHaveProperty('serviceToken');
      expect(warningsOf(config)).toEqual([
        {
          code: 'variable_ignored',
          detail:
            'SERVICE_TOKEN: ignored, because SERVICE_AUTH_STRATEGY is not static_token. Set SERVICE_AUTH_STRATEGY=static_token, or ignore this if SERVICE_TOKEN belongs to another program.',
          variable: 'SERVICE_TOKEN',
        },
      ]);
    }
  });

  it('is reported once, even when the configuration is spread into another', () => {
    const telemetry = new RecordingTelemetry();
    configureServer({ ...configFromEnv({ SERVICE_API_KYE: 'x' }), telemetry });
    configureServer({ keepAliveMs: 10_000 });
    const told = telemetry.of('warning').map(({ code, detail }) => `${code} ${detail.split(':', 1)[0] ?? ''}`);
    expect(told).toEqual(['variable_misspelt SERVICE_API_KYE']);
  });

  it.each([
    ['SERVICE_API_KEY', '"hunter2-hunter2"', 'in quotes. Remove them'],
    ['SERVICE_API_KEY', '${KEY}', 'a placeholder. Replace it'],
    ['SERVICE_ACCOUNT_ID', ' "hunter2" ', 'in quotes. Remove them'],
    ['SERVICE_ACCOUNT_ID', 'null', 'a placeholder. Replace it'],
  ])('is reported for %s with the value %s, without the value', (name, value, what) => {
    const telemetry = new RecordingTelemetry();
    createToolkit({ ...configFromEnv({ [name]: value }), telemetry });
    expect(telemetry.of('warning')).toMatchObject([{ code: 'variable_suspect' }]);
    expect(telemetry.of('warning')[0]?.detail).toContain(`${name}: its value is ${what}`);
    expect(JSON.stringify(telemetry.events)).not.toContain('hunter2');
  });

  it.each([
    'a "word"',
    '$tr{0}ng',
    '"-----BEGIN PRIVATE KEY-----\\nMII=\\n-----END PRIVATE KEY-----"',
    "it's",
    '"one" two',
    'a<b>',
    '<a>b',
    'not-null',
    'nullable',
  ])('is not reported for the value %s', (value) => {
    expect(warningsOf(configFromEnv({ SERVICE_ACCOUNT_PRIVATE_KEY: value }))).toEqual([]);
  });

  it.each([undefined, null, 'A2A_URL=x'])('is refused with what to pass instead of %s', (env) => {
    expect(() => configFromEnv(env as never)).toThrow(
      expect.objectContaining({
        block: 'configFromEnv',
        message: expect.stringContaining('"env" of configFromEnv. Set it to process.env.') as string,
      }) as Error,
    );
  });

  it('can come from a frozen environment', () => {
    const env = Object.freeze({ A2A_URL: 'https://agent.example' });
    expect(fieldsOf(configFromEnv(env))).toEqual({ a2aUrl: 'https://agent.example' });
  });
});

describe('a hint names the environment variable of its field', () => {
  const BAD = { A2A_URL: 'agent.example/a2a' };
  const named = 'In the environment: A2A_URL.';
  const missing = /[^.]\. In the environment: SERVICE_API_KEY, SERVICE_AUTH_STRATEGY, SERVICE_TOKEN, AUTH_PROVIDER\.$/;
  const advice = (make: () => unknown): string => {
    try {
      make();
    } catch (error) {
      return String((error as AgentBffError).hint);
    }
    return '';
  };

  it.each<[string, boolean, ServerConfig]>([
    ['read from it', true, configFromEnv(BAD)],
    ['read from it, in a configuration with more fields', true, { ...configFromEnv(BAD), keepAliveMs: 1 }],
    ['that replaces one of it', false, { ...configFromEnv({ A2A_URL: 'https://agent.example' }), a2aUrl: 'agent' }],
    ['without it', false, { a2aUrl: 'agent.example/a2a' }],
  ])('of a value %s: %s', (_what, isNamed, config) => {
    const hint = advice(() => configureServer(config));
    expect(hint).toContain('absolute http or https');
    expect(hint.endsWith(named)).toBe(isNamed);
  });

  it.each([
    ['A2A_URL', 'agent.example/a2a'],
    ['PUBLIC_URL', 'https://site.example/#top'],
    ['CACHE_URL', 'cache.example:6379'],
    ['CACHE_KEYS', 'abcdefghijklmnopqrstuv'],
    ['AUTH_PROVIDER', 'auth0'],
    ['IDP_A_DOMAIN', 'http://idp.example'],
  ])('also %s', (name, value) => {
    const hint = advice(() => createToolkit(configFromEnv({ [name]: value })));
    expect(hint).toMatch(new RegExp(`\\. In the environment: ${name}\\.$`));
  });

  it.each([
    ['"https://agent.example/a2a"', 'in quotes'],
    ["'https://agent.example/a2a'", 'in quotes'],
    ['${AGENT}/a2a', 'a placeholder'],
    ['$(AGENT_URL)', 'a placeholder'],
    ['{{ agent }}', 'a placeholder'],
    ['<address of the agent>', 'a placeholder'],
    ['undefined', 'a placeholder'],
  ])('with what a shell would have changed in %s', (value, oddity) => {
    const hint = advice(() => createToolkit(configFromEnv({ A2A_URL: value })));
    expect(hint).toContain(`In the environment: A2A_URL (its value is ${oddity}).`);
  });

  it('with the quotes of a key that the agent refuses, and not with the key', async () => {
    const upstream = new FakeUpstream(() => ({ status: 401, headers: {}, body: '{}' }));
    const env = { A2A_URL: 'https://agent.example', SERVICE_API_KEY: '"hunter2-hunter2"' };
    const response = await createWebHandler({ toolkit: createToolkit(configFromEnv(env), { upstream }) })(
      new Request('https://site.example/api/a2a', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}',
      }),
    );
    const text = await response.text();
    expect(text).toContain('SERVICE_API_KEY (its value is in quotes)');
    expect(text).not.toContain('hunter2');
  });

  it('after another configureServer too, and where the value is missing', async () => {
    configureServer(configFromEnv({ A2A_URL: 'https://agent.example' }));
    configureServer({ telemetry: 'silent' });
    await expect(getAuthHeaders()).rejects.toBeInstanceOf(ServiceAuthError);
    await expect(getAuthHeaders()).rejects.toMatchObject({
      fields: ['serviceAuthStrategy', 'authProvider', 'serviceApiKey', 'serviceToken'],
      hint: expect.stringMatching(missing) as string,
      message: expect.stringMatching(missing) as string,
    });
    const telemetry = new RecordingTelemetry();
    const toolkit = createToolkit({ ...configFromEnv({ SERVICE_API_URL: 'https://platform.example' }), telemetry });
    expect(await toolkit.projectId()).toBeNull();
    const [{ summary, detail } = { summary: '', detail: '' }] = telemetry.of('warning');
    expect(summary).toMatch(missing);
    expect(detail.startsWith(String(summary))).toBe(true);
  });

  it('and holds no second copy of a secret that printing would show', () => {
    const config = configFromEnv({ SERVICE_API_KEY: 'hunter2-hunter2' });
    expect(inspect(config, { showHidden: true })).not.toContain('hunter2-hunter2');
  });
});

describe('a configuration that is printed', () => {
  const read = (): ServerConfig =>
    configFromEnv({
      A2A_URL: 'https://ada:hunter2@agent.example/a2a',
      SERVICE_API_KEY: 'hunter2',
      CACHE_URL: 'redis://:hunter2@cache',
      CACHE_KEYS: 'hunter2,hunter2',
      IDP_A_CLIENT_SECRET: 'hunter2',
    });

  it.each<[string, (config: ServerConfig) => string]>([
    ['by console.log', (config) => inspect(config, { depth: 9 })],
    ['as JSON', (config) => JSON.stringify(config)],
    ['by console.log, with a further field', (config) => inspect({ ...config, keepAliveMs: 0 }, { depth: 9 })],
    ['one block of it', (config) => inspect(config.idpA) + JSON.stringify(config.idpA)],
  ])('shows its fields without a value: %s', (_what, print) => {
    const text = print(read());
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('hunter2');
  });

  it('still has its values', () => {
    expect(read()).toMatchObject({ serviceApiKey: 'hunter2', idpA: { clientSecret: 'hunter2' } });
    expect(structuredClone({ ...read().idpA })).toEqual({ clientSecret: 'hunter2' });
  });
});
