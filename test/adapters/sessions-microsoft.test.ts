import { ConfidentialClientApplication, type INetworkModule, type NetworkResponse } from '@azure/msal-node';
import { describe, expect, it } from 'vitest';
import { easyAuthSession } from '../../src/adapters/sessions/easy-auth.js';
import { msalSession } from '../../src/adapters/sessions/msal-session.js';
import type { SessionTokenSource } from '../../src/ports/session-token-source.js';
import { ask, jwt, rejects, visit } from '../support/session-visit.js';

describe('msal-node', () => {
  const account = { homeAccountId: 'oid.tid' };
  const result = { accessToken: 't', expiresOn: new Date('2027-01-01') };
  const source = (acquireTokenSilent: (request: object) => Promise<typeof result | null>): SessionTokenSource =>
    msalSession({ client: { acquireTokenSilent }, account: ({ session }) => session, scopes: ['api://a/.default'] });
  const signedIn = visit({ session: account });

  it('returns the token of the account in the session', async () => {
    const asked: object[] = [];
    const found = source((request) => {
      asked.push(request);
      return Promise.resolve(result);
    });
    expect(await ask(found, signedIn)).toEqual({
      kind: 'token',
      accessToken: 't',
      expiresAt: Date.parse('2027-01-01'),
      subject: 'oid.tid',
    });
    await ask(found, signedIn, { scope: 'a b', forceRefresh: true });
    expect(asked).toEqual([
      { account, scopes: ['api://a/.default'], forceRefresh: false },
      { account, scopes: ['a', 'b'], forceRefresh: true },
    ]);
  });

  it('uses a separate client for each visitor', async () => {
    const client = ({ name }: { name: string }) => ({
      acquireTokenSilent: () => Promise.resolve({ ...result, accessToken: name }),
    });
    const own = msalSession({ client, account: () => account, scopes: [] });
    expect(await ask(own, visit({ name: 'anna' }))).toMatchObject({ accessToken: 'anna' });
  });

  it('reports no session without an account and does not call msal-node', async () => {
    for (const session of [undefined, null])
      expect(await ask(source(rejects({})), visit({ session }))).toEqual({ kind: 'no-session' });
  });

  const refusals: readonly (readonly [string, object])[] = [
    ...['no_tokens_found', 'refresh_token_expired', 'no_account_in_silent_request'].map(
      (code) => [code, { kind: 'expired', log: code }] as const,
    ),
    ['invalid_grant', { kind: 'expired', reason: 'expired' }],
    ['bad_token', { kind: 'expired', reason: 'expired' }],
    ['interaction_required', { kind: 'expired', reason: 'interaction' }],
    ['consent_required', { kind: 'expired', reason: 'interaction' }],
    ['interrupted_user', { kind: 'expired', reason: 'interaction' }],
  ];
  it.each(refusals)('maps %s to its outcome', async (errorCode, answer) => {
    const facts = { name: 'InteractionRequiredAuthError', errorCode };
    const found = await ask(source(rejects(facts)), signedIn);
    expect(found).toMatchObject(answer);
    expect('reason' in found).toBe('reason' in answer);
  });

  it('throws when Entra is down or rejects the site', async () => {
    const asking = ask(source(rejects({ name: 'ServerError', errorCode: 'invalid_client' })), signedIn);
    await expect(asking).rejects.toThrow(
      /^@azure\/msal-node 7\.\d+\.\d+ could not return the token: ServerError invalid_client: with \[redacted\] inside$/,
    );
    expect(
      await ask(
        source(() => Promise.resolve(null)),
        signedIn,
      ),
    ).toEqual({ kind: 'expired', log: 'no token in the cache' });
  });

  it('has no end when msal-node names none', async () => {
    const found = source(() => Promise.resolve({ ...result, expiresOn: null as never }));
    expect(await ask(found, signedIn)).toStrictEqual({ kind: 'token', accessToken: 't', subject: 'oid.tid' });
  });

  it.each([{}, { client: {} }, { client: 'msal' }])('requires a client, an account and scopes: %j', (options) => {
    const others = { account: () => null, scopes: ['api'] };
    expect(() => msalSession({ ...others, ...options } as never)).toThrow('"client" of msalSession');
    for (const name of ['account', 'scopes']) {
      const all = { client: () => undefined, ...others, [name]: undefined };
      expect(() => msalSession(all as never)).toThrow(`"${name}" of msalSession`);
    }
  });
});

describe('msal-node itself', () => {
  const LOGIN = 'https://login.microsoftonline.com';

  /** A client signed in to a tenant, whose provider responds with this ID token. */
  async function signedIn(claims: object) {
    const authority = `${LOGIN}/of-the-guest`;
    const body = {
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'api://a/chat',
      access_token: 'of-ada',
      id_token: jwt({ aud: 'app', ...claims }),
      client_info: Buffer.from('{"uid":"ada","utid":"home"}').toString('base64url'),
    };
    const respond = async <T>(): Promise<NetworkResponse<T>> => ({ status: 200, headers: {}, body: body as T });
    const networkClient: INetworkModule = { sendGetRequestAsync: respond, sendPostRequestAsync: respond };
    const endpoints = { authorization_endpoint: `${authority}/authorize`, token_endpoint: `${authority}/token` };
    const metadata = { ...endpoints, issuer: `${authority}/v2.0`, jwks_uri: `${authority}/keys` };
    const client = new ConfidentialClientApplication({
      auth: {
        clientId: 'app',
        clientSecret: 'of-the-app',
        authority,
        knownAuthorities: ['login.microsoftonline.com'],
        authorityMetadata: JSON.stringify(metadata),
      },
      system: { networkClient },
    });
    const scopes = ['api://a/chat'];
    const { account } = await client.acquireTokenByCode({ code: 'c', scopes, redirectUri: 'https://site.example/in' });
    return ask(msalSession({ client, account: () => account, scopes }), visit({}));
  }

  it('names the user by the home account, with issuer and tenant of the sign-in', async () => {
    const issuer = `${LOGIN}/of-the-guest/v2.0`;
    expect(await signedIn({ iss: issuer, sub: 'for this app', oid: 'ada', tid: 'of-the-guest' })).toMatchObject({
      accessToken: 'of-ada',
      subject: 'ada.home',
      issuer,
      tenant: 'of-the-guest',
    });
  });
});

describe('Easy Auth', () => {
  const headers = {
    'x-ms-token-aad-access-token': 't',
    'x-ms-token-aad-expires-on': '2027-01-01T00:00:00.0000000Z',
  };

  it('reads the headers of App Service', async () => {
    const source = easyAuthSession({ behindAppService: true });
    const expiresAt = Date.parse('2027-01-01');
    expect(await ask(source, visit({}, undefined, headers))).toEqual({ kind: 'token', accessToken: 't', expiresAt });
    expect(await ask(source, visit({}, undefined, { ...headers, 'x-ms-token-aad-expires-on': 'soon' }))).toEqual({
      kind: 'token',
      accessToken: 't',
    });
  });

  it('names user, issuer and tenant by the ID token that App Service adds', async () => {
    const source = easyAuthSession({ behindAppService: true });
    const idToken = jwt({ iss: 'https://sts.windows.net/t/', sub: 's', tid: 't' });
    const found = await ask(source, visit({}, undefined, { ...headers, 'x-ms-token-aad-id-token': idToken }));
    expect(found).toMatchObject({ issuer: 'https://sts.windows.net/t/', subject: 's', tenant: 't' });
    const forged = await ask(source, visit({}, undefined, { ...headers, 'x-ms-token-aad-id-token': [idToken, 'x'] }));
    expect(forged).not.toHaveProperty('subject');
  });

  it('ignores a header given more than once', async () => {
    const doubled = { 'x-ms-token-aad-access-token': ['t', 'other'] };
    expect(await ask(easyAuthSession({ behindAppService: true }), visit({}, undefined, doubled))).toEqual({
      kind: 'no-session',
    });
  });

  it('requires behindAppService: true', () => {
    expect(() => easyAuthSession({} as never)).toThrow('Missing option "behindAppService" of easyAuthSession.');
    expect(() => easyAuthSession({ behindAppService: 'yes' } as never)).toThrow(
      'Invalid value for "behindAppService" of easyAuthSession.',
    );
  });
});
