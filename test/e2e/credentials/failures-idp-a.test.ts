import type { ServerConfig } from 'agent-bff';
import { describe, expect, it } from 'vitest';
import {
  lostFetch,
  runIdpA,
  startIdpA,
  trustingFetch,
  type Fault,
  type TrustingFetch,
} from '../../support/identity-provider/index.js';
import { failureOf, identityFetch, passwordGrant, startSite } from './credential-site.js';
import { Evidence } from './evidence.js';

const API_KEY = 'the-api-key-of-the-platform';
const WRONG_SECRET = 'a client secret & of another application';
const WRONG_PASSWORD = 'a "password" somebody mistyped';

const { idp, trusting } = await runIdpA();
const evidence = new Evidence();
evidence.hide(API_KEY, WRONG_SECRET, WRONG_PASSWORD, idp.client.secret, idp.machineClient.secret, idp.user.password);
evidence.conceal(idp.domain, `:${idp.domain.split(':')[1] ?? ''}`, '127.0.0.1', idp.client.id, idp.user.username);

const config = (
  idpA: ServerConfig['idpA'] = {},
  idpAServiceUser: ServerConfig['idpAServiceUser'] = {},
): ServerConfig => {
  const right = passwordGrant(idp);
  return {
    ...right,
    serviceApiKey: API_KEY,
    idpA: { ...right.idpA, ...idpA },
    idpAServiceUser: { ...right.idpAServiceUser, ...idpAServiceUser },
  };
};

/** Shows one failure to a visitor, and what everybody else saw of it. */
async function failing(site: ServerConfig, fetch: TrustingFetch = trusting) {
  const running = await startSite(site, { ports: identityFetch(fetch) });
  const answer = await running.chat();
  await evidence.take(running, answer);
  expect(answer.status).toBe(401);
  expect(running.agent.requests).toEqual([]);
  const failure = failureOf(answer);
  expect(failure.message).toContain(`"${failure.block}"`);
  for (const field of failure.fields) expect(failure.message).toContain(field);
  expect(running.telemetry.of('error')).toMatchObject([{ status: 401, code: failure.code, block: failure.block }]);
  return { ...failure, answer };
}

const refused = (block: string, ...fields: string[]) => ({
  code: 'service_auth_failed',
  block,
  fields,
  retryable: false,
});
const OUTAGE = { code: 'identity_provider_unavailable', block: 'idpA', fields: ['domain'], retryable: true };
const APPLICATION = refused('idpA', 'clientId', 'clientSecret');
const USERNAME = refused('idpAServiceUser', 'username');

const says = (status: number, error: string, description = 'no'): Fault => ({
  status,
  body: { error, error_description: description },
});

describe('what a visitor reads when idp_a refuses', () => {
  it.each<[string, () => ServerConfig, object]>([
    ['a wrong client secret', () => config({ clientSecret: WRONG_SECRET }), APPLICATION],
    ['an unknown application', () => config({ clientId: 'nobody' }), APPLICATION],
    [
      'a wrong password',
      () => config({}, { password: WRONG_PASSWORD }),
      refused('idpAServiceUser', 'username', 'password'),
    ],
    [
      'an application without the password grant',
      () => config({ clientId: idp.machineClient.id, clientSecret: idp.machineClient.secret }),
      refused('idpA', 'clientId'),
    ],
    ['an unknown audience', () => config({ audience: 'https://nowhere.example' }), refused('idpA', 'audience')],
    ['a scope nobody granted', () => config({ scope: 'everything' }), refused('idpA', 'scope')],
    ['a realm that does not exist', () => config({ realm: 'nowhere' }), refused('idpA', 'realm')],
    ['a user who needs a second factor', () => config({}, { username: 'mfa@site.example' }), USERNAME],
    ['a user who has yet to enrol one', () => config({}, { username: 'enrol@site.example' }), USERNAME],
    ['a user whom a rule denies access', () => config({}, { username: 'rule@site.example' }), USERNAME],
    ['a user who is blocked', () => config({}, { username: 'locked@site.example' }), USERNAME],
  ])('%s names block and fields', async (_title, site, expected) => {
    expect(await failing(site())).toMatchObject(expected);
    expect(idp.tokenRequests.count).toBe(1);
  });

  it('a tenant without default directory names the realm', async () => {
    const bare = await startIdpA({ defaultDirectory: false });
    evidence.conceal(bare.domain);
    expect(await failing(config({ domain: bare.domain }))).toMatchObject(refused('idpA', 'realm'));
    await bare.close();
  });

  it.each<[string, Fault, object]>([
    ['invalid_client', says(401, 'invalid_client'), APPLICATION],
    [
      'invalid_client in a challenge',
      { status: 401, headers: { 'www-authenticate': 'Basic realm="x", error="invalid_client"' } },
      APPLICATION,
    ],
    ['unsupported_grant_type', says(400, 'unsupported_grant_type'), refused('idpA', 'clientId')],
    ['a grant type in words', says(400, 'invalid_request', 'grant type is not allowed'), refused('idpA', 'clientId')],
    ['invalid_target', says(400, 'invalid_target'), refused('idpA', 'audience')],
    ['access_denied', says(403, 'access_denied', 'policy 17'), USERNAME],
    ['too_many_attempts', says(429, 'too_many_attempts'), USERNAME],
  ])('the answer %s names block and fields', async (_title, fault, expected) => {
    idp.faults.token = fault;
    expect(await failing(config())).toMatchObject(expected);
  });

  it('a limit on requests says when to come back', async () => {
    idp.faults.token = { ...says(429, 'too_many_requests'), headers: { 'retry-after': '17' } };
    const { answer, ...failure } = await failing(config());
    expect(failure).toMatchObject({ ...OUTAGE, block: 'idpAServiceUser', fields: ['username'] });
    expect(answer.headers['retry-after']).toBe('17');
  });
});

describe('what a visitor reads when idp_a is not there, or is another', () => {
  it.each<[string, () => ServerConfig]>([
    ['an address of another issuer', () => config({ domain: idp.domain.replace('127.0.0.1', 'localhost') })],
    ['an address without TLS', () => config({ domain: 'http://idp.example' })],
    ['no address at all', () => config({ domain: 'not a host' })],
  ])('%s names the domain', async (_title, site) => {
    expect(await failing(site())).toMatchObject(refused('idpA', 'domain'));
    expect(idp.tokenRequests.count).toBe(0);
  });

  it.each<[string, 'token' | 'metadata', Fault, object]>([
    ['metadata that are not found', 'metadata', { status: 404, body: '<h1>Not found</h1>' }, refused('idpA', 'domain')],
    ['a page in place of an answer', 'token', { status: 403, body: '<h1>Blocked</h1>' }, refused('idpA', 'domain')],
    ['an outage in HTML', 'token', { status: 502, body: '<h1>Bad gateway</h1>' }, OUTAGE],
    ['an outage in JSON', 'metadata', says(503, 'server_error'), OUTAGE],
    ['broken JSON', 'token', { transform: () => '{"access_token":"eyJhbGciOi' }, OUTAGE],
    ['a connection that is reset', 'token', { destroy: true }, OUTAGE],
    ['silence', 'token', { hang: true }, OUTAGE],
    ['silence from the start', 'metadata', { hang: true }, OUTAGE],
  ])('%s names the domain', async (_title, endpoint, fault, expected) => {
    idp.faults[endpoint] = fault;
    const { answer, ...failure } = await failing({
      ...config(),
      ...(fault.hang && { timeouts: { identityProviderMs: 250 } }),
    });
    expect(failure).toMatchObject(expected);
    if (failure.retryable) expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  });

  it('a closed port is an outage', async () => {
    const gone = await startIdpA();
    await gone.close();
    evidence.conceal(gone.domain);
    expect(await failing(config({ domain: gone.domain }))).toMatchObject(OUTAGE);
  });

  it('a name nobody knows is an outage of the configured domain: a typo, or DNS', async () => {
    evidence.conceal('idp.example', 'ENOTFOUND');
    const nowhere = lostFetch();
    expect(await failing(config({ domain: 'idp.example' }), nowhere)).toMatchObject(OUTAGE);
    await nowhere.close();
  });

  it('a certificate of an unknown authority is an outage, and the log says which variable adds one', async () => {
    const stranger = trustingFetch('');
    const running = await startSite(config(), { ports: identityFetch(stranger) });
    const answer = await running.chat();
    await evidence.take(running, answer);
    expect(failureOf(answer)).toMatchObject(OUTAGE);
    expect(running.telemetry.of('error')[0]?.detail).toContain('NODE_EXTRA_CA_CERTS');
    expect(answer.body).not.toContain('NODE_EXTRA_CA_CERTS');
    await stranger.close();
  });
});

describe('what a visitor reads when the configuration is not complete', () => {
  it.each<[string, () => ServerConfig, object]>([
    ['the application', () => config({ clientId: '', clientSecret: '' }), APPLICATION],
    ['the address', () => config({ domain: '' }), refused('idpA', 'domain')],
    ['the user', () => config({}, { username: '', password: '' }), refused('idpAServiceUser', 'username', 'password')],
  ])('%s is named without a call to the provider', async (_title, site, expected) => {
    expect(await failing(site())).toMatchObject(expected);
    expect(idp.metadataRequests.count + idp.tokenRequests.count).toBe(0);
  });
});

describe('a provider that repeats what it was sent', () => {
  it('shows secrets to nobody, not even in the log', async () => {
    const token = await idp.issueUserToken('ann');
    evidence.hide(token);
    const echo = [idp.client.secret, idp.user.password, encodeURIComponent(idp.user.password), token].join(' and ');
    idp.faults.token = says(400, 'invalid_request', `got ${echo}`);
    expect(await failing(config())).toMatchObject({ code: 'service_auth_failed', block: 'idpA', fields: [] });
  });

  it('and of all failures above no answer names a secret, a host or a provider’s text, and no log a secret', () => {
    evidence.expectNothingLeaked(35);
  });
});
