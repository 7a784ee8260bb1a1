import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import type { Fetch } from '../../src/adapters/oauth/token-call.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { secret } from '../../src/domain/shared/secret.js';
import { identityProviderContract } from '../contracts/identity-provider.contract.js';
import type { Identity, IdentityProvider } from '../../src/ports/identity-provider.js';
import { configuredProvider } from '../support/configured-provider.js';
import { type ClientCertificate, makeClientCertificate, startIdpB } from '../support/identity-provider/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { certificateIn, configuredExchange, issued, NOW, startIdpBWorld } from './oauth-world.js';

const registeredPkcs1 = makeClientCertificate({ keyFormat: 'pkcs1' });
const { idp, trusting, registered, provider, configured } = await startIdpBWorld({
  certificates: [registeredPkcs1.certificatePem],
  // By default, msal-node would reuse an assertion for ten minutes and be rejected from the second call on.
  strictAssertions: true,
});

const paths = ({ certificatePath, privateKeyPath }: ClientCertificate): object => ({ certificatePath, privateKeyPath });

identityProviderContract('IdpBProvider', async () => {
  const gone = await startIdpB();
  await gone.close();
  const proofKey = Buffer.from('key shared by processes');
  const absent = { ...registered, certificatePath: '/nowhere/client.crt' };
  const made = (change?: object, settings?: object): Promise<IdentityProvider> =>
    configuredProvider('idp_b.client_credentials', configured(change), { ...trusting, proofKey, ...settings });
  return {
    now: NOW,
    working: await made(),
    again: await made(),
    otherPrincipal: {
      authority: await made({ authority: 'https://login.example' }),
      tenantId: await made({ tenantId: 'contoso.example' }),
      clientId: await made({ clientId: 'other' }),
      scope: await made({ scope: 'api://other/.default' }),
    },
    otherProof: {
      clientSecret: await made({ clientSecret: 'other' }),
      certificate: await made(paths(registered)),
      'another certificate': await made(paths(registeredPkcs1)),
      'half a certificate': await made({ certificatePath: registered.certificatePath }),
      'another key of the proof': await made({}, { proofKey: Buffer.from('other') }),
    },
    failing: {
      'no tenant': { provider: provider({ tenantId: '' }), reason: 'incomplete', fields: ['tenantId'] },
      'no certificate file': {
        provider: provider({ certificate: certificateIn(absent) }),
        reason: 'refused',
        fields: ['certificatePath'],
      },
      'a wrong client secret': {
        provider: provider({ clientSecret: secret('wrong-client-secret') }),
        reason: 'refused',
        fields: ['clientSecret'],
      },
      'a provider that is gone': {
        provider: provider({ authority: `https://${gone.host}` }),
        reason: 'unavailable',
        fields: ['authority'],
      },
    },
    secrets: [idp.client.secret, 'wrong-client-secret', registered.privateKeyPem.slice(60, 100), String(proofKey)],
  };
});

function identities(...configs: readonly ServerConfig[]): Promise<readonly Identity[]> {
  return Promise.all(
    configs.map(async (config) => (await configuredProvider('idp_b.client_credentials', config)).identity()),
  );
}

describe('a service token from idp_b', () => {
  it('belongs to the application, for the API of the scope', async () => {
    const token = await issued(provider());
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: idp.client.id, aud: idp.audience });
    expect(token.expiresAt).toBe(NOW + 300_000);
    expect(idp.tokenRequests.list).toMatchObject([
      {
        grant: 'client_credentials',
        form: { scope: idp.scope, client_id: idp.client.id, client_secret: '[redacted]' },
      },
    ]);
  });

  it('is fetched from the public cloud by default, without discovery', async () => {
    const asked: string[] = [];
    const rewriting: Fetch = (url, options) => {
      asked.push(url.replace(/\?.*/, ''));
      return trusting.fetch(url.replace('https://login.microsoftonline.com', `https://${idp.host}`), options);
    };
    for (const authority of ['', ' ']) await issued(provider({ authority, fetch: rewriting }));
    expect(new Set(asked)).toEqual(new Set([`https://login.microsoftonline.com/${idp.tenantId}/oauth2/v2.0/token`]));
    expect(idp.metadataRequests.count).toBe(0);
  });

  it('is the same however the settings are written', async () => {
    await issued(provider({ tenantId: ` ${idp.tenantId}\n`, clientId: `${idp.client.id} ` }));
    await issued(provider({ scope: ` ${idp.scope}  ` }));
    for (const authority of [` https://${idp.host}/ `, idp.host, idp.authority, idp.issuer]) {
      await issued(provider({ authority }));
    }
    expect(idp.tokenRequests.count).toBe(6);
    for (const { form } of idp.tokenRequests.list) expect(form['scope']).toBe(idp.scope);
  });

  it('is shared however the tenant is written', async () => {
    const spellings = [{ tenantId: ` ${idp.tenantId} ` }, { authority: idp.host }, { authority: idp.issuer }];
    const all = await identities(...[{}, ...spellings].map((change) => configured(change)));
    expect(new Set(all.map(({ principal }) => principal)).size).toBe(1);
  });

  it.each([{ tenantId: 'contoso.example' }, { authority: 'https://login.example' }])(
    'is not shared with an application of %j',
    async (change) => {
      const [one, other] = await identities(configured(), configured(change));
      expect(one?.principal).not.toBe(other?.principal);
    },
  );

  it('is requested again for another credential, but not for another secret that a certificate replaces', async () => {
    const credentials = [
      {},
      { clientSecret: 'other' },
      paths(registered),
      { ...paths(registered), clientSecret: 'other' },
      paths(registeredPkcs1),
    ];
    const proofs = (await identities(...credentials.map((change) => configured(change)))).map(({ proof }) => proof);
    expect(proofs[2]).toBe(proofs[3]);
    expect(new Set(proofs).size).toBe(4);
  });

  it('is requested again once its certificate is replaced, or broken in another way', async () => {
    const folder = temporaryFolder('certificate');
    const own = { certificatePath: join(folder, 'client.crt'), privateKeyPath: join(folder, 'client.key') };
    const proofs: string[] = [];
    for (const [certificate, key] of [
      [registered.certificatePem, registered.privateKeyPem],
      [registeredPkcs1.certificatePem, registeredPkcs1.privateKeyPem],
      [registered.certificatePem, '<KEY>'],
      [registered.certificatePem, ''],
    ] as const) {
      await Promise.all([writeFile(own.certificatePath, certificate), writeFile(own.privateKeyPath, key)]);
      proofs.push(...(await identities(configured(own))).map(({ proof }) => proof));
    }
    expect(new Set(proofs).size).toBe(4);
  });

  it('is fetched over http from this machine', async () => {
    const plain = await startIdpB({ insecure: true });
    const { tenantId, scope, client } = plain;
    const application = { tenantId, scope, clientId: client.id, clientSecret: secret(client.secret) };
    const token = await issued(provider({ ...application, authority: `http://${plain.host}`, fetch: undefined }));
    expect(await plain.verifyAccessToken(token.value)).toMatchObject({ aud: plain.audience });
    await plain.close();
  });

  it('ignores MSAL_FORCE_REGION', async () => {
    process.env['MSAL_FORCE_REGION'] = 'westus';
    try {
      await issued(provider());
    } finally {
      delete process.env['MSAL_FORCE_REGION'];
    }
  });
});

describe('a certificate', () => {
  const [pair, half] = [paths(registered), { privateKeyPath: registered.privateKeyPath }];
  it.each<[string, object, string[]]>([
    ['a certificate alone', { ...pair, clientSecret: '' }, []],
    ['a client secret alone', {}, []],
    ['both', pair, ['client_secret_unused']],
    ['a client secret and half a certificate', half, ['certificate_incomplete']],
    ['half a certificate', { ...half, clientSecret: '' }, []],
  ])('causes a warning only beside a client secret: %s', async (_, change, codes) => {
    const telemetry = new RecordingTelemetry();
    const warned = (): readonly unknown[] =>
      telemetry.of('warning').map(({ code, detail }) => [code, detail.split(' ')[0]]);
    await configuredProvider('idp_b.client_credentials', configured(change), { telemetry });
    const service = codes.map((code) => [code, 'idpBService']);
    expect(warned()).toEqual(service);
    await configuredExchange(configured(change, { clientId: 'other' }), { telemetry }).identity();
    expect(warned(), 'of the provider only').toEqual(service);
    await configuredExchange(configured({}, { clientSecret: 's', ...change }), { telemetry }).identity();
    expect(warned()).toEqual([...service, ...codes.map((code) => [code, 'onBehalfOf'])]);
  });

  it('works without a secret', async () => {
    const token = await issued(provider({ certificate: certificateIn(registered), clientSecret: secret('') }));
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: idp.client.id });
  });

  it('signs a short assertion per call with its thumbprint', async () => {
    const forms: URLSearchParams[] = [];
    const noting: Fetch = (url, options) => {
      if (typeof options.body === 'string') forms.push(new URLSearchParams(options.body));
      return trusting.fetch(url, options);
    };
    const signing = provider({ certificate: certificateIn(registered), fetch: noting });
    await issued(signing);
    await issued(signing);
    const assertions = forms.map((form) => form.get('client_assertion') ?? '');
    for (const assertion of assertions) {
      expect(decodeProtectedHeader(assertion)).toMatchObject({ alg: 'PS256', 'x5t#S256': registered.thumbprint });
      const { iss, sub, aud, exp = 0, nbf = 0 } = decodeJwt(assertion);
      expect([iss, sub, aud]).toEqual([idp.client.id, idp.client.id, idp.tokenEndpoint]);
      expect(exp - nbf).toBe(600);
    }
    expect(new Set(assertions.map((assertion) => decodeJwt(assertion).jti)).size).toBe(2);
  });
});

describe('msal-node', () => {
  it.each([60, 240, 299, 301, 3600])('does not cache a token of %i seconds', async (seconds) => {
    idp.faults.token = { transform: (body) => ({ ...body, expires_in: seconds, refresh_in: 1 }) };
    const shared = provider();
    expect((await issued(shared)).expiresAt).toBe(NOW + seconds * 1000);
    await issued(shared);
    expect(idp.tokenRequests.count).toBe(2);
  });

  it.each([
    ['a 503', { status: 503, body: { error: 'temporarily_unavailable' }, times: 1 }],
    ['a 429', { status: 429, body: { error: 'throttled' }, headers: { 'retry-after': '60' }, times: 1 }],
    ['a refusal with Retry-After', { status: 400, body: { error: 'x' }, headers: { 'retry-after': '60' }, times: 1 }],
    ['a broken connection', { destroy: true, times: 1 }],
  ])('does not remember %s', async (_, fault) => {
    const shared = provider();
    await issued(shared);
    idp.faults.token = { ...fault };
    expect((await shared.issue(NOW)).kind).toBe('failure');
    await issued(shared);
    expect(idp.tokenRequests.count).toBe(3);
    expect(idp.metadataRequests.count, 'read again after the failure').toBe(2);
  });

  it('does not fail other calls in flight after a failure', async () => {
    const shared = provider();
    await issued(shared);
    idp.faults.token = { status: 503, body: '', headers: { 'retry-after': '60' }, delayMs: 20, times: 1 };
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => shared.issue(NOW)));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['failure', 'token', 'token', 'token', 'token']);
  });

  it('does not send an earlier failure as telemetry', async () => {
    const shared = provider();
    idp.faults.token = { status: 400, body: { error: 'invalid_scope' }, times: 1 };
    await shared.issue(NOW);
    await issued(shared);
    expect(idp.tokenRequests.last?.form['x-client-last-telemetry']).toBe('5|0|||0,0');
  });
});
