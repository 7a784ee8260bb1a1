import { configFromEnv, createToolkit, type ServerConfig } from 'agent-bff';
import { describe, expect, it } from 'vitest';
import { runIdpB, startIdpB, trustingFetch } from '../../support/identity-provider/index.js';
import { freePort } from '../../support/free-port.js';
import { applicationSecret, identityFetch } from './credential-site.js';

const { idp } = await runIdpB();

/** A toolkit whose application is registered in a directory of its own. */
function toolkitAt(authority: string, block: ServerConfig['idpBService'] = {}) {
  const { idpBService, ...rest } = applicationSecret(idp);
  const trusting = trustingFetch(idp.ca);
  const config = { ...rest, idpBService: { ...idpBService, authority, ...block } };
  return createToolkit({ serviceApiUrl: 'https://platform.example/api', ...config }, identityFetch(trusting));
}

describe('an idp_b with an address of its own', () => {
  it.each([
    ['a plain address', () => `https://${idp.host}`],
    ['one with a slash at its end', () => ` https://${idp.host}/ `],
    ['a host name', () => idp.host],
    ['one with the tenant', () => idp.authority],
    ['the issuer of its tokens', () => idp.issuer],
  ])('is asked there: %s', async (_title, authority) => {
    const headers = await toolkitAt(authority()).authHeaders();
    const token = String(headers['authorization']).replace('Bearer ', '');
    expect(await idp.verifyAccessToken(token)).toMatchObject({ aud: idp.audience });
  });

  it('is asked there for exchanges too', async () => {
    const assertion = await idp.issueUserToken('ann');
    const toolkit = toolkitAt(`https://${idp.host}`);
    const authClient = { getToken: () => Promise.resolve({ kind: 'token', accessToken: assertion } as const) };
    const headers = await toolkit.sessionHeaders({ authClient, exchange: 'on_behalf_of' });
    const token = String(headers['authorization']).replace('Bearer ', '');
    expect(await idp.verifyAccessToken(token)).toMatchObject({ sub: 'ann' });
  });

  it('may speak http on this machine, for tests and for directories behind a local proxy', async () => {
    const plain = await startIdpB({ insecure: true });
    const { idpBService, ...rest } = applicationSecret(plain);
    const authority = `http://${plain.host}`;
    const toolkit = createToolkit({ ...rest, idpBService: { ...idpBService, authority } });
    const headers = await toolkit.authHeaders();
    expect(await plain.verifyAccessToken(String(headers['authorization']).replace('Bearer ', ''))).toBeDefined();
    await plain.close();
  });

  it.each(['http://login.example', 'https://user@login.example', 'https://login.example?x=1', 'ftp://x'])(
    'is never sent a credential at %s, and the hint names the field',
    async (authority) => {
      await expect(toolkitAt(authority).authHeaders()).rejects.toMatchObject({
        code: 'service_auth_failed',
        block: 'idpBService',
        fields: ['authority'],
      });
      expect(idp.tokenRequests.count).toBe(0);
    },
  );

  it('where nobody listens is an outage that names the field', async () => {
    await expect(
      toolkitAt(`https://127.0.0.1:${String(await freePort('127.0.0.1'))}`).authHeaders(),
    ).rejects.toMatchObject({
      code: 'identity_provider_unavailable',
      fields: ['authority'],
    });
  });

  it('can be named by a variable', () => {
    expect(configFromEnv({ IDP_B_AUTHORITY: 'https://login.microsoftonline.us' })).toEqual({
      idpBService: { authority: 'https://login.microsoftonline.us' },
    });
  });
});
