import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../src/adapters/oauth/token-call.js';
import { secret } from '../../src/domain/shared/secret.js';
import { configuredProvider } from '../support/configured-provider.js';
import { startIdpA, type Fault } from '../support/identity-provider/index.js';
import { failureOf, type IdpAChange, NOW, startIdpAWorld } from './oauth-world.js';

const { idp, trusting, provider, configured } = await startIdpAWorld();

function answer(status: number, error: string, description = 'no', headers: Record<string, string> = {}): Fault {
  return { status, body: { error, error_description: description }, headers };
}

const APPLICATION = {
  reason: 'refused',
  block: 'idpA',
  fields: ['clientId', 'clientSecret'],
  advice: 'Check the "idpA" configuration block: "clientId", "clientSecret".',
};
const UNKNOWN = { reason: 'refused', block: 'idpA', fields: [], advice: 'Check the "idpA" configuration block.' };
const GRANT = { reason: 'refused', block: 'idpA', fields: ['clientId'] };
const AUDIENCE = { reason: 'refused', block: 'idpA', fields: ['audience'] };
const SCOPE = { reason: 'refused', block: 'idpA', fields: ['scope'] };
const REALM = { reason: 'refused', block: 'idpA', fields: ['realm'] };
const DOMAIN = { reason: 'refused', block: 'idpA', fields: ['domain'] };
const USER = { reason: 'refused', block: 'idpAServiceUser', fields: ['username', 'password'] };
const USERNAME = { reason: 'refused', block: 'idpAServiceUser', fields: ['username'] };

/** The same with this note in the detail. */
function noted(failure: object, note: string): object {
  return { ...failure, log: expect.stringContaining(`: ${note}: `) as string };
}
const POLICY = 'a policy of the tenant denies it';
const BLOCKED = 'the user is blocked';
const SECOND_FACTOR = 'a second factor is required of this user';

describe('an incomplete configuration', () => {
  it('names every missing field of the first incomplete block without a request', async () => {
    const nothing = { domain: '', clientId: ' ', clientSecret: secret(''), username: '', password: secret('') };
    expect(await failureOf(provider(nothing))).toMatchObject({
      reason: 'incomplete',
      block: 'idpA',
      fields: ['domain', 'clientId', 'clientSecret'],
      advice: 'Fill in the "idpA" configuration block: "domain", "clientId", "clientSecret".',
    });
    expect(await provider(nothing, ['clientId']).exchange({ assertion: 'a' }, NOW)).toMatchObject({
      reason: 'incomplete',
      advice:
        'Fill in the "idpA" configuration block: "domain", "clientSecret"; and the "onBehalfOf" configuration block: "clientId".',
      log: 'not configured: idpA.domain, onBehalfOf.clientId, idpA.clientSecret',
    });
    expect(await failureOf(provider({ password: secret('') }))).toMatchObject({
      reason: 'incomplete',
      block: 'idpAServiceUser',
      fields: ['password'],
    });
    const unset = await configuredProvider('idp_a.password', configured({ idpA: { domain: '' } }), trusting);
    expect(await failureOf(unset)).toMatchObject({ reason: 'incomplete', fields: ['domain'] });
    expect(idp.metadataRequests.count + idp.tokenRequests.count).toBe(0);
  });

  it('names the strategy of an application without a user, if there is no user at all', async () => {
    const machine = 'For an application without a user, set "serviceAuthStrategy" to "client_credentials".';
    const { advice, fields } = await failureOf(provider({ username: '', password: secret('') }));
    expect(fields).toEqual(['username', 'password']);
    expect(advice).toBe(`Fill in the "idpAServiceUser" configuration block: "username", "password". ${machine}`);
    expect((await failureOf(provider({ password: secret('') }))).advice).not.toContain(machine);
  });

  it('needs no service user for client credentials', async () => {
    const machine = provider({ grant: 'client_credentials', username: '', password: secret('') });
    expect((await machine.issue(NOW)).kind).toBe('token');
  });
});

describe('a refusal of the provider', () => {
  const wrong = secret('wrong');
  it.each<[string, () => IdpAChange, object]>([
    ['a wrong client secret', () => ({ clientSecret: wrong }), APPLICATION],
    ['an unknown client', () => ({ clientId: 'nobody' }), APPLICATION],
    ['a wrong password', () => ({ password: wrong }), USER],
    ['an unknown user', () => ({ username: 'nobody@site.example' }), USER],
    [
      'an application without the password grant',
      () => ({ clientId: idp.machineClient.id, clientSecret: secret(idp.machineClient.secret) }),
      GRANT,
    ],
    ['an unknown audience', () => ({ audience: 'https://nowhere.example' }), AUDIENCE],
    ['an unknown scope', () => ({ scope: 'everything' }), SCOPE],
    ['an unknown realm', () => ({ realm: 'nowhere' }), REALM],
    ['a user who needs a second factor', () => ({ username: 'mfa@site.example' }), noted(USERNAME, SECOND_FACTOR)],
    [
      'a user who has yet to enrol a second factor',
      () => ({ username: 'enrol@site.example' }),
      noted(USERNAME, SECOND_FACTOR),
    ],
    ['a user whom a rule denies access', () => ({ username: 'rule@site.example' }), noted(USERNAME, POLICY)],
    ['a user who is blocked', () => ({ username: 'locked@site.example' }), noted(USERNAME, BLOCKED)],
  ])('of %s names the field to check', async (_, change, expected) => {
    const failure = await failureOf(provider(change()));
    expect(failure).toMatchObject(expected);
    for (const field of failure.fields) expect(failure.advice).toContain(field);
    expect(failure.log).toMatch(/^token request failed: 4\d\d /);
  });

  it('of a user without a realm names the realm when the tenant has no default directory', async () => {
    const bare = await startIdpA({ defaultDirectory: false });
    expect(await failureOf(provider({ domain: bare.domain }))).toMatchObject(REALM);
    await bare.close();
  });

  // Errors of other tenants and providers, which the double does not return by itself.
  it.each<[string, Fault, object]>([
    ['invalid_client', answer(401, 'invalid_client'), APPLICATION],
    [
      'invalid_client in a challenge',
      { status: 401, body: 'no', headers: { 'www-authenticate': 'Basic realm="x", error="invalid_client"' } },
      APPLICATION,
    ],
    ['unsupported_grant_type', answer(400, 'unsupported_grant_type'), GRANT],
    ['a grant type that is not allowed', answer(400, 'invalid_request', 'requested grant type is not allowed'), GRANT],
    ['invalid_target', answer(400, 'invalid_target'), AUDIENCE],
    ['a bad audience', answer(400, 'invalid_request', 'audience is malformed'), AUDIENCE],
    ['no client grant', answer(403, 'access_denied', 'Client is not authorized to access "x".'), AUDIENCE],
    ['a scope that was not granted', answer(403, 'access_denied', 'Client has not been granted scopes: x'), SCOPE],
    ['one scope that was not granted', answer(403, 'access_denied', 'The scope x is not granted.'), SCOPE],
    ['a bad scope', answer(400, 'invalid_request', 'scope is malformed'), SCOPE],
    ['a missing connection', answer(400, 'invalid_request', 'connection X does not exist'), REALM],
    ['a blocked user', answer(401, 'unauthorized', 'user is blocked'), USERNAME],
    ['a suspicious login', answer(401, 'requires_verification'), USERNAME],
    ['a leaked password', answer(403, 'password_leaked'), { ...USERNAME, fields: ['password'] }],
    ['an unknown error', answer(400, 'constructor', 'new'), UNKNOWN],
    ['an invalid request', answer(400, 'invalid_request'), UNKNOWN],
    ['too many requests', answer(429, 'x'), noted({ ...USERNAME, reason: 'unavailable' }, 'rate limited')],
    ['an HTML page', { status: 403, body: '<h1>Blocked</h1>' }, { reason: 'refused', block: 'idpA', fields: [] }],
  ])('with %s names the field to check', async (_, fault, expected) => {
    idp.faults.token = fault;
    expect(await failureOf(provider())).toMatchObject(expected);
  });

  it.each([
    ['invalid_grant', APPLICATION],
    ['access_denied', GRANT],
    ['mfa_required', GRANT],
    ['too_many_attempts', GRANT],
  ])('of the application names neither service user nor realm: %s', async (error, expected) => {
    idp.faults.token = answer(403, error, 'no default connection');
    expect(await failureOf(provider({ grant: 'client_credentials' }))).toMatchObject(expected);
  });

  it('never shows client secret and password', async () => {
    idp.faults.token = answer(400, 'invalid_request', `${idp.client.secret} ${idp.user.password}`);
    const { log: detail } = await failureOf(provider());
    expect(detail).toBe('token request failed: 400 invalid_request: [redacted] [redacted]');
  });
});

it.each([
  ['/realms/acme', '/realms/acme/'],
  ['/realms/acme/', '/realms/acme'],
  ['', '/'],
  ['/', ''],
])('an issuer differs by a slash at its end only: %s and %s', async (path, stated) => {
  const domain = 'https://idp.example';
  const paths: string[] = [];
  const fetch: Fetch = (url) => {
    paths.push(new URL(url).pathname);
    const token = { access_token: 'token', token_type: 'Bearer', expires_in: 60 };
    const metadata = { issuer: domain + stated, token_endpoint: `${domain}/token` };
    return Promise.resolve(Response.json(paths.length === 1 ? metadata : token));
  };
  expect((await provider({ domain: domain + path, fetch }).issue(NOW)).kind).toBe('token');
  expect(paths).toEqual([`${path.replace(/\/$/, '')}/.well-known/openid-configuration`, '/token']);
  const other: Fetch = () =>
    Promise.resolve(Response.json({ issuer: `${domain}/realms/other`, token_endpoint: domain }));
  expect(await failureOf(provider({ domain: domain + path, fetch: other }))).toMatchObject(DOMAIN);
});

describe('a domain that is not the provider’s', () => {
  it('is not blamed for the page of a firewall', async () => {
    const fetch: Fetch = () => Promise.resolve(new Response('<h1>Denied</h1>', { status: 403 }));
    expect(await failureOf(provider({ fetch }))).toMatchObject({
      reason: 'refused',
      fields: [],
      advice: expect.stringContaining('or a proxy in front of it, issues no token') as string,
      log: expect.stringContaining('metadata request failed: 403: Denied') as string,
    });
  });

  it('is named when another issuer responds', async () => {
    const failure = await failureOf(provider({ domain: idp.domain.replace('127.0.0.1', 'localhost') }));
    expect(failure).toMatchObject(DOMAIN);
    // The valid form of "domain".
    expect(failure.log).toContain(`"issuer" is "${idp.issuer}"`);
  });

  it.each<[string, Fault]>([
    ['its metadata is missing', answer(404, 'not_found', 'no such realm')],
    ['its metadata has no token endpoint', { transform: (body) => ({ ...body, token_endpoint: undefined }) }],
    ['its token endpoint is not https', { transform: (body) => ({ ...body, token_endpoint: 'http://idp.example' }) }],
  ])('is named when %s', async (_, fault) => {
    idp.faults.metadata = fault;
    expect(await failureOf(provider())).toMatchObject(DOMAIN);
    expect(idp.tokenRequests.count).toBe(0);
  });
});

it.each(['ftp://idp.example/token', 'http://idp.example/token'])(
  'a domain on this machine is named when its token endpoint is elsewhere and not https: %s',
  async (token_endpoint) => {
    const domain = 'http://127.0.0.1:1';
    const methods: unknown[] = [];
    const fetch: Fetch = (_url, { method }) => {
      methods.push(method);
      return Promise.resolve(Response.json({ issuer: `${domain}/`, token_endpoint }));
    };
    expect(await failureOf(provider({ domain, fetch }))).toMatchObject(DOMAIN);
    expect(methods).toEqual(['GET']);
  },
);

describe('a provider that asks to wait', () => {
  it('is reported as a refusal when a user is blocked', async () => {
    idp.faults.token = answer(429, 'too_many_attempts', 'blocked', { 'retry-after': '60' });
    expect(await failureOf(provider())).toMatchObject({ ...USERNAME, retryAfterMs: 60_000 });
  });
});
