import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../examples/start-demo.js';
import { DemoVisitor } from '../support/demo-visitor.js';

let demo: Demo;

beforeAll(async () => {
  demo = await startDemo({ port: 0, wordMs: 0 });
});
afterAll(() => demo.close());

const someone = (): DemoVisitor => new DemoVisitor(demo.url);

/** Follows redirects from `/auth/login` until one points back to the site. Returns that address without opening it. */
async function callbackOf({ browser }: DemoVisitor, user: string): Promise<string> {
  let at = `${demo.url}/auth/login?user=${user}`;
  while (!at.startsWith(`${demo.url}/auth/callback`)) {
    const response = await browser.send(at);
    await response.body?.cancel();
    at = new URL(response.headers.get('location') ?? '', at).href;
  }
  return at;
}

describe('signing in to the demo', () => {
  it('shows a page with one button for each user, without a script', async () => {
    const visitor = someone();
    const question = await visitor.browser.open(`${demo.url}/auth/login`);
    expect(question.url.startsWith(`${demo.login.issuer}/interaction/`)).toBe(true);
    expect(question.page).toContain('Ada Lovelace');
    expect(question.page).not.toContain('<script');
    await visitor.browser.submit(question, { person: 'grace' });
    expect(await visitor.name()).toBe('Grace Hopper');
  });

  it('shows the page again for an unknown user', async () => {
    const visitor = someone();
    const question = await visitor.browser.open(`${demo.url}/auth/login?user=nobody`);
    const again = await visitor.browser.submit(question, { person: 'nobody' });
    expect(again.page).toContain('Who are you?');
    expect(await visitor.name()).toBeNull();
  });

  it('replaces the signed-in user when another one signs in', async () => {
    const visitor = await (await someone().signIn('ada')).signIn('grace');
    expect(await visitor.name()).toBe('Grace Hopper');
  });

  it('uses PKCE, and the provider rejects requests without it', async () => {
    const visitor = someone();
    const response = await visitor.send('GET', '/auth/login?user=ada');
    const address = new URL(response.headers.get('location') ?? '');
    expect(address.searchParams.get('code_challenge_method')).toBe('S256');
    address.searchParams.delete('code_challenge_method');
    address.searchParams.delete('code_challenge');
    const refused = await visitor.browser.send(address.href);
    expect(refused.headers.get('location')).toContain('error=invalid_request');
  });

  it('rejects the callback of another browser with 400', async () => {
    const ada = someone();
    const callback = await callbackOf(ada, 'ada');
    const victim = someone();
    await victim.send('GET', '/auth/login');
    expect((await victim.browser.send(callback)).status).toBe(400);
    expect((await someone().browser.send(callback)).status).toBe(400);
    expect(await victim.name()).toBeNull();
    // The code is still valid for the browser it was issued to.
    expect((await ada.browser.send(callback)).status).toBe(302);
    expect(await ada.name()).toBe('Ada Lovelace');
  });

  it('sets only a cookie with a new session id', async () => {
    const visitor = someone();
    const before = (await visitor.send('GET', '/auth/login?user=ada')).headers.getSetCookie();
    const after = (await visitor.browser.send(await callbackOf(visitor, 'ada'))).headers.getSetCookie();
    expect(after).toHaveLength(1);
    expect(after[0]).toMatch(/^demo-site\.sid=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    expect(after[0]?.split(';')[0]).not.toBe(before[0]?.split(';')[0]);
    expect(after[0]).not.toMatch(/eyJ[\w-]*\.eyJ/);
  });

  it('lasts until the user signs out, by a form or a script', async () => {
    const ada = await someone().signIn('ada');
    const byScript = await ada.send('POST', '/auth/logout');
    expect([byScript.status, await ada.name()]).toEqual([204, null]);
    expect((await ada.send('GET', '/api/service/conversations')).status).toBe(401);

    await ada.signIn('ada');
    const byForm = await ada.browser.send(`${demo.url}/auth/logout`, {
      method: 'POST',
      headers: { accept: 'text/html,*/*;q=0.8' },
    });
    expect([byForm.status, byForm.headers.get('location'), await ada.name()]).toEqual([303, '/', null]);
  });
});

describe('the platform of the demo', () => {
  it('responds 401 without a token for its own audience', async () => {
    const call = (authorization?: string): Promise<Response> =>
      fetch(`${demo.platform.serviceApiUrl}/conversations`, { headers: authorization ? { authorization } : {} });
    const forged = [{ alg: 'none' }, { iss: demo.login.issuer, sub: 'ada' }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const answers = await Promise.all([call(), call('Bearer no-jwt'), call(`Bearer ${forged}.`)]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });
});
