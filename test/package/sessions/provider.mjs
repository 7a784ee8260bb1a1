// A provider that signs every visitor in as another Ann, with rotating refresh tokens: using one twice ends the session.
import { createServer } from 'node:http';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { listen } from '../site.mjs';

const CLIENT = 'website';

export async function startProvider() {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
  const codes = new Map();
  /** The valid refresh token of each session. */
  const sessions = new Map();
  let count = 0;
  const provider = { lifetimeSeconds: 3600, refreshes: 0, reused: 0 };
  const userOf = (sub) => ({ sub, name: 'Ann', email: `${sub}@site.example`, email_verified: true });
  const sign = (claims) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(provider.issuer)
      .setIssuedAt()
      .setExpirationTime(`${provider.lifetimeSeconds} s`)
      .sign(privateKey);
  async function tokens(session, nonce) {
    const refreshToken = `refresh-${session}-${(count += 1)}`;
    sessions.set(session, refreshToken);
    const user = userOf(`ann-${session}`);
    return {
      access_token: await sign({ sub: user.sub, aud: 'https://platform.example/api', jti: String(count) }),
      id_token: await sign({
        aud: CLIENT,
        ...user,
        ...(nonce && { nonce }),
      }),
      refresh_token: refreshToken,
      token_type: 'Bearer',
      scope: 'openid profile email offline_access',
      expires_in: provider.lifetimeSeconds,
    };
  }
  async function exchange(form) {
    if (form.get('grant_type') === 'authorization_code') {
      const granted = codes.get(form.get('code'));
      codes.delete(form.get('code'));
      return granted === undefined ? undefined : tokens((count += 1), granted.nonce);
    }
    const [, session] = (form.get('refresh_token') ?? '').split('-');
    provider.refreshes += 1;
    if (sessions.get(Number(session)) === form.get('refresh_token')) return tokens(Number(session));
    provider.reused += 1;
    sessions.delete(Number(session));
    return undefined;
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url, provider.issuer);
    let body = '';
    for await (const chunk of request) body += chunk;
    const json = (value, status = 200) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
        .end(JSON.stringify(value));
    if (pathname.endsWith('/.well-known/openid-configuration')) {
      const at = (path) => `${provider.issuer}${path}`;
      json({
        issuer: provider.issuer,
        authorization_endpoint: at('/authorize'),
        token_endpoint: at('/token'),
        userinfo_endpoint: at('/userinfo'),
        jwks_uri: at('/jwks'),
        end_session_endpoint: at('/end'),
        response_types_supported: ['code'],
        response_modes_supported: ['query', 'form_post'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      });
    } else if (pathname === '/jwks') json({ keys });
    else if (pathname === '/userinfo') json(userOf(decodeJwt(request.headers.authorization.slice(7)).sub));
    else if (pathname === '/authorize') {
      const code = `code-${(count += 1)}`;
      codes.set(code, { nonce: query.get('nonce') });
      const back = new URL(query.get('redirect_uri'));
      back.searchParams.set('code', code);
      if (query.has('state')) back.searchParams.set('state', query.get('state'));
      response.writeHead(302, { location: back.href }).end();
    } else if (pathname === '/token') {
      const granted = await exchange(new URLSearchParams(body));
      if (granted === undefined)
        json({ error: 'invalid_grant', error_description: 'the refresh token was used twice' }, 400);
      else json(granted);
    } else response.writeHead(404).end();
  });
  const { url, close } = await listen(server);
  return Object.assign(provider, { issuer: url.replace('127.0.0.1', 'localhost'), close });
}
