import type { ServerConfig } from 'agent-bff';
import type { ChatHandlerOptions } from 'agent-bff';
import { afterAll, describe, expect, it } from 'vitest';
import {
  makeClientCertificate,
  removeClientCertificates,
  runIdpB,
  type ClientCertificate,
  type Fault,
} from '../../support/identity-provider/index.js';
import { applicationSecret, failureOf, identityFetch, startSite } from './credential-site.js';
import { Evidence } from './evidence.js';

const WRONG_SECRET = 'a client secret & of another application';

const registered = makeClientCertificate();
const stranger = makeClientCertificate();
const { idp, cloud } = await runIdpB({ certificates: [registered.certificatePem] });
afterAll(removeClientCertificates);
const evidence = new Evidence();
evidence.hide(WRONG_SECRET, idp.client.secret, idp.expiredClient.secret, registered.privateKeyPem);
evidence.conceal(
  idp.host,
  '127.0.0.1',
  idp.tenantId,
  idp.client.id,
  registered.certificatePath,
  'agent-bff-certificates',
);

type Block = NonNullable<ServerConfig['idpBService']>;

const config = (idpBService: Block = {}): ServerConfig => {
  const right = applicationSecret(idp);
  return {
    ...right,
    idpBService: { ...right.idpBService, ...idpBService },
  };
};
const withCertificate = ({ certificatePath, privateKeyPath }: ClientCertificate): ServerConfig =>
  config({ clientSecret: '', certificatePath, privateKeyPath });

/** Shows one failure to a visitor, and what everybody else saw of it. */
async function failing(site: ServerConfig, status = 401, routes: ChatHandlerOptions[] = [{}]) {
  const running = await startSite(site, { ports: identityFetch(cloud), routes });
  const answer = await running.chat();
  await evidence.take(running, answer);
  expect(answer.status).toBe(status);
  expect(running.agent.requests).toEqual([]);
  const failure = failureOf(answer);
  for (const field of failure.fields) expect(failure.message).toContain(field);
  expect(running.telemetry.of('error')).toMatchObject([{ status, code: failure.code }]);
  return { ...failure, answer };
}

const refused = (...fields: string[]) => ({
  code: 'service_auth_failed',
  block: 'idpBService',
  fields,
  retryable: false,
});
const OUTAGE = { code: 'identity_provider_unavailable', block: 'idpBService', fields: ['tenantId'], retryable: true };
const CERTIFICATE = refused('certificatePath', 'privateKeyPath');

const says = (status: number, error: string, number: number): Fault => ({
  status,
  body: { error, error_description: `AADSTS${String(number)}: no. Trace ID: 1`, error_codes: [number] },
});

describe('what a visitor reads when idp_b refuses', () => {
  it.each<[string, () => ServerConfig, object]>([
    ['a wrong client secret', () => config({ clientSecret: WRONG_SECRET }), refused('clientSecret')],
    [
      'a client secret that has expired',
      () => config({ clientId: idp.expiredClient.id, clientSecret: idp.expiredClient.secret }),
      refused('clientSecret'),
    ],
    ['an unknown application', () => config({ clientId: 'nobody' }), refused('clientId', 'tenantId')],
    ['an unknown tenant', () => config({ tenantId: 'contoso.example' }), refused('tenantId')],
    ['an unknown API', () => config({ scope: 'api://nowhere/.default' }), refused('scope')],
    ['a scope without "/.default"', () => config({ scope: idp.audience }), refused('scope')],
    ['a certificate nobody registered', () => withCertificate(stranger), CERTIFICATE],
  ])('%s names the fields', async (_title, site, expected) => {
    expect(await failing(site())).toMatchObject(expected);
    expect(idp.tokenRequests.count).toBeLessThanOrEqual(1);
  });

  it.each<[string, Fault, object]>([
    ['an old word for a wrong scope', says(400, 'invalid_scope', 70011), refused('scope')],
    ['a resource by name alone', says(400, 'invalid_resource', 0), refused('scope')],
    [
      'a limit on requests',
      { ...says(429, 'throttled', 90055), headers: { 'retry-after': '9' } },
      { ...OUTAGE, fields: ['clientId'] },
    ],
    ['an outage in HTML', { status: 502, body: '<h1>Bad gateway</h1>' }, OUTAGE],
    ['an outage in JSON', says(503, 'temporarily_unavailable', 90033), OUTAGE],
    ['broken JSON', { transform: () => '{"access_token":"eyJhbGciOi' }, OUTAGE],
    ['a connection that is reset', { destroy: true }, OUTAGE],
    ['silence', { hang: true }, OUTAGE],
  ])('%s names the fields', async (_title, fault, expected) => {
    idp.faults.token = fault;
    const { answer, ...failure } = await failing({
      ...config(),
      ...(fault.hang && { timeouts: { identityProviderMs: 250 } }),
    });
    expect(failure).toMatchObject(expected);
    if (failure.retryable) expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  it.each<[string, () => ServerConfig, object]>([
    ['a tenant that is none', () => config({ tenantId: 'common' }), refused('tenantId')],
    ['a scope that asks for nothing', () => config({ scope: 'openid' }), refused('scope')],
    [
      'no credential of the application',
      () => config({ clientSecret: '' }),
      refused('clientSecret', 'certificatePath', 'privateKeyPath'),
    ],
    [
      'an empty block',
      () => config({ tenantId: '', clientId: '', scope: '' }),
      refused('tenantId', 'clientId', 'scope'),
    ],
  ])('%s is found without a call', async (_title, site, expected) => {
    expect(await failing(site())).toMatchObject(expected);
    expect(idp.tokenRequests.count).toBe(0);
  });
});

describe('what a visitor reads when the certificate of the application', () => {
  const path = (field: keyof Block, value: string): ServerConfig => {
    const right = withCertificate(registered);
    return { ...right, idpBService: { ...right.idpBService, [field]: value } };
  };

  it.each<[string, () => ServerConfig, object]>([
    ['has expired', () => withCertificate(makeClientCertificate({ validToDays: -2 })), CERTIFICATE],
    ['is not valid yet', () => withCertificate(makeClientCertificate({ validFromDays: 2 })), CERTIFICATE],
    ['has the key of another', () => withCertificate(makeClientCertificate({ mismatched: true })), CERTIFICATE],
    ['is not there', () => path('certificatePath', '/nowhere/client.crt'), refused('certificatePath')],
    ['is a folder', () => path('certificatePath', '/tmp'), refused('certificatePath')],
    ['is a key', () => path('certificatePath', registered.privateKeyPath), refused('certificatePath')],
    ['has no key there', () => path('privateKeyPath', '/nowhere/client.key'), refused('privateKeyPath')],
    ['has a key that is none', () => path('privateKeyPath', registered.certificatePath), refused('privateKeyPath')],
    ['has a key without a path', () => path('privateKeyPath', ''), refused('privateKeyPath')],
    ['is given as text', () => path('certificatePath', registered.certificatePem), refused('certificatePath')],
    ['has its key given as text', () => path('privateKeyPath', registered.privateKeyPem), refused('privateKeyPath')],
  ])('%s: the fields, and nobody is asked', async (_title, site, expected) => {
    expect(await failing(site())).toMatchObject(expected);
    expect(idp.metadataRequests.count + idp.tokenRequests.count).toBe(0);
  });
});

describe('what a signed-in user reads when the exchange of the token at idp_b fails', () => {
  async function asUser(token: string, site: ServerConfig, status: number) {
    evidence.hide(token);
    return failing({ ...site, onBehalfOf: {} }, status, [{ getSessionToken: (_request: unknown) => token }]);
  }

  it.each([
    ['a token of another issuer', () => 'e30.e30.c2ln', 401, 'session_expired'],
    ['a token that has expired', () => idp.issueUserToken('ann', { expiresInSeconds: -10 }), 401, 'session_expired'],
    ['a token for another API', () => idp.issueUserToken('ann', { audience: 'api://else' }), 401, 'session_expired'],
    ['a user who has not consented', () => idp.issueUserToken('no-consent'), 403, 'interaction_required'],
    ['a user who needs a second factor', () => idp.issueUserToken('second-factor'), 403, 'interaction_required'],
    ['a user a policy stands against', () => idp.issueUserToken('policy'), 403, 'interaction_required'],
  ])('because of %s: what to do about the session', async (_title, token, status, code) => {
    expect(await asUser(await token(), config(), status)).toMatchObject({ code, fields: [], retryable: false });
  });

  it.each<[string, () => ServerConfig, Fault | undefined, object]>([
    ['a wrong client secret', () => config({ clientSecret: WRONG_SECRET }), undefined, refused('clientSecret')],
    ['an unknown application', () => config({ clientId: 'nobody' }), undefined, refused('clientId', 'tenantId')],
    ['an unknown API', () => config({ scope: 'api://nowhere/.default' }), undefined, refused('scope')],
    ['an outage', () => config(), { status: 503 }, OUTAGE],
  ])('because of %s: the configuration, and the session goes on', async (_title, site, fault, expected) => {
    if (fault !== undefined) idp.faults.token = fault;
    expect(await asUser(await idp.issueUserToken('ann'), site(), 401)).toMatchObject(expected);
  });
});

describe('what a signed-in user reads when a value of onBehalfOf is wrong', () => {
  async function exchanging(own: NonNullable<ServerConfig['onBehalfOf']>, route: object = {}, right: Block = {}) {
    const token = await idp.issueUserToken('ann');
    evidence.hide(token);
    const routes = [{ getSessionToken: (_request: unknown) => token, ...route }];
    const { answer: _, ...failure } = await failing({ ...config(right), onBehalfOf: own }, 401, routes);
    return failure;
  }
  const own = (...fields: string[]) => ({ code: 'service_auth_failed', block: 'onBehalfOf', fields });
  const pathsOf = ({ certificatePath, privateKeyPath }: ClientCertificate) => ({ certificatePath, privateKeyPath });

  it.each<[string, NonNullable<ServerConfig['onBehalfOf']>, object]>([
    ['a wrong client secret', { clientSecret: WRONG_SECRET }, own('clientSecret')],
    ['an unknown application', { clientId: 'nobody' }, own('clientId')],
    ['an unknown tenant', { tenantId: 'contoso.example' }, own('tenantId')],
    ['a tenant that is none', { tenantId: 'common' }, own('tenantId')],
    ['an unknown API', { scope: 'api://nowhere/.default' }, own('scope')],
    ['a certificate that is not there', { certificatePath: '/nowhere/client.crt' }, own('certificatePath')],
    [
      'a certificate that has expired',
      pathsOf(makeClientCertificate({ validToDays: -2 })),
      own('certificatePath', 'privateKeyPath'),
    ],
    ['a certificate nobody registered', pathsOf(stranger), own('certificatePath', 'privateKeyPath')],
  ])('%s names onBehalfOf and the field', async (_title, block, expected) => {
    const { message, ...failure } = await exchanging(block);
    expect(failure).toMatchObject(expected);
    expect(message).toContain('"onBehalfOf"');
  });

  it('a value taken from idpBService names that block, and a pair of both names both', async () => {
    expect(await exchanging({ scope: idp.scope }, {}, { clientSecret: WRONG_SECRET })).toMatchObject(
      refused('clientSecret'),
    );
    expect(await exchanging({ clientId: 'nobody' })).toMatchObject({
      ...own('clientId'),
      message: expect.stringContaining(
        'Check the "onBehalfOf" configuration block: "clientId"; and the "idpBService" configuration block: "tenantId".',
      ) as string,
    });
  });

  it('an audience the route asks for names the option of the route', async () => {
    expect(await exchanging({}, { audience: 'api://nowhere' })).toMatchObject({
      block: 'route',
      fields: ['audience'],
      message: expect.stringContaining('Check the options of the route: "audience".') as string,
    });
  });

  it('an application of its own that is not complete is to be completed there', async () => {
    const nothing = { tenantId: '', scope: '', clientSecret: '', clientId: '' };
    expect(await exchanging({ clientId: 'exchanger', clientSecret: WRONG_SECRET }, {}, nothing)).toMatchObject({
      block: 'onBehalfOf',
      fields: ['tenantId', 'scope'],
    });
  });
});

describe('of all failures above', () => {
  it('no answer names a secret, a host, a path or a provider’s text, and no log a secret', () => {
    evidence.expectNothingLeaked(35);
  });
});
