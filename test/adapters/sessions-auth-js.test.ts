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
    accessToken: [{ accessToken: 't' }, { kind: 'token', accessToken: 't' }],
    'access_token and its end': [
      { access_token: 't', expires_at: 1_800_000_000 },
      { kind: 'token', accessToken: 't', expiresAt: 1_800_000_000_000 },
    ],
    'a refresh that failed': [
      { accessToken: 'old', error: 'RefreshTokenError' },
      { kind: 'expired', detail: 'RefreshTokenError' },
    ],
    'a refresh that failed in next-auth 4': [
      { accessToken: 'old', error: 'RefreshAccessTokenError' },
      { kind: 'expired', detail: 'RefreshAccessTokenError' },
    ],
  };
  it.each(Object.entries(sessions))('reads %s', async (_name, [session, answer]) => {
    expect(await ask(authJsSession(() => Promise.resolve(session)))).toEqual(answer);
    expect(await ask(nextAuthSession(() => Promise.resolve(session)))).toEqual(answer);
  });

  it('reads the token where the site keeps it', async () => {
    const accessToken = (session: { tokens: { at: string } }): string => session.tokens.at;
    const source = authJsSession(() => Promise.resolve({ tokens: { at: 't' } }), { accessToken });
    expect(await ask(source)).toEqual({ kind: 'token', accessToken: 't' });
  });

  it('without an access token names what to add', async () => {
    const source = authJsSession(() => Promise.resolve({ user: { name: 'Anna' } }));
    await expect(ask(source)).rejects.toThrow(
      'The Auth.js session holds no access token. Add it in the "jwt" and "session" callbacks of Auth.js',
    );
  });

  it('redacts the message of an exception', async () => {
    await expect(ask(authJsSession(rejects({ name: 'JWTSessionError' })))).rejects.toThrow(
      /^Auth.js could not return the token: JWTSessionError: with \[redacted\] inside$/,
    );
  });

  it('getToken gets parsed cookies and headers', async () => {
    const calls: { req: { headers: Headers; cookies: object } }[] = [];
    const getToken = (parameters: (typeof calls)[number]): Promise<object> => {
      calls.push(parameters);
      return Promise.resolve({ access_token: 't' });
    };
    const headers = { cookie: ['a=1; b=x=y', 'c=3'], authorization: 'Bearer x', gone: undefined };
    await ask(nextAuthSession(getToken, { secret: 's', cookieName: 'b' }), visit({}, undefined, headers));
    expect(calls[0]).toMatchObject({ secret: 's', cookieName: 'b', req: { cookies: { a: '1', b: 'x=y', c: '3' } } });
    expect(Object.fromEntries(calls[0]?.req.headers ?? [])).toEqual({
      authorization: 'Bearer x',
      cookie: 'a=1; b=x=y; c=3',
    });
    expect(nextAuthSession(getToken, { cookieName: 'b' }).sessionCookies).toEqual(['b']);
  });
});
