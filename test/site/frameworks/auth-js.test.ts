import { getToken } from '@auth/core/jwt';
import { nextAuthSession } from 'agent-bff';
import { describe, expect, it } from 'vitest';

const visit = (name: string) => ({ headers: { cookie: `${name}=x` }, native: { request: undefined } });

// For a site with Auth.js 5 and a real sign-in, see `test/e2e/sessions-page.test.ts`.
describe('getToken of Auth.js 5', () => {
  it('without its secret fails with an error that names the option to set', async () => {
    await expect(nextAuthSession(getToken).getToken(visit('authjs.session-token'), {})).rejects.toThrow(
      'Set "secret" in the options of nextAuthSession to the secret of Auth.js, such as process.env.AUTH_SECRET.',
    );
  });

  it('reads the secure cookie when the browser sent it', async () => {
    const asked: unknown[] = [];
    const source = nextAuthSession((parameters: unknown) => Promise.resolve(void asked.push(parameters)));
    for (const name of ['authjs.session-token', '__Secure-authjs.session-token.0']) {
      await source.getToken(visit(name), {});
    }
    expect(asked[0]).not.toHaveProperty('secureCookie');
    expect(asked[1]).toHaveProperty('secureCookie', true);
    expect(source.sessionCookies).toContain('__Secure-authjs.session-token');
  });
});
