import { describe, expect, it } from 'vitest';
import { authJsSession, nextAuthSession } from '../../src/adapters/sessions/auth-js.js';
import type { SessionToken } from '../../src/ports/session-token-source.js';
import { ask, NodeResponse, rejects, visit } from '../support/session-visit.js';

describe('Auth.js', () => {
  it('is called without arguments for a Web request', async () => {
    const calls: unknown[][] = [];
    const auth = (...parameters: unknown[]): Promise<object> => {
      calls.push(parameters);
      return Promise.resolve({ accessToken: 't' });
    };
    const response = new NodeResponse();
    await ask(authJsSession(auth), visit(new Request('https://site.example/')));
    await ask(authJsSession(auth), visit('request', response));
    expect(calls).toEqual([[], ['request', response]]);
  });

  const sessions: Readonly<Record<string, readonly [object | null, SessionToken]>> = {
    'nobody signed in': [null, { kind: 'no-session' }],
    'no session': [undefined as never, { kind: 'no-session' }],
    'an empty one': ['' as never, { kind: 'no-session' }],
    'a token alone': ['t' as never, { kind: 'token', accessToken: 't' }],
    accessToken: [{ accessToken: 't' }, { kind: 'token', accessToken: 't' }],
    'access_token and its end': [
      { access_token: 't', expires_at: 1_800_000_000 },
      { kind: 'token', accessToken: 't', expiresAt: 1_800_000_000_000 },
    ],
    'a refresh that failed': [
      { accessToken: 'old', error: 'RefreshTokenError' },
      { kind: 'expired', log: 'RefreshTokenError' },
    ],
    'a refresh that failed in next-auth 4': [
      { accessToken: 'old', error: 'RefreshAccessTokenError' },
      { kind: 'expired', log: 'RefreshAccessTokenError' },
    ],
  };
  it.each(Object.entries(sessions))('reads %s', async (_name, [session, answer]) => {
    expect(await ask(authJsSession(() => Promise.resolve(session)))).toEqual(answer);
    expect(await ask(nextAuthSession(() => Promise.resolve(session)))).toEqual(answer);
  });

  it.each([
    ['authJsSession', authJsSession],
    ['nextAuthSession', nextAuthSession],
  ] as const)('%s reads the token and the user where the site keeps them', async (_name, make) => {
    type Session = { readonly tokens: { readonly at: string; readonly sub: string } };
    const source = make(() => Promise.resolve({ tokens: { at: 't', sub: 'ada' } }), {
      accessToken: ({ tokens }: Session) => tokens.at,
      subject: ({ tokens }: Session) => tokens.sub,
    });
    expect(await ask(source)).toEqual({ kind: 'token', accessToken: 't', subject: 'ada' });
  });

  it.each([
    [
      'authJsSession',
      authJsSession,
      'the configuration of Auth.js',
      'The Auth.js session holds no access token. Add it in the "jwt" and "session" callbacks of Auth.js',
    ],
    [
      'nextAuthSession',
      nextAuthSession,
      'the options of nextAuthSession',
      'The Auth.js session holds no access token. Add it in the "jwt" callback of Auth.js',
    ],
  ] as const)('%s names where to add a missing access token or secret', async (name, make, place, where) => {
    for (const session of [{ user: { name: 'Anna' } }, { accessToken: '' }]) {
      await expect(ask(make(() => Promise.resolve(session)))).rejects.toMatchObject({
        message: expect.stringContaining(`${where}, or set "accessToken" in the options of ${name}`) as string,
        code: 'service_auth_failed',
        block: name,
        fields: ['accessToken'],
      });
    }
    for (const facts of [{ name: 'MissingSecret' }, { type: 'MissingSecret' }]) {
      await expect(ask(make(rejects(facts)))).rejects.toMatchObject({
        message: expect.stringContaining(
          `The Auth.js session cannot be opened. Set "secret" in ${place} to the secret of Auth.js`,
        ) as string,
        code: 'service_auth_failed',
        block: name,
        fields: ['secret'],
      });
    }
  });

  it.each([
    ['__Secure-authjs.session-token.0=x', {}, true],
    ['a=1; __Secure-next-auth.session-token=x', {}, true],
    ['__Secure-authjs.session-token.10=x', {}, true],
    ['authjs.session-token=x; __Secure-authjs.session-token.0.old=x', {}, undefined],
    ['__Secure-authjs.session-token=x', { secureCookie: false }, false],
    ['__Secure-authjs.session-token=x', { cookieName: 'own' }, undefined],
  ])('getToken reads a prefixed cookie when the request has it: %s with %j', async (cookie, options, secureCookie) => {
    const calls: { secureCookie?: boolean }[] = [];
    const getToken = (parameters: (typeof calls)[number]): Promise<null> => {
      calls.push(parameters);
      return Promise.resolve(null);
    };
    await ask(nextAuthSession(getToken, options), visit({}, undefined, { cookie }));
    expect(calls[0]?.secureCookie).toBe(secureCookie);
  });

  it('redacts the message of an exception', async () => {
    const failing = rejects({ name: 'JWTSessionError' });
    const failure = 'could not return the token: JWTSessionError: with [redacted] inside';
    await expect(ask(authJsSession(failing))).rejects.toThrow(`Auth.js ${failure}`);
    await expect(ask(nextAuthSession(failing))).rejects.toThrow(`Auth.js ${failure}`);
  });

  it('getToken gets parsed cookies and headers', async () => {
    const calls: { req: { headers: Headers; cookies: object } }[] = [];
    const getToken = (parameters: (typeof calls)[number]): Promise<object> => {
      calls.push(parameters);
      return Promise.resolve({ access_token: 't' });
    };
    const headers = { cookie: ['a=1; b=x=y', 'c=3'], authorization: 'Bearer x', accept: ['a', 'b'], gone: undefined };
    await ask(nextAuthSession(getToken, { secret: 's', cookieName: 'b' }), visit({}, undefined, headers));
    expect(calls[0]).toMatchObject({ secret: 's', cookieName: 'b', req: { cookies: { a: '1', b: 'x=y', c: '3' } } });
    expect(Object.fromEntries(calls[0]?.req.headers ?? [])).toEqual({
      accept: 'a, b',
      authorization: 'Bearer x',
      cookie: 'a=1; b=x=y; c=3',
    });
    expect(nextAuthSession(getToken, { cookieName: 'b' }).sessionCookies).toEqual(['b']);
  });
});
