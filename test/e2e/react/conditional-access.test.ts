import { expect, it } from 'vitest';
import { type ComponentPage, describeInBrowsers } from '../../support/component-browser.js';
import { runIdpB } from '../../support/identity-provider/index.js';
import { identityFetch, startSite } from '../credentials/credential-site.js';

const { idp, trusting } = await runIdpB();

/** The policies that a sign-in with these claims meets, as the directory puts them into its tokens. */
function metBy(claims: string): Record<string, unknown> {
  const requested = JSON.parse(claims || '{}') as { access_token?: { capolids?: { values?: readonly string[] } } };
  return { capolids: requested.access_token?.capolids?.values?.[0] };
}

/** A site whose user must use a second factor for the platform, and the chat in its page. */
async function secondFactorSite() {
  let session = await idp.issueUserToken('second-factor');
  const site = await startSite(
    {
      idpBService: {
        tenantId: idp.tenantId,
        authority: `https://${idp.host}`,
        clientId: idp.client.id,
        clientSecret: idp.client.secret,
        scope: idp.scope,
      },
      onBehalfOf: {},
    },
    { ports: identityFetch(trusting), routes: [{ auth: () => session }] },
  );
  const signIn = async (claims: string): Promise<void> => {
    session = await idp.issueUserToken('second-factor', { claims: metBy(claims) });
  };
  return { site, signIn };
}

describeInBrowsers('a user who needs a second factor for the platform', {}, (browser) => {
  it.each([
    ['reaches the agent after a sign-in with the requested claims', true],
    ['is asked again after a sign-in without them', false],
  ])('%s', async (_what, passesClaims) => {
    const { site, signIn } = await secondFactorSite();
    const visit = await browser.visit();
    await visit.page.route('**/api/a2a', async (route) => {
      const { status, body } = await site.chat({ body: route.request().postData() ?? '' });
      await route.fulfill({ status, body, contentType: 'application/json' });
    });
    await visit.page.route('**/login?*', async (route) => {
      await signIn(new URL(route.request().url()).searchParams.get('claims') ?? '');
      await route.fulfill({ status: 204 });
    });
    await visit.page.evaluate(
      (passes) =>
        (globalThis as unknown as ComponentPage).show('A2AChat', {
          onSignIn: (_message: unknown, { claims = '' }: { claims?: string }) =>
            fetch(`/login?${String(new URLSearchParams({ claims: passes ? claims : '' }))}`),
        }),
      passesClaims,
    );
    await visit.page.getByRole('textbox').fill('Hello');
    await visit.page.keyboard.press('Enter');
    const button = visit.page.getByRole('button', { name: 'Sign in' });
    await button.waitFor();
    const asked = idp.tokenRequests.count;
    await button.click();
    await expect.poll(() => idp.tokenRequests.count).toBe(asked + 1);
    if (passesClaims) await expect.poll(() => site.agent.requests.length).toBe(1);
    else await button.waitFor();
    await expect.poll(() => button.count()).toBe(passesClaims ? 0 : 1);
    expect(site.agent.requests.length).toBe(passesClaims ? 1 : 0);
  });
});
