import { describe, expect, it } from 'vitest';
import { type BetterAuthOptions, betterAuthSession } from '../../src/adapters/sessions/better-auth.js';
import type { SessionTokenSource } from '../../src/ports/session-token-source.js';
import { ask, jwt, NodeResponse, rejects, visit } from '../support/session-visit.js';

describe('better-auth 1.7', () => {
  const end = new Date('2027-01-01');
  /** The library's list: `id` is the row of an account, `accountId` the user's name at the provider. */
  const ACCOUNTS = [
    { id: 'row-1', providerId: 'credential', accountId: 'user-1', userId: 'user-1', scopes: [] },
    { id: 'row-2', providerId: 'microsoft', accountId: 'oid', userId: 'user-1', scopes: [] },
  ];
  /** Checks arguments as strictly as the library does. */
  const strictly = async ({ body }: { body: object }): Promise<void> => {
    const [name = ''] = Object.keys(body);
    if (Object.keys(body).length === 1 && ['accountId', 'useAccountCookie'].includes(name)) return;
    await rejects({ name: 'APIError', statusCode: 400, body: { code: 'VALIDATION_ERROR' } })();
  };
  const answers = (response: object, cookies: readonly string[] = []) => ({
    api: {
      listUserAccounts: () => Promise.resolve(ACCOUNTS),
      getAccessToken: async (context: { body: object }) => {
        await strictly(context);
        return { response, headers: new Headers(cookies.map((cookie): [string, string] => ['set-cookie', cookie])) };
      },
    },
  });
  const refuses = (facts: object) => ({
    api: { listUserAccounts: () => Promise.resolve(ACCOUNTS), getAccessToken: rejects(facts) },
  });
  const source = (auth: Parameters<typeof betterAuthSession>[0], options: BetterAuthOptions = {}): SessionTokenSource =>
    betterAuthSession(auth, { providerId: 'microsoft', ...options });

  it('returns token, end, user and tenant of the linked account', async () => {
    const idToken = jwt({ iss: 'https://login.example', sub: 's', tid: 't' });
    const auth = answers({ accessToken: 't', accessTokenExpiresAt: end, scopes: [], idToken });
    expect(await ask(source(auth))).toEqual({
      kind: 'token',
      accessToken: 't',
      expiresAt: end.getTime(),
      issuer: 'https://login.example',
      subject: 's',
      tenant: 't',
    });
  });

  it('returns no user without an ID token', async () => {
    expect(await ask(source(answers({ accessToken: 't', idToken: undefined })))).toEqual({
      kind: 'token',
      accessToken: 't',
    });
  });

  it('is called with the visitor’s headers for the account of the provider', async () => {
    const asked: { body?: object; headers: Headers; returnHeaders?: boolean }[] = [];
    const api = {
      listUserAccounts: (context: (typeof asked)[number]): Promise<object> => {
        asked.push(context);
        return Promise.resolve(ACCOUNTS);
      },
      getAccessToken: (context: (typeof asked)[number]): Promise<object> => {
        asked.push(context);
        return Promise.resolve({ response: { accessToken: 't' }, headers: null });
      },
    };
    await ask(source({ api }), visit({}, undefined, { cookie: 'better-auth.session_token=anna' }));
    expect(asked.map(({ headers }) => headers.get('cookie'))).toEqual([
      'better-auth.session_token=anna',
      'better-auth.session_token=anna',
    ]);
    expect(asked[1]).toMatchObject({ body: { accountId: 'row-2' }, returnHeaders: true });
  });

  it('of version 1.6 is called with the provider, and again without trying the row first', async () => {
    const bodies: object[] = [];
    const getAccessToken = async ({ body }: { body: object }): Promise<object> => {
      bodies.push(body);
      if (!('providerId' in body))
        await rejects({ name: 'APIError', statusCode: 400, body: { code: 'VALIDATION_ERROR' } })();
      return { response: { accessToken: 't' }, headers: null };
    };
    const old = source({ api: { listUserAccounts: () => Promise.resolve(ACCOUNTS), getAccessToken } });
    for (const _time of [1, 2]) expect(await ask(old)).toMatchObject({ kind: 'token', accessToken: 't' });
    const byProvider = { providerId: 'microsoft', accountId: 'oid' };
    expect(bodies).toEqual([{ accountId: 'row-2' }, byProvider, byProvider]);
  });

  it('that fails for another reason is not called again', async () => {
    let calls = 0;
    const getAccessToken = (): Promise<never> => {
      calls += 1;
      return rejects({ statusCode: 500, name: 'APIError' })();
    };
    const failing = source({ api: { listUserAccounts: () => Promise.resolve(ACCOUNTS), getAccessToken } });
    await expect(ask(failing)).rejects.toThrow('better-auth could not return the token: APIError: with [redacted]');
    expect(calls).toBe(1);
  });

  it('reads the account cookie without a database', async () => {
    const noDatabase = { ...answers({ accessToken: 't' }).api, listUserAccounts: rejects({}) };
    const found = ask(betterAuthSession({ api: noDatabase }, { useAccountCookie: true }));
    expect(await found).toMatchObject({ kind: 'token', accessToken: 't' });
  });

  it.each([{}, { providerId: '' }, { useAccountCookie: false }, { providerId: 'microsoft', useAccountCookie: true }])(
    'requires either a provider or the cookie: %j',
    (options) => {
      expect(() => betterAuthSession(answers({}), options)).toThrow('"providerId"');
    },
  );

  it('writes its cookies to every response that shares the token', async () => {
    const [first, other] = [new NodeResponse(), new NodeResponse()];
    const found = await ask(source(answers({ accessToken: 't' }, ['account=new'])), visit({}, first));
    if (found.kind === 'token') found.adopt?.(visit({}, other));
    expect([first.cookies, other.cookies]).toEqual([['account=new'], ['account=new']]);
  });

  const refusals: Readonly<Record<string, readonly [object, object]>> = {
    'nobody signed in': [{ statusCode: 401 }, { kind: 'no-session' }],
    'a refresh that failed': [
      { statusCode: 400, body: { code: 'FAILED_TO_GET_ACCESS_TOKEN' } },
      { kind: 'expired', log: 'FAILED_TO_GET_ACCESS_TOKEN' },
    ],
    'an account that is gone': [
      { statusCode: 400, body: { code: 'ACCOUNT_NOT_FOUND' } },
      { kind: 'expired', reason: 'interaction', log: 'ACCOUNT_NOT_FOUND' },
    ],
  };
  it.each(Object.entries(refusals))('reports %s', async (_name, [facts, answer]) => {
    expect(await ask(source(refuses(facts)))).toMatchObject(answer);
  });

  it('asks the user to link a missing account', async () => {
    const found = ask(betterAuthSession(answers({ accessToken: 't' }), { providerId: 'github' }));
    expect(await found).toEqual({ kind: 'expired', reason: 'interaction', log: 'ACCOUNT_NOT_FOUND' });
  });

  it('throws for other errors, and an account without a token is expired', async () => {
    const asking = ask(
      source(refuses({ name: 'APIError', statusCode: 400, body: { code: 'PROVIDER_NOT_SUPPORTED' } })),
    );
    await expect(asking).rejects.toThrow(
      'better-auth could not return the token: APIError PROVIDER_NOT_SUPPORTED: with [redacted] inside',
    );
    const detail = 'the linked account has no access token';
    expect(await ask(source(answers({ accessToken: '' })))).toEqual({ kind: 'expired', log: detail });
  });
});
