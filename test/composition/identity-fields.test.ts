import { randomBytes } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import {
  FakeCacheStore,
  FakeClock,
  FakeIdentityProvider,
  FakeSessionTokenSource,
  FakeUpstream,
} from '../../src/adapters/fakes/fakes.js';
import { generateKeyPair } from '../../src/adapters/keys/pem.js';
import { mergeConfig } from '../../src/composition/config/resolve-config.js';
import { FIELDS } from '../../src/composition/config/schema.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { resolveUpstream } from '../../src/composition/config/upstream-config.js';
import { buildToolkit, createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { Toolkit } from '../../src/composition/toolkit/toolkit-type.js';
import type { AnyRows } from '../../src/domain/shared/setting.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { makeClientCertificate, removeClientCertificates } from '../support/identity-provider/index.js';
import { serviceSurfaceRoute, sessionSurfaceRoute } from '../support/toolkit-routes.js';

const [first, second] = [await generateKeyPair(), await generateKeyPair()];
const [certificate, renewed] = [makeClientCertificate(), makeClientCertificate()];
copyFileSync(certificate.privateKeyPath, `${certificate.privateKeyPath}.copy`);
afterAll(removeClientCertificates);
const KEYS = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')] as const;
const pair = { certificatePath: certificate.certificatePath, privateKeyPath: certificate.privateKeyPath };

const ALL: ServerConfig = {
  a2aUrl: 'https://agent.example/a2a',
  serviceApiUrl: 'https://platform.example/api',
  serviceApiKey: 'an-api-key',
  serviceProjectId: 'project-1',
  serviceAccount: {
    serviceAccountId: 'account-1',
    keyId: 'key-1',
    privateKeyPem: first.privateKeyPem.reveal(),
    audience: 'https://platform.example',
    claims: { tenant: 'a' },
  },
  idpA: { domain: 'a.example', clientId: 'client', clientSecret: 'secret-a', audience: 'https://platform.example' },
  idpAServiceUser: { username: 'robot', password: 'password' },
  idpBService: { tenantId: 'tenant-1', clientId: 'client', scope: 'api://app/.default', clientSecret: 'secret-b' },
  cacheKeys: [KEYS[0]],
  telemetry: 'silent',
};

/** Sites whose credentials come from different blocks. */
const SITES = {
  account: { serviceAuthStrategy: 'service_account' },
  password: { authProvider: 'idp_a', serviceAuthStrategy: 'resource_owner_password' },
  secret: { authProvider: 'idp_b', serviceAuthStrategy: 'client_credentials' },
  certificate: { authProvider: 'idp_b', serviceAuthStrategy: 'client_credentials', idpBService: pair },
  fixed: { serviceAuthStrategy: 'static_token', serviceToken: 'token-1' },
  usersA: { onBehalfOf: { provider: 'idp_a' } },
  usersB: { onBehalfOf: { clientId: 'exchanger', clientSecret: 'secret-e' } },
  usersCertificate: { onBehalfOf: { clientId: 'exchanger', ...pair } },
} satisfies Record<string, ServerConfig>;

type SiteName = keyof typeof SITES;

/** Another value of a field, and a site whose credential depends on it. */
type Sample = readonly [site: SiteName, value: unknown];

const SAMPLES: Readonly<Record<string, Sample>> = {
  serviceApiUrl: ['account', 'https://other.example/api'],
  serviceApiKey: ['account', 'another-key'],
  serviceProjectId: ['account', 'project-2'],
  serviceAuthStrategy: ['secret', 'service_account'],
  serviceToken: ['fixed', 'token-2'],
  authProvider: ['secret', 'idp_a'],
  'serviceAccount.serviceAccountId': ['account', 'account-2'],
  'serviceAccount.keyId': ['account', 'key-2'],
  'serviceAccount.privateKeyPem': ['account', second.privateKeyPem.reveal()],
  'serviceAccount.privateKeyPath': ['account', certificate.privateKeyPath],
  'serviceAccount.audience': ['account', 'https://other.example'],
  'serviceAccount.subject': ['account', 'somebody'],
  'serviceAccount.issuer': ['account', 'somebody'],
  'serviceAccount.claims': ['account', { tenant: 'b' }],
  'idpA.domain': ['password', 'b.example'],
  'idpA.clientId': ['password', 'other'],
  'idpA.clientSecret': ['password', 'other'],
  'idpA.audience': ['password', 'https://other.example'],
  'idpA.scope': ['password', 'read'],
  'idpA.realm': ['password', 'staff'],
  'idpAServiceUser.username': ['password', 'other'],
  'idpAServiceUser.password': ['password', 'other'],
  'idpBService.tenantId': ['secret', 'tenant-2'],
  'idpBService.authority': ['secret', 'https://login.other.example'],
  'idpBService.clientId': ['secret', 'other'],
  'idpBService.scope': ['secret', 'api://other/.default'],
  'idpBService.clientSecret': ['secret', 'other'],
  'idpBService.certificatePath': ['certificate', renewed.certificatePath],
  'idpBService.privateKeyPath': ['certificate', `${certificate.privateKeyPath}.copy`],
  'onBehalfOf.provider': ['usersB', 'idp_a'],
  'onBehalfOf.scope': ['usersB', 'api://other/.default'],
  'onBehalfOf.audience': ['usersA', 'https://other.example'],
  'onBehalfOf.subjectTokenType': ['usersA', 'urn:other'],
  'onBehalfOf.clientId': ['usersB', 'other'],
  'onBehalfOf.tenantId': ['usersB', 'tenant-2'],
  'onBehalfOf.clientSecret': ['usersB', 'other'],
  'onBehalfOf.certificatePath': ['usersCertificate', renewed.certificatePath],
  'onBehalfOf.privateKeyPath': ['usersCertificate', `${certificate.privateKeyPath}.copy`],
  upstream: ['account', { paths: { render: '/widgets/{id}/render' } }],
  a2aUrl: ['account', 'https://other.example/a2a'],
  agentCardUrl: ['account', 'https://other.example/card.json'],
  identityProviders: ['account', { other: new FakeIdentityProvider('other') }],
  publicUrl: ['account', 'https://site.example'],
  bindings: ['account', ['HTTP+JSON']],
  a2aMethods: ['account', 'all'],
  conversations: ['account', 'visitor'],
  bodyLimitBytes: ['account', 1_000_000],
  maxInFlight: ['account', 1_000],
  keepAliveMs: ['account', 1_000],
  allowedOrigins: ['account', ['https://other.example']],
  mediaOrigins: ['account', ['https://media.example']],
  trustBrandCss: ['account', true],
  configPerUser: ['account', false],
  allowedHosts: ['account', ['site.example']],
  authUnavailableStatus: ['account', 503],
  cacheKeys: ['account', [KEYS[1], KEYS[0]]],
  dispatcher: ['account', { dispatch: () => true }],
  chatLimit: ['account', { admit: () => true }],
  name: ['account', 'acme'],
  userLimit: ['account', { admit: () => true }],
  // A new store is empty, and the in-memory cache keeps its first telemetry.
  cacheStore: ['account', undefined],
  telemetry: ['account', undefined],
};

const SIDES = { principal: ['MISS', 'MISS'], proof: ['HIT', 'MISS'], neither: ['HIT', 'HIT'] } as const;
/** Fields that change where a credential is sent, or replace it. A token of the same flow stays valid. */
const NO_TOKEN = ['serviceApiUrl', 'serviceApiKey', 'serviceProjectId', 'serviceToken', 'upstream'];

function fieldsOf(rows: AnyRows, block = ''): readonly (readonly [path: string, side: keyof typeof SIDES])[] {
  return Object.entries(rows).flatMap(([name, { side, fields = {} }]) =>
    side === undefined ? fieldsOf(fields, `${block}${name}.`) : [[block + name, side] as const],
  );
}

function sampleOf(path: string): Sample {
  const known = SAMPLES[path] ?? (path.startsWith('timeouts.') ? ['account', 1_234] : undefined);
  if (known === undefined) throw new Error(`no sample of ${path}`);
  return known as Sample;
}

function changeOf(path: string, value: unknown): ServerConfig {
  const [block = '', field] = path.split('.');
  return { [block]: field === undefined ? value : { [field]: value } };
}

/** An identity provider for any application; every token differs. */
function newIdentityFetch(): typeof fetch {
  let count = 0;
  return async (input, init) => {
    const { origin, pathname } = new URL(String(input instanceof Request ? input.url : input));
    if ((init?.method ?? 'GET') === 'GET') {
      const issuer = origin + pathname.replace('/.well-known/openid-configuration', '').replace(/^$/, '/');
      const endpoints = { token_endpoint: `${origin}/token`, authorization_endpoint: `${origin}/authorize` };
      return Response.json({ issuer, jwks_uri: `${origin}/keys`, ...endpoints });
    }
    count += 1;
    return Response.json({ access_token: `token-${String(count)}`, token_type: 'Bearer', expires_in: 3_600 });
  };
}

class World {
  readonly clock = new FakeClock(Date.now());
  readonly store = new FakeCacheStore(this.clock);
  readonly upstream = new FakeUpstream();
  readonly ports = { clock: this.clock, upstream: this.upstream, identityFetch: newIdentityFetch() };
  readonly staff = Object.assign(
    new FakeSessionTokenSource({ kind: 'token', accessToken: 'of-ada', subject: '1', tenant: 'acme' }),
    { name: 'staff' },
  );
  readonly #isUsers: boolean;

  constructor(site: SiteName) {
    this.#isUsers = site.startsWith('users');
  }

  async render(toolkit: Toolkit): Promise<unknown> {
    const cache = { enabled: true };
    const handler = this.#isUsers
      ? sessionSurfaceRoute(toolkit, { auth: this.staff, cache })
      : serviceSurfaceRoute(toolkit, { cache });
    const { status, headers } = await handler(browserRequest({ path: '/counter/render', body: null }));
    // Writes to the shared store are not awaited.
    await new Promise(setImmediate);
    return status === 200 ? headers['x-cache'] : status;
  }

  async token(toolkit: Toolkit): Promise<string | undefined> {
    const headers = this.#isUsers ? toolkit.sessionHeaders({ authClient: this.staff }) : toolkit.authHeaders();
    return (await headers)['authorization'];
  }
}

/** The cache state of the render and the token of one toolkit as the next one finds them. */
async function found(
  site: SiteName,
  change: ServerConfig,
  second: (world: World, one: ServerConfig, other: ServerConfig, first: Toolkit) => Toolkit,
  store?: (world: World) => ServerConfig,
): Promise<readonly unknown[]> {
  const world = new World(site);
  const config = { ...mergeConfig(ALL, SITES[site]), ...store?.(world) };
  const one = createToolkit(config, world.ports);
  expect(await world.render(one)).toBe('MISS');
  expect(await world.render(one)).toBe('HIT');
  const token = await world.token(one);
  const other = second(world, config, mergeConfig(config, change), one);
  const render = await world.render(other);
  return [render, (await world.token(other)) === token ? 'HIT' : 'MISS'];
}

const inStore = (world: World) => ({ cacheStore: world.store });
const again = (world: World, _one: ServerConfig, other: ServerConfig, toolkit: Toolkit): Toolkit =>
  buildToolkit(other, world.ports, toolkit);

describe.each([
  ['by configureServer again, in memory', again, undefined],
  ['by configureServer again, in a shared store', again, inStore],
  [
    'in another process over one store',
    (world: World, _one: ServerConfig, other: ServerConfig): Toolkit => createToolkit(other, world.ports),
    inStore,
  ],
] as const)('a configuration changed %s', (_title, second, store) => {
  it.each(fieldsOf(FIELDS))('in the field "%s" (%s) keeps the expected renders and tokens', async (path, side) => {
    const [site, value] = sampleOf(path);
    if (value === undefined) return;
    const [render, token] = await found(site, changeOf(path, value), second, store);
    const [expectedRender, expectedToken] = SIDES[side];
    expect(render).toBe(expectedRender);
    if (!NO_TOKEN.includes(path)) expect(token).toBe(expectedToken);
  });

  const { paths, headers } = resolveUpstream();
  it.each([
    ...Object.entries(paths).map(([name, path]) => [name, { paths: { [name]: `/v2${path}` } }] as const),
    ...Object.keys(headers).map((name) => [name, { headers: { [name]: 'x-other' } }] as const),
  ])('in the upstream field "%s" drops the renders', async (_name, upstream) => {
    expect((await found('account', { upstream }, second, store))[0]).toBe('MISS');
  });

  it('without a difference keeps all renders and tokens', async () => {
    for (const site of Object.keys(SITES)) {
      expect(await found(site as SiteName, {}, second, store), site).toEqual(['HIT', 'HIT']);
    }
  });

  it('in the principal of a custom provider drops everything, and in its proof only the tokens', async () => {
    const config = (provider: FakeIdentityProvider): ServerConfig => ({
      serviceAuthStrategy: 'own',
      identityProviders: { own: provider },
    });
    const proof = Object.assign(new FakeIdentityProvider('one'), { proof: 'other' });
    for (const [provider, expected] of [
      [new FakeIdentityProvider('one'), ['HIT', 'HIT']],
      [proof, ['HIT', 'MISS']],
      [new FakeIdentityProvider('two'), ['MISS', 'MISS']],
    ] as const) {
      const world = new World('account');
      const one = { ...ALL, ...config(new FakeIdentityProvider('one')), ...store?.(world) };
      const first = createToolkit(one, world.ports);
      expect(await world.render(first)).toBe('MISS');
      const other = second(world, one, mergeConfig(one, config(provider)), first);
      expect([await world.render(other), provider.issued === 0 ? 'HIT' : 'MISS']).toEqual(expected);
    }
  });
});
