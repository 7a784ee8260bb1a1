import { describe, expect, it, vi } from 'vitest';
import { asSessionTokenSource } from '../../src/adapters/sessions/as-session-token-source.js';
import { authJsSession, nextAuthSession } from '../../src/adapters/sessions/auth-js.js';
import { auth0Session } from '../../src/adapters/sessions/auth0.js';
import { betterAuthSession } from '../../src/adapters/sessions/better-auth.js';
import { easyAuthSession } from '../../src/adapters/sessions/easy-auth.js';
import { expressOpenidConnectSession } from '../../src/adapters/sessions/express-openid-connect.js';
import { msalSession } from '../../src/adapters/sessions/msal-session.js';
import { sessionHint } from '../../src/adapters/sessions/session-like.js';
import {
  expressSession,
  fromFunction,
  ironSession,
  passportSession,
  type SessionTokenFunction,
} from '../../src/adapters/sessions/stored-token.js';
import type { SessionToken, SessionTokenSource } from '../../src/ports/session-token-source.js';
import { sessionTokenSourceContract } from '../contracts/session-token-source.contract.js';
import { errorOf } from '../support/error-of.js';
import { ask, rejects, visit } from '../support/session-visit.js';

const client = { getAccessToken: () => undefined };

describe('session sources of a site', () => {
  it('open iron-session with request and response and read its token', async () => {
    const opened: unknown[][] = [];
    const open = (...pair: unknown[]): Promise<object> => {
      opened.push(pair);
      return Promise.resolve({ accessToken: 'default', tokens: { at: 'own' } });
    };
    expect(await ask(ironSession(open), visit('req', 'res'))).toEqual({ kind: 'token', accessToken: 'default' });
    const own = ironSession(open, { accessToken: ({ tokens }) => tokens.at as string, sessionCookies: ['site'] });
    expect(await ask(own, visit('req', 'res'))).toEqual({ kind: 'token', accessToken: 'own' });
    expect(opened).toEqual([
      ['req', 'res'],
      ['req', 'res'],
    ]);
    expect(own.sessionCookies).toEqual(['site']);
  });

  it('read the token from the user of Passport and from express-session', async () => {
    const request = visit({ session: { accessToken: 's', tokens: { at: 'own' } }, user: { accessToken: 'u' } });
    expect(await ask(expressSession(), request)).toEqual({ kind: 'token', accessToken: 's' });
    expect(await ask(passportSession(), request)).toEqual({ kind: 'token', accessToken: 'u' });
    const own = expressSession({ accessToken: ({ tokens }) => tokens.at as string });
    expect(await ask(own, request)).toEqual({ kind: 'token', accessToken: 'own' });
    expect(await ask(expressSession(), visit({ session: {} }))).toEqual({ kind: 'no-session' });
  });

  it.each([
    ['Passport', passportSession, { user: null }],
    ['cookie-session', expressSession, { session: null }],
  ])('report no session after sign-out with %s', async (_library, source, request) => {
    expect(await ask(source(), visit(request))).toEqual({ kind: 'no-session' });
  });

  it('keep the configured cookies and whether they hold the session', () => {
    const options = { sessionCookies: ['site'], sessionInCookie: true };
    const account = { client: () => undefined as never, account: () => null, scopes: ['api'] };
    const sources: readonly (readonly [SessionTokenSource, SessionTokenSource])[] = [
      [expressSession(), expressSession(options)],
      [passportSession(), passportSession(options)],
      [
        betterAuthSession({ api: client } as never, { providerId: 'p' }),
        betterAuthSession({ api: client } as never, { providerId: 'p', ...options }),
      ],
      [msalSession(account), msalSession({ ...account, ...options })],
    ];
    for (const [usual, own] of sources) {
      expect(usual.sessionInCookie).toBeUndefined();
      expect(own).toMatchObject(options);
    }
    expect(auth0Session(client as never, { sessionInCookie: false }).sessionInCookie).toBe(false);
  });

  it('name the usual cookies of their library, and those that hold the session', () => {
    const account = { client: () => undefined as never, account: () => null, scopes: ['api'] };
    const names = ['authjs.session-token', 'next-auth.session-token'];
    const secure = names.map((name) => `__Secure-${name}`);
    const sources: readonly (readonly [SessionTokenSource, readonly string[] | undefined, true?])[] = [
      [authJsSession(() => Promise.resolve(null)), ['authjs.session-token', '__Secure-authjs.session-token'], true],
      [nextAuthSession(() => Promise.resolve(null)), [...names, ...secure], true],
      [nextAuthSession(() => Promise.resolve(null), { cookieName: 'own' }), ['own'], true],
      [auth0Session(client as never), ['__session', 'appSession'], true],
      [
        betterAuthSession({ api: client } as never, { providerId: 'p' }),
        ['better-auth.session_token', '__Secure-better-auth.session_token'],
      ],
      [expressOpenidConnectSession(), ['appSession']],
      [expressOpenidConnectSession({ sessionName: 'own' }), ['own']],
      [expressSession(), ['connect.sid']],
      [passportSession(), ['connect.sid']],
      [ironSession(() => Promise.resolve({})), undefined, true],
      [msalSession(account), ['connect.sid']],
    ];
    for (const [{ sessionCookies, sessionInCookie }, cookies, isInCookie] of sources) {
      expect([sessionCookies, sessionInCookie]).toEqual([cookies, isInCookie]);
    }
  });

  it('have the configured name, else none', () => {
    const account = { client: () => undefined as never, account: () => null, scopes: ['api'] };
    const auth = { api: { getAccessToken: rejects({}), listUserAccounts: rejects({}) } };
    const sources: readonly ((name?: string) => SessionTokenSource)[] = [
      (name) => authJsSession(() => Promise.resolve(null), { name }),
      (name) => nextAuthSession(() => Promise.resolve(null), { name }),
      (name) => auth0Session(client as never, { name }),
      (name) => betterAuthSession(auth, { providerId: 'p', name }),
      (name) => expressSession({ name }),
      (name) => passportSession({ name }),
      (name) => fromFunction(() => null, { name }),
      (name) => ironSession(() => Promise.resolve({}), { name }),
      (name) => msalSession({ ...account, name }),
    ];
    for (const source of sources) {
      expect(source('staff').name).toBe('staff');
      expect(source()).not.toHaveProperty('name');
      expect(source('')).not.toHaveProperty('name');
      expect(() => source(7 as never)).toThrow('Invalid value for "name"');
    }
    for (const source of [expressOpenidConnectSession(), easyAuthSession({ behindAppService: true })]) {
      expect(source).not.toHaveProperty('name');
    }
  });

  it("name the user by the subject of the site's own function", async () => {
    const session = { accessToken: 't', user: { id: 'row-7' } };
    const subject = (one: typeof session): string => one.user.id;
    const named = { kind: 'token', accessToken: 't', subject: 'row-7' };
    const found = [
      ask(expressSession({ subject }), visit({ session })),
      ask(passportSession({ subject }), visit({ user: session })),
      ask(
        ironSession(() => Promise.resolve(session), { subject }),
        visit({}),
      ),
      ask(authJsSession(() => Promise.resolve(session), { subject })),
      ask(nextAuthSession(() => Promise.resolve(session), { subject })),
    ];
    expect(await Promise.all(found)).toEqual([named, named, named, named, named]);
    for (const nobody of [null, undefined]) {
      const found = await ask(expressSession({ subject: () => nobody }), visit({ session }));
      expect(found).toStrictEqual({ kind: 'token', accessToken: 't' });
    }
    const odd = expressSession({ accessToken: () => ({}) as never });
    await expect(ask(odd, visit({ session }))).rejects.toMatchObject({
      code: 'internal_error',
      block: 'auth',
    });
    expect(await ask(expressSession({ subject }), visit({ session: { user: session.user } }))).toEqual({
      kind: 'no-session',
    });
  });

  it('pass on expiry and subject of a function', async () => {
    const token: SessionToken = { kind: 'token', accessToken: 't', expiresAt: 7, subject: 'iss|anna' };
    expect(await ask(fromFunction(() => token))).toEqual(token);
    expect(fromFunction(() => null, { sessionCookies: ['sid'] }).sessionCookies).toEqual(['sid']);
    expect(fromFunction(() => null)).not.toHaveProperty('sessionCookies');
  });

  it.each([null, undefined, ''])('report no session when a function returns %j', async (nothing) => {
    expect(await ask(fromFunction(() => nothing))).toEqual({ kind: 'no-session' });
  });

  it.each([{}, { accessToken: 't' }, 7, true, []])('throw when a function returns %j', async (value) => {
    const error = await errorOf(ask(fromFunction(() => value as never)));
    expect(error.logDetail()).toContain(
      `a value of type "${typeof value}" without "kind": return the token as a string`,
    );
  });
});

describe('a session source without its argument', () => {
  it.each<[string, (argument: never) => unknown, string, string]>([
    ['authJsSession', authJsSession, 'auth', '"auth" from NextAuth().'],
    ['nextAuthSession', nextAuthSession, 'getToken', '"getToken" of "next-auth/jwt".'],
    ['auth0Session', auth0Session, 'auth0', 'an Auth0Client of "@auth0/nextjs-auth0".'],
    [
      'betterAuthSession',
      (auth: never) => betterAuthSession(auth, { providerId: 'microsoft' }),
      'auth',
      'the instance of betterAuth().',
    ],
    ['fromFunction', fromFunction, 'read', 'a function.'],
    ['ironSession', ironSession, 'open', 'a function.'],
    ['msalSession', (client: never) => msalSession({ client } as never), 'client', 'a client of msal-node'],
    [
      'easyAuthSession',
      (behindAppService: never) => easyAuthSession({ behindAppService }),
      'behindAppService',
      'true, where',
    ],
  ])('is rejected before the first request: %s', (maker, make, name, words) => {
    const hint = `"${name}" of ${maker}. Set it to ${words}`;
    expect(() => make(undefined as never)).toThrow(`Missing option ${hint}`);
    for (const wrong of [{}, 'marker']) {
      expect(() => make(wrong as never)).toThrow(`Invalid value for ${hint}`);
    }
  });
});

describe('a session source of any kind', () => {
  it('is used unchanged when it is a SessionTokenSource', () => {
    const source: SessionTokenSource = { getToken: () => Promise.resolve({ kind: 'no-session' }) };
    expect(asSessionTokenSource(source)).toBe(source);
  });

  it('can be an Auth0 client', async () => {
    const client = { getAccessToken: () => Promise.resolve({ token: 't', expiresAt: 1 }) };
    expect(await ask(asSessionTokenSource(client))).toMatchObject({
      kind: 'token',
      accessToken: 't',
      expiresAt: 1_000,
    });
  });

  it('can be a function of the request and the audience', async () => {
    const source = asSessionTokenSource(
      ({ user }: { user: string }, { audience }) => `${user} for ${String(audience)}`,
    );
    expect(await ask(source, visit({ user: 'anna' }), { audience: 'a' })).toMatchObject({ accessToken: 'anna for a' });
  });

  it.each<[string, unknown]>([
    ['none', () => 't'],
    ['any number', (...parameters: { token: string }[]) => parameters[0]?.token],
    ['one with a default', ({ token } = { token: '' }) => token as string],
    ['those of a spy', vi.fn(({ token }: { token: string }) => token)],
  ])('can be a function of the site, which gets the request, with parameters: %s', async (_what, read) => {
    expect(await ask(asSessionTokenSource(read as SessionTokenFunction), visit({ token: 't' }))).toEqual({
      kind: 'token',
      accessToken: 't',
    });
  });

  it('passes on the error of a function that fails', async () => {
    const broken = asSessionTokenSource(() => Promise.reject(new Error('redis is down')));
    await expect(ask(broken)).rejects.toThrow('redis is down');
  });

  it('is one source per object, so all routes share a refresh', () => {
    const auth = (): Promise<null> => Promise.resolve(null);
    expect(asSessionTokenSource(auth)).toBe(asSessionTokenSource(auth));
    expect(asSessionTokenSource(auth)).not.toBe(asSessionTokenSource(() => null));
  });

  const wrong: Readonly<Record<string, readonly [unknown, string]>> = {
    'the module next-auth/jwt': [
      { getToken: () => {}, encode: () => {}, decode: () => {} },
      'nextAuthSession(getToken)',
    ],
    'a better-auth instance': [{ api: { getAccessToken: () => {} } }, 'betterAuthSession(auth, { providerId })'],
    'an empty object': [{}, 'an object with getToken or getAccessToken'],
    nothing: [undefined, 'an object with getToken or getAccessToken'],
    null: [null, 'an object with getToken or getAccessToken'],
    'a text': ['token', 'an object with getToken or getAccessToken'],
  };
  it.each(Object.entries(wrong))('is rejected with advice when it is %s', (_name, [like, text]) => {
    expect(sessionHint(like, {})).toContain(text);
  });
});

sessionTokenSourceContract('expressSession', () => ({
  source: expressSession(),
  signedIn: visit({ session: { accessToken: 'of-anna' } }),
  accessToken: 'of-anna',
  signedOut: visit({ session: {} }),
}));
