import type { ServerConfig, SessionToken } from 'agent-bff';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { runIdpA, runIdpB, type IdpA, type IdpB, type TrustingFetch } from '../../support/identity-provider/index.js';
import type { RecordedRequest } from '../../support/recording-upstream.js';
import { newServiceAccountKey } from '../../support/service-account.js';
import { MESSAGE } from '../../support/visitor.js';
import { bearerOf, identityFetch, startSite } from './credential-site.js';

const { idp: idpA, trusting } = await runIdpA();
const { idp: idpB, trusting: trustingB } = await runIdpB();
const { privateKey: serviceKey } = await newServiceAccountKey();

const idpAConfig = { domain: idpA.domain, clientId: idpA.client.id, clientSecret: idpA.client.secret };
const idpBConfig = { authority: `https://${idpB.host}`, clientId: idpB.client.id, clientSecret: idpB.client.secret };

interface Exchanger {
  readonly idp: IdpA | IdpB;
  readonly fetch: TrustingFetch;
  readonly config: ServerConfig;
  /** Two APIs that a user's token can be exchanged for. */
  readonly audiences: readonly [string, string];
}

const exchangers: Readonly<Record<string, Exchanger>> = {
  'on-behalf-of at idp_b': {
    idp: idpB,
    fetch: trustingB,
    audiences: [idpB.audience, idpB.otherScope.replace('/.default', '')],
    config: { idpBService: { tenantId: idpB.tenantId, ...idpBConfig, scope: idpB.scope }, onBehalfOf: {} },
  },
  'RFC 8693 at idp_a': {
    idp: idpA,
    fetch: trusting,
    audiences: [idpA.audience, idpA.otherAudience],
    config: { authProvider: 'idp_a', idpA: { ...idpAConfig, audience: idpA.audience }, onBehalfOf: {} },
  },
};

/** A site whose visitors are signed in by one of these `session` cookies. */
async function signedInSite(
  { fetch, config }: Exchanger,
  sessions: Readonly<Record<string, string>>,
  audiences: readonly string[] = ['', ''],
) {
  const ask = (request: { headers: { cookie?: string } }): SessionToken => {
    const name = /session=([^;]*)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    const accessToken = sessions[name];
    return accessToken === undefined ? { kind: 'no-session' } : { kind: 'token', accessToken };
  };
  const getSessionToken = {
    sessionCookies: ['session'],
    getToken: ({ native }: { native: { request: unknown } }) => Promise.resolve(ask(native.request as never)),
  };
  const site = await startSite(
    // Other credentials are configured too. They must never be sent with a user's request.
    {
      ...config,
      serviceApiKey: 'the-api-key',
      serviceAccount: { serviceAccountId: 'site-1', privateKeyPem: serviceKey },
    },
    { ports: identityFetch(fetch), routes: audiences.map((audience) => ({ getSessionToken, audience })) },
  );
  const as = (session: string, path = '/api/a2a') =>
    site.chat({ path, headers: { cookie: `theme=dark; session=${session}` }, body: MESSAGE.replace('m-1', session) });
  return { ...site, as };
}

/** The user the agent saw, and the user who sent the request. */
function names(request: RecordedRequest): readonly [subject: string | undefined, session: string | undefined] {
  return [decodeJwt(bearerOf(request)).sub, /"messageId":"([^"]*)"/.exec(request.body.toString())?.[1]];
}

describe.each(Object.entries(exchangers))('users whose tokens are exchanged: %s', (_title, exchanger) => {
  const { idp } = exchanger;
  const user = (name: string): Promise<string> => idp.issueUserToken(name);

  it('a thousand interleaved requests of two users each carry the token of their own user', async () => {
    const { as, agent, tokens } = await signedInSite(exchanger, { ann: await user('ann'), bert: await user('bert') });
    const order = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? 'ann' : 'bert'));
    for (let start = 0; start < order.length; start += 100) {
      const answers = await Promise.all(order.slice(start, start + 100).map((session) => as(session)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const seen = agent.requests.map(names);
    expect(seen).toHaveLength(1_000);
    expect(seen.filter(([subject, session]) => subject !== session)).toEqual([]);
    expect(tokens()).toHaveLength(2);
    expect(idp.tokenRequests.count).toBe(2);
    for (const { fields } of agent.requests) expect(fields.map(([name]) => name)).not.toContain('cookie');
  }, 30_000);

  it('a hundred concurrent requests to routes for two APIs cause one exchange per API', async () => {
    idp.faults.token = { delayMs: 100 };
    const audiences = exchanger.audiences;
    const { as, agent, tokens } = await signedInSite(exchanger, { ann: await user('ann') }, audiences);
    const paths = ['/api/a2a', '/api/a2a-2'];
    await Promise.all(Array.from({ length: 100 }, (_, index) => as('ann', paths[index % 2])));
    expect(agent.requests).toHaveLength(100);
    expect(idp.tokenRequests.count).toBe(2);
    expect(new Set(tokens().map((token) => decodeJwt(token).aud))).toEqual(new Set(audiences));
  });
});
