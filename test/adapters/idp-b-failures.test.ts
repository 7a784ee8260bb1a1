import { AuthError, ClientAuthError, ServerError } from '@azure/msal-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureRules } from '../../src/adapters/idp-b/idp-b.js';
import { issueFailure } from '../../src/adapters/oauth/failure.js';
import { thrownFault } from '../../src/adapters/oauth/provider-error.js';
import type { Fetch } from '../../src/adapters/oauth/token-call.js';
import { secret } from '../../src/domain/shared/secret.js';
import type { IdentityProvider, IssueFailure } from '../../src/ports/identity-provider.js';
import {
  makeClientCertificate,
  type ClientCertificate,
  type Fault,
  startIdpB,
  type TrustingFetch,
} from '../support/identity-provider/index.js';
import { settingsIn } from '../support/settings.js';
import {
  certificateIn,
  entraError,
  failureOf as failure,
  type IdpBChange,
  NOW,
  startIdpBWorld,
} from './oauth-world.js';

const { idp, trusting, registered, provider } = await startIdpBWorld();
const DAY = 86_400_000;

async function failureOf(from: IdentityProvider, now = Date.now()): Promise<IssueFailure> {
  const outcome = await failure(from, now);
  for (const field of outcome.fields) expect(outcome.advice).toContain(`"${field}"`);
  expect(outcome.advice).toContain('"idpBService"');
  return outcome;
}

function refused(...fields: string[]): object {
  return { reason: 'refused', block: 'idpBService', fields };
}

const OUTAGE = { reason: 'unavailable', block: 'idpBService', fields: ['tenantId'] };
const CERTIFICATE = refused('certificatePath', 'privateKeyPath');

describe('an incomplete configuration', () => {
  it('names every missing field without a request', async () => {
    const nothing = { tenantId: '', clientId: ' ', scope: '\n', clientSecret: secret('') };
    expect(await failureOf(provider(nothing))).toMatchObject({
      reason: 'incomplete',
      block: 'idpBService',
      fields: ['tenantId', 'clientId', 'scope', 'clientSecret', 'certificatePath', 'privateKeyPath'],
      advice:
        'Fill in the "idpBService" configuration block: "tenantId", "clientId", "scope", "clientSecret", or "certificatePath" and "privateKeyPath".',
    });
    expect(await failureOf(provider({ scope: '' }))).toMatchObject({ reason: 'incomplete', fields: ['scope'] });
    expect(idp.metadataRequests.count + idp.tokenRequests.count).toBe(0);
  });
});

describe('a tenant', () => {
  it.each(['common', 'Organizations', 'consumers', '../x', 'a/b', 'tenant?x=1', 'https://login.example/t', '-', 'a b'])(
    'is rejected without a request: %s',
    async (tenantId) => {
      const failure = await failureOf(provider({ tenantId }));
      expect(failure).toMatchObject({ ...refused('tenantId'), log: expect.stringMatching(/^tenantId must /) });
      if (!tenantId.startsWith('c') && !tenantId.startsWith('O')) expect(failure.log).not.toContain(tenantId);
      expect(idp.metadataRequests.count + idp.tokenRequests.count).toBe(0);
    },
  );

  it('is named when the provider does not know it', async () => {
    expect(await failureOf(provider({ tenantId: 'contoso.example' }))).toMatchObject(refused('tenantId'));
  });
});

describe('a certificate that cannot work', () => {
  const [ENDED, STARTS] = [/: its validity ended on \d{4}-/, /: its validity starts on \d{4}-/];
  it.each<[string, () => ClientCertificate, number, RegExp, RegExp?]>([
    ['has expired', () => makeClientCertificate({ validToDays: -2 }), 0, /has expired/, ENDED],
    ['expires', () => registered, 366 * DAY, /has expired/, ENDED],
    ['is not valid yet', () => makeClientCertificate({ validFromDays: 2 }), 0, /is not valid yet/, STARTS],
    ['has the key of another', () => makeClientCertificate({ mismatched: true }), 0, /does not belong/],
  ])('is rejected without a request because it %s', async (_, make, later, words, dates = words) => {
    const failure = await failureOf(provider({ certificate: certificateIn(make()) }), NOW + later);
    expect(failure).toMatchObject(CERTIFICATE);
    expect(failure.advice).toMatch(words);
    expect(failure.log).toMatch(words);
    expect(failure.log).toMatch(dates);
    expect(idp.metadataRequests.count + idp.tokenRequests.count).toBe(0);
  });

  it('is named when it is not registered', async () => {
    const failure = await failureOf(provider({ certificate: certificateIn(makeClientCertificate()) }));
    expect(failure).toMatchObject(CERTIFICATE);
    expect(failure.log).toContain('AADSTS700027');
  });
});

describe('a refusal of the provider', () => {
  it.each<[string, () => IdpBChange, object, string]>([
    ['a wrong client secret', () => ({ clientSecret: secret('wrong') }), refused('clientSecret'), '7000215'],
    [
      'an expired client secret',
      () => ({ clientId: idp.expiredClient.id, clientSecret: secret(idp.expiredClient.secret) }),
      refused('clientSecret'),
      '7000222',
    ],
    ['an unknown application', () => ({ clientId: 'nobody' }), refused('clientId', 'tenantId'), '700016'],
    ['an unknown API', () => ({ scope: 'api://nowhere/.default' }), refused('scope'), '500011'],
    ['a scope without "/.default"', () => ({ scope: idp.audience }), refused('scope'), '1002012'],
  ])('of %s names the field to check', async (_, change, expected, number) => {
    const failure = await failureOf(provider(change()));
    expect(failure).toMatchObject(expected);
    expect(failure.log).toMatch(/^token request failed: 40[01] /);
    expect(failure.log).toContain(`AADSTS${number}`);
    expect(failure.advice).not.toContain('AADSTS');
  });

  it.each<[string, Fault, () => IdpBChange, string]>([
    ['too many requests', { status: 429 }, () => ({}), '429: rate limited'],
    [
      'a certificate',
      entraError(401, 'invalid_client', 0),
      () => ({ certificate: certificateIn(registered) }),
      '401 invalid_client: not registered: AADSTS0',
    ],
  ])('of %s says more than the provider', async (_, fault, change, note) => {
    idp.faults.token = fault;
    expect((await failureOf(provider(change()))).log).toContain(note);
  });

  it('of a scope names what the scope lacks', async () => {
    expect((await failureOf(provider({ scope: idp.audience }))).advice).toBe(
      'Make "scope" in the "idpBService" configuration block end in "/.default".',
    );
    expect(idp.tokenRequests.last?.form['scope']).toBe(idp.audience);
    expect((await failureOf(provider({ scope: ' api://nowhere/.default ' }))).advice).toBe(
      'Check the "idpBService" configuration block: "scope".',
    );
  });

  it('of an empty scope is found without a request', async () => {
    expect(await failureOf(provider({ scope: 'openid' }))).toMatchObject(refused('scope'));
    expect(idp.tokenRequests.count).toBe(0);
  });

  // Errors of Entra that the double does not return by itself.
  it.each<[string, Fault, object]>([
    ['a scope of the old form', entraError(400, 'invalid_scope', 70011), refused('scope')],
    ['a scope by its name alone', entraError(400, 'invalid_scope', 0), refused('scope')],
    ['a resource by its name alone', entraError(400, 'invalid_resource', 0), refused('scope')],
    ['a target', entraError(400, 'invalid_target', 0), refused('scope')],
    ['a tenant', entraError(400, 'invalid_request', 90002), refused('tenantId')],
    ['a tenant that is not a name', entraError(400, 'invalid_request', 900023), refused('tenantId')],
    ['a tenant by its name alone', entraError(400, 'invalid_tenant', 0), refused('tenantId')],
    ['an application that is switched off', entraError(400, 'unauthorized_client', 7000112), refused('clientId')],
    ['an application elsewhere', entraError(400, 'unauthorized_client', 0), refused('clientId', 'tenantId')],
    ['a client by its name alone', entraError(401, 'invalid_client', 0), refused('clientId', 'clientSecret')],
    ['a client in text only', { status: 401, body: 'AADSTS7000215' }, refused('clientSecret')],
    ['a grant', entraError(400, 'unsupported_grant_type', 70003), refused('clientId')],
    ['an application that a policy blocks', entraError(400, 'invalid_grant', 53003), refused('clientId')],
    ['an application without assignment', entraError(403, 'access_denied', 501051), refused('clientId')],
    ['a request without scope', requestWithout('scope'), refused('scope')],
    ['a request about a tenant', requestWithout('tenant'), refused('tenantId')],
    ['an unspecified part of the request', entraError(400, 'invalid_request', 900144), refused()],
    ['something unknown', entraError(400, 'constructor', 1), refused()],
    ['everything, as an HTML page', { status: 403, body: '<h1>Blocked</h1>' }, refused()],
    ['everything, by a redirect', { status: 307, headers: { location: 'https://elsewhere.example' } }, refused()],
    ['a client, with status 200', { status: 200, body: { error: 'invalid_scope' } }, refused('scope')],
  ])('of %s names the field to check', async (_, fault, expected) => {
    idp.faults.token = fault;
    expect(await failureOf(provider())).toMatchObject(expected);
    expect(idp.tokenRequests.count).toBe(1);
  });

  it.each([700027, 700030, 700023, 700024, 0])('of a certificate names its files: %i', async (number) => {
    idp.faults.token = entraError(401, 'invalid_client', number);
    expect(await failureOf(provider({ certificate: certificateIn(registered) }))).toMatchObject(CERTIFICATE);
  });

  it('is classified by its name before its number', async () => {
    idp.faults.token = entraError(400, 'temporarily_unavailable', 7000215);
    expect(await failureOf(provider())).toMatchObject({ ...OUTAGE, fields: [] });
  });

  it('is classified by the number in its text too', async () => {
    for (const error_codes of ['x', ['7000215']]) {
      idp.faults.token = entraError(401, 'invalid_client', 7000222, { error_codes });
      expect(await failureOf(provider())).toMatchObject(refused('clientSecret'));
    }
    idp.faults.token = entraError(401, 'invalid_client', 7000222, {
      error_description: 7,
      error_codes: [7000222],
      suberror: 'bad_token',
    });
    const { log: detail, fields } = await failureOf(provider());
    expect(fields).toEqual(['clientSecret']);
    expect(detail).toBe(
      'token request failed: 401 invalid_client bad_token: {"error_description":7,"error_codes":[7000222],"suberror":"bad_token"}',
    );
  });
});

function requestWithout(parameter: string): Fault {
  const error_description = `AADSTS900144: The request body must contain the following parameter: '${parameter}'.`;
  return entraError(400, 'invalid_request', 900144, { error_description });
}

describe('a failure of msal-node itself', () => {
  const settings = settingsIn('idpBService', {
    tenantId: 'tenant-1',
    authority: '',
    clientId: 'client',
    scope: 'x/.default',
    clientSecret: secret('secret'),
    certificatePath: '',
    privateKeyPath: '',
  });
  const verdict = (thrown: unknown, credential: 'secret' | 'certificate'): IssueFailure => {
    const rules = failureRules('client_credentials', credential, { block: 'idpBService', settings });
    return issueFailure(thrownFault(thrown, 'local'), rules, []);
  };

  it.each<[string, unknown, object]>([
    ['a cached failure', new ServerError('', ''), OUTAGE],
    ['a cached failure with error numbers', new ServerError('90055 50196', ''), OUTAGE],
    ['endpoints it cannot find', new ClientAuthError('endpoints_resolution_error', ''), OUTAGE],
    ['a network error without a message', new AuthError('network_error', ''), OUTAGE],
    ['something else', 'thrown text', OUTAGE],
  ])('for %s names the field to check', (_, thrown, expected) => {
    for (const credential of ['secret', 'certificate'] as const)
      expect(verdict(thrown, credential)).toMatchObject(expected);
  });
});

describe('a failing provider', () => {
  it('keeps the reason of the metadata request', async () => {
    idp.faults.metadata = { status: 503, body: 'x', headers: { 'retry-after': '9' } };
    const failure = await failureOf(provider());
    expect(failure).toMatchObject({ ...OUTAGE, retryAfterMs: 9000 });
    expect(failure.advice).toMatch(/^Try again later; if that does not help, check /);
    expect(failure.log).toBe('metadata request failed: 503: x');
    idp.faults.metadata = { status: 404, body: 'x' };
    expect(await failureOf(provider())).toMatchObject(refused('tenantId'));
  });

  it.each([
    [['authority'], 'login.example', 'EAI_AGAIN'],
    [[], '', 'ECONNREFUSED'],
    [[], ' ', 'EAI_AGAIN'],
  ])('names %j when the authority %j is out of reach', async (fields, authority, code) => {
    const fetch = (): Promise<never> => Promise.reject(Object.assign(new Error('no'), { code }));
    expect(await failureOf(provider({ authority, fetch }))).toMatchObject({ ...OUTAGE, fields });
  });

  it('names the tenant for an endpoint without TLS', async () => {
    idp.faults.metadata = { transform: (body) => ({ ...body, token_endpoint: `http://${idp.host}/token` }) };
    const failure = await failureOf(provider());
    expect(failure).toMatchObject(refused('tenantId'));
    expect(failure.log).toContain('ERR_NOT_HTTPS');
  });

  it('names the tenant for an endpoint on another machine without TLS, even if the authority is this machine', async () => {
    const plain = await startIdpB({ insecure: true });
    onTestFinished(() => plain.close());
    plain.faults.metadata = { transform: (body) => ({ ...body, token_endpoint: 'http://login.example/token' }) };
    const urls: string[] = [];
    const fetch: Fetch = (url, options) => {
      urls.push(url);
      return globalThis.fetch(url, options);
    };
    expect(await failureOf(provider({ authority: `http://${plain.host}`, fetch }))).toMatchObject(refused('tenantId'));
    expect(urls).toHaveLength(1);
  });

  it('is unavailable when another issuer responds', async () => {
    idp.faults.metadata = { transform: (body) => ({ ...body, issuer: 'https://elsewhere.example/' }) };
    expect(await failureOf(provider())).toMatchObject(OUTAGE);
    expect(idp.tokenRequests.count).toBe(0);
  });
});

describe('the detail of a failure', () => {
  it('hides the certificate key and its assertion', async () => {
    const echoing: TrustingFetch['fetch'] = async (url, options) => {
      const { body = '' } = options as { body?: string };
      if (body === '') return trusting.fetch(url, options);
      const error_description = `${new URLSearchParams(body).get('client_assertion')} ${registered.privateKeyPem}`;
      return Response.json({ error: 'invalid_request', error_description }, { status: 400 });
    };
    const { log: detail } = await failureOf(provider({ certificate: certificateIn(registered), fetch: echoing }));
    expect(detail).toBe('token request failed: 400 invalid_request: [redacted] [redacted]');
  });
});
