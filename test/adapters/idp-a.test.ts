import { issuerAddress } from '../../src/adapters/idp-a/descriptor.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secret } from '../../src/domain/shared/secret.js';
import { identityProviderContract } from '../contracts/identity-provider.contract.js';
import type { IdentityProvider } from '../../src/ports/identity-provider.js';
import { configuredProvider } from '../support/configured-provider.js';
import { PASSWORD_REALM, startIdpA } from '../support/identity-provider/index.js';
import { issued, NOW, startIdpAWorld } from './oauth-world.js';

const { idp, trusting, provider, configured } = await startIdpAWorld();

identityProviderContract('IdpAProvider', async () => {
  const gone = await startIdpA();
  await gone.close();
  const made = (change?: Parameters<typeof configured>[0], flow = 'idp_a.password'): Promise<IdentityProvider> =>
    configuredProvider(flow, configured(change), trusting);
  return {
    now: NOW,
    working: await made(),
    again: await made(),
    otherPrincipal: {
      domain: await made({ idpA: { domain: 'other.example' } }),
      clientId: await made({ idpA: { clientId: 'other' } }),
      audience: await made({ idpA: { audience: 'https://other.example' } }),
      scope: await made({ idpA: { scope: 'read' } }),
      realm: await made({ idpA: { realm: 'other' } }),
      username: await made({ idpAServiceUser: { username: 'other@site.example' } }),
      grant: await made({}, 'idp_a.client_credentials'),
    },
    otherProof: {
      clientSecret: await made({ idpA: { clientSecret: 'other' } }),
      password: await made({ idpAServiceUser: { password: 'other' } }),
    },
    failing: {
      'no domain': { provider: await made({ idpA: { domain: '' } }), reason: 'incomplete', fields: ['domain'] },
      'a wrong client secret': {
        provider: provider({ clientSecret: secret('wrong-client-secret') }),
        reason: 'refused',
        fields: ['clientId', 'clientSecret'],
      },
      'a provider that is gone': {
        provider: provider({ domain: gone.domain }),
        reason: 'unavailable',
        fields: ['domain'],
      },
    },
    secrets: [idp.client.secret, idp.user.password, 'wrong-client-secret'],
  };
});

describe('a service token from idp_a', () => {
  it('belongs to the service user, with the configured audience and scope', async () => {
    const token = await issued(provider({ scope: 'read' }));
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({
      sub: `auth0|${idp.user.username}`,
      aud: idp.audience,
      scope: 'read',
    });
    expect(token.expiresAt).toBe(NOW + 300_000);
    expect(idp.tokenRequests.list.map(({ grant }) => grant)).toEqual(['password']);
  });

  it('uses the configured realm', async () => {
    const token = await issued(provider({ ...idp.employee, password: secret(idp.employee.password) }));
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: `auth0|${idp.employee.username}` });
    expect(idp.tokenRequests.last).toMatchObject({ grant: PASSWORD_REALM, form: { realm: idp.employee.realm } });
  });

  it('belongs to the application with client credentials, without a user', async () => {
    const token = await issued(provider({ grant: 'client_credentials' }));
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: idp.client.id, aud: idp.audience });
    expect(Object.keys(idp.tokenRequests.last?.form ?? {}).sort()).toEqual([
      'audience',
      'client_id',
      'client_secret',
      'grant_type',
    ]);
  });

  it('is requested with the client secret in the form only', async () => {
    for (const token_endpoint_auth_methods_supported of [['client_secret_basic', 'client_secret_post'], undefined]) {
      idp.faults.metadata = { transform: (body) => ({ ...body, token_endpoint_auth_methods_supported }) };
      await issued(provider());
      expect(idp.tokenRequests.last?.headers['authorization']).toBeUndefined();
      expect(idp.tokenRequests.last?.form['client_secret']).toBe('[redacted]');
    }
  });

  it('is requested with the client secret in Authorization, if the metadata lists that way alone', async () => {
    const strict = await startIdpA({ insecure: true, basic: true });
    onTestFinished(() => strict.close());
    for (const grant of ['password', 'client_credentials'] as const)
      await issued(provider({ domain: strict.issuer, fetch: undefined, grant }));
    expect(strict.tokenRequests.list.map(({ form }) => form['client_secret'])).toEqual([undefined, undefined]);
    const wrong = provider({ domain: strict.issuer, fetch: undefined, clientSecret: secret('wrong-client-secret') });
    expect(await wrong.issue(NOW)).toMatchObject({ reason: 'refused', fields: ['clientId', 'clientSecret'] });
  });

  it('never requests openid or offline_access', async () => {
    await issued(provider({ scope: ' openid  read offline_access chat ' }));
    expect(idp.tokenRequests.last?.form['scope']).toBe('read chat');
    await issued(provider({ scope: 'openid' }));
    expect(idp.tokenRequests.last?.form).not.toHaveProperty('scope');
  });

  it('is requested without an empty audience', async () => {
    const token = await issued(provider({ audience: '' }));
    expect(idp.tokenRequests.last?.form).not.toHaveProperty('audience');
    expect(token.expiresAt).toBe(NOW + 300_000);
  });

  it('has the same issuer however the domain is written', async () => {
    const spellings = ['', '/', '/.well-known/openid-configuration'].flatMap((end) => [
      idp.domain + end,
      `https://${idp.domain}${end}`,
      ` HTTPS://${idp.domain}${end} `,
    ]);
    const principals = new Set<string>();
    for (const domain of spellings) {
      const spelled = await configuredProvider('idp_a.password', configured({ idpA: { domain } }), trusting);
      await issued(spelled);
      principals.add((await spelled.identity()).principal);
    }
    expect(principals.size).toBe(1);
  });

  it.each(['password', 'client_credentials'])('is requested by the grant of its flow: %s', async (grant) => {
    await issued(await configuredProvider(`idp_a.${grant}`, configured(), trusting));
    expect(idp.tokenRequests.list.map((request) => request.grant)).toEqual([grant]);
  });

  it.each([
    ['password', [false, false]],
    ['client_credentials', [false, true]],
  ])('by the grant "%s" is shared with another domain, and with another service user: %j', async (grant, expected) => {
    const principalOf = async (change?: Parameters<typeof configured>[0]): Promise<string> =>
      (await (await configuredProvider(`idp_a.${grant}`, configured(change))).identity()).principal;
    const others = [{ idpA: { domain: 'other.example' } }, { idpAServiceUser: { username: 'other@site.example' } }];
    const principals = await Promise.all(others.map(principalOf));
    const own = await principalOf();
    expect(principals.map((principal) => principal === own)).toEqual(expected);
  });

  it('is fetched over http from this machine only', async () => {
    const plain = await startIdpA({ insecure: true });
    try {
      const token = await issued(provider({ domain: plain.issuer, fetch: undefined }));
      expect(await plain.verifyAccessToken(token.value)).toMatchObject({ aud: plain.audience });
      expect(issuerAddress('http://idp.example')).toBeUndefined();
    } finally {
      await plain.close();
    }
  });
});
