import { describe, expect, it } from 'vitest';
import { betterAuthSession } from '../../src/adapters/sessions/better-auth.js';
import type { SessionTokenSource } from '../../src/ports/session-token-source.js';
import { ask, NodeResponse, rejects, visit } from '../support/session-visit.js';

describe('better-auth', () => {
  const end = new Date('2027-01-01');
  const answers = (response: object, cookies: readonly string[] = []) => ({
    api: {
      getAccessToken: () =>
        Promise.resolve({
          response,
          headers: new Headers(cookies.map((cookie): [string, string] => ['set-cookie', cookie])),
        }),
    },
  });
  const refuses = (facts: object) => ({ api: { getAccessToken: rejects(facts) } });
  const source = (auth: Parameters<typeof betterAuthSession>[0]): SessionTokenSource =>
    betterAuthSession(auth, { providerId: 'microsoft' });

  it('gives the token of the linked account and its end', async () => {
    const auth = answers({ accessToken: 't', accessTokenExpiresAt: end, scopes: [] });
    expect(await ask(source(auth))).toEqual({ kind: 'token', accessToken: 't', expiresAt: end.getTime() });
  });

  it('is asked with the visitor’s headers, as the visitor and nobody else', async () => {
    const asked: { body: object; headers: Headers; returnHeaders?: boolean }[] = [];
    const getAccessToken = (context: (typeof asked)[number]): Promise<object> => {
      asked.push(context);
      return Promise.resolve({ response: { accessToken: 't' }, headers: null });
    };
    await ask(source({ api: { getAccessToken } }), visit({}, undefined, { cookie: 'better-auth.session_token=anna' }));
    expect(asked[0]).toMatchObject({ body: { providerId: 'microsoft' }, returnHeaders: true });
    expect(asked[0]?.headers.get('cookie')).toBe('better-auth.session_token=anna');
  });

  it('has its cookies written on the response, and on those of the requests that share the token', async () => {
    const [first, other] = [new NodeResponse(), new NodeResponse()];
    const found = await ask(source(answers({ accessToken: 't' }, ['account=new'])), visit({}, first));
    if (found.kind === 'token') found.adopt?.(visit({}, other));
    expect([first.cookies, other.cookies]).toEqual([['account=new'], ['account=new']]);
  });

  const refusals: Readonly<Record<string, readonly [object, object]>> = {
    'nobody signed in': [{ statusCode: 401 }, { kind: 'no-session' }],
    'a refresh that failed': [{ statusCode: 400, body: { code: 'FAILED_TO_GET_ACCESS_TOKEN' } }, { kind: 'expired' }],
    'no account with this provider': [
      { statusCode: 400, body: { code: 'ACCOUNT_NOT_FOUND' } },
      { kind: 'expired', reason: 'interaction' },
    ],
  };
  it.each(Object.entries(refusals))('tells %s from a breakage', async (_name, [facts, answer]) => {
    expect(await ask(source(refuses(facts)))).toMatchObject(answer);
  });

  it('throws for everything else, and an account without a token is expired', async () => {
    const asking = ask(
      source(refuses({ name: 'APIError', statusCode: 400, body: { code: 'PROVIDER_NOT_SUPPORTED' } })),
    );
    await expect(asking).rejects.toThrow('better-auth could not give the token: APIError');
    expect(await ask(source(answers({ accessToken: '' })))).toMatchObject({ kind: 'expired' });
  });
});
