import { describe, expect, it } from 'vitest';
import { auth0Session } from '../../src/adapters/sessions/auth0.js';
import type { SessionToken } from '../../src/ports/session-token-source.js';
import { ask, jwt, NodeResponse, rejects, visit } from '../support/session-visit.js';

describe('Auth0 (nextjs-auth0)', () => {
  it.each([{ name: 'bad eyJhbGciOi.secret' }, { code: 'eyJhbGciOi secret' }, 'secret', null])(
    'hides what a library put into the name or code of its error (%j)',
    async (error) => {
      const rejecting = (): Promise<never> => Promise.reject(Object(error) as Error);
      const asking = ask(auth0Session({ getAccessToken: rejecting }));
      await expect(asking).rejects.toThrow(/^@auth0\/nextjs-auth0 could not return the token: (unknown error|String)$/);
    },
  );

  const END = 1_800_000_000;
  const client = (token: string, calls: unknown[][] = []) => ({
    getAccessToken: (...parameters: unknown[]) => {
      calls.push(parameters);
      (parameters[1] as NodeResponse | undefined)?.appendHeader('set-cookie', '__session=new');
      return Promise.resolve({ token, expiresAt: END });
    },
  });

  it('returns token, end, user and organization', async () => {
    const token = jwt({ iss: 'https://t.auth0.com/', sub: 'auth0|1', org_id: 'org_1' });
    expect(await ask(auth0Session(client(token)))).toEqual({
      kind: 'token',
      accessToken: token,
      expiresAt: END * 1_000,
      issuer: 'https://t.auth0.com/',
      subject: 'auth0|1',
      tenant: 'org_1',
    });
  });

  it('returns the organization of each token', async () => {
    const organizations = ['org_1', 'org_2', undefined];
    const switching = {
      getAccessToken: () =>
        Promise.resolve({ token: jwt({ iss: 'i', sub: 's', org_id: organizations.shift() }), expiresAt: END }),
    };
    const source = auth0Session(switching);
    expect(await ask(source)).toMatchObject({ tenant: 'org_1' });
    expect(await ask(source)).toMatchObject({ tenant: 'org_2' });
    expect(await ask(source)).not.toHaveProperty('tenant');
  });

  it.each([
    'opaque',
    'a.b.c',
    jwt({ sub: 'x' }),
    jwt([]),
    `e30.${Buffer.from('null').toString('base64url')}.x`,
    jwt({ iss: ['https://t'], sub: 'x' }),
    jwt({ iss: 'https://t', sub: { id: 1 } }),
    jwt({ iss: 'https://t', sub: 1 }),
    jwt({ iss: 'https://t', sub: '' }),
    jwt({ iss: '', sub: 'x' }),
  ])('returns no user for the token %s', async (token) => {
    const found = await ask(auth0Session(client(token)));
    expect(found).not.toHaveProperty('subject');
    expect(found).not.toHaveProperty('issuer');
  });

  it('is called without a request in the App Router and with both objects in the Pages Router', async () => {
    const calls: unknown[][] = [];
    const source = auth0Session(client('t', calls));
    const [request, response] = [{ headers: {} }, new NodeResponse()];
    await ask(source, visit(new Request('https://site.example/')), { audience: 'a', scope: 's', forceRefresh: true });
    await ask(source, visit(request, response), {});
    await ask(source, visit(new Request('https://site.example/x'), response, { cookie: 'a=1' }), {});
    await ask(source, visit(request, null), {});
    expect(calls).toEqual([
      [{ audience: 'a', scope: 's', refresh: true }],
      [request, response, {}],
      [{ headers: { cookie: 'a=1' }, url: 'https://site.example/x' }, response, {}],
      [{}],
    ]);
    expect(calls[1]?.[0]).toBe(request);
  });

  it('copies a refreshed cookie, and none that the site wrote before, to requests that share the token', async () => {
    const first = new NodeResponse();
    first.cookies.push('theme=dark');
    const found = await ask(auth0Session(client('t')), visit({}, first));
    const [other, late] = [new NodeResponse(), new NodeResponse()];
    late.headersSent = true;
    if (found.kind === 'token') for (const response of [other, late]) found.adopt?.(visit({}, response));
    expect([other.cookies, late.cookies]).toEqual([['__session=new'], []]);
  });

  const answers: Readonly<Record<string, readonly [object, SessionToken]>> = {
    'no session': [{ code: 'missing_session' }, { kind: 'no-session' }],
    'no refresh token': [{ code: 'missing_refresh_token' }, { kind: 'expired', log: 'missing_refresh_token' }],
    'the end of the session': [{ code: 'session_expired' }, { kind: 'expired', log: 'session_expired' }],
    'a second factor': [{ code: 'mfa_required' }, { kind: 'expired', reason: 'interaction', log: 'mfa_required' }],
    'a refused refresh token': [
      { code: 'failed_to_refresh_token', cause: { code: 'invalid_grant' } },
      { kind: 'expired', reason: 'expired', log: 'the refresh failed: invalid_grant' },
    ],
  };
  it.each(Object.entries(answers))('reports %s', async (_name, [facts, answer]) => {
    expect(await ask(auth0Session({ getAccessToken: rejects(facts) }))).toEqual(answer);
  });

  it.each([
    { name: 'AccessTokenError', code: 'failed_to_refresh_token', cause: { code: 'unknown_error' } },
    { name: 'AccessTokenError', code: 'failed_to_refresh_token', cause: { code: 'invalid_client' } },
    { name: 'AccessTokenError', code: 'failed_to_refresh_token' },
    { name: 'AccessTokenError', code: 'other', cause: { code: 'invalid_grant' } },
    { name: 'DiscoveryError', code: 'discovery_error' },
    { name: 'TypeError', code: 'invalid_grant' },
  ])('throws with name, code and the redacted message of the library when the provider fails (%j)', async (facts) => {
    const asking = ask(auth0Session({ getAccessToken: rejects(facts) }));
    await expect(asking).rejects.toThrow(
      `@auth0/nextjs-auth0 could not return the token: ${facts.name} ${facts.code}: with [redacted] inside`,
    );
    await asking.catch((error: Error) =>
      expect([error.message.includes('secret'), error.cause]).toEqual([false, undefined]),
    );
  });

  it('redacts what may be a token in the message, also one of no known form', async () => {
    const message = 'refresh token rt_9fK2mQpLxV7dZ and vGhJkQwErTyUiOpA refused, see troubleshooting-guide';
    const failing = auth0Session({ getAccessToken: () => Promise.reject(new Error(message)) });
    await expect(ask(failing)).rejects.toThrow(
      '@auth0/nextjs-auth0 could not return the token: Error: refresh token [redacted] and [redacted] refused, see troubleshooting-guide',
    );
    const long = auth0Session({ getAccessToken: () => Promise.reject(new Error('no '.repeat(100))) });
    await expect(ask(long)).rejects.toThrow(/^.* token: Error: (?:no ){66}no$/);
  });
});
