import { randomBytes } from 'node:crypto';
import type { ServerConfig, ToolkitPorts } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { decodeJwt } from 'jose';
import { Keyv } from 'keyv';
import { afterAll, describe, expect, it } from 'vitest';
import {
  makeClientCertificate,
  removeClientCertificates,
  runIdpA,
  runIdpB,
} from '../../support/identity-provider/index.js';
import { newServiceAccountKey } from '../../support/service-account.js';
import { applicationSecret, identityFetch, passwordGrant, startSite } from './credential-site.js';

const certificate = makeClientCertificate();
const { idp: idpA, trusting } = await runIdpA();
const { idp: idpB, cloud } = await runIdpB({ certificates: [certificate.certificatePem] });
const { privateKey: privateKeyPem } = await newServiceAccountKey();
afterAll(removeClientCertificates);

interface Strategy {
  /** What decides whom the token is for. */
  readonly config: (other: boolean) => ServerConfig;
  readonly ports: () => ToolkitPorts;
  readonly asked: () => number;
}

const atIdpA = { ports: () => identityFetch(trusting), asked: () => idpA.tokenRequests.count };
const atIdpB = { ports: () => identityFetch(cloud), asked: () => idpB.tokenRequests.count };
const audienceAtIdpA = (other: boolean) => ({ audience: other ? idpA.otherAudience : idpA.audience });
const scopeAtIdpB = (other: boolean) => ({ scope: other ? idpB.otherScope : idpB.scope });

const strategies: Readonly<Record<string, Strategy>> = {
  'the password grant': {
    ...atIdpA,
    config: (other) => {
      const config = passwordGrant(idpA);
      return { ...config, idpA: { ...config.idpA, ...audienceAtIdpA(other) } };
    },
  },
  'client credentials at idp_a': {
    ...atIdpA,
    config: (other) => ({
      serviceAuthStrategy: 'client_credentials',
      authProvider: 'idp_a',
      idpA: {
        domain: idpA.domain,
        clientId: idpA.machineClient.id,
        clientSecret: idpA.machineClient.secret,
        ...audienceAtIdpA(other),
      },
    }),
  },
  'client credentials at idp_b with a secret': {
    ...atIdpB,
    config: (other) => {
      const config = applicationSecret(idpB);
      return { ...config, idpBService: { ...config.idpBService, ...scopeAtIdpB(other) } };
    },
  },
  'client credentials at idp_b with a certificate': {
    ...atIdpB,
    config: (other) => ({
      authProvider: 'idp_b',
      idpBService: {
        tenantId: idpB.tenantId,
        clientId: idpB.client.id,
        certificatePath: certificate.certificatePath,
        privateKeyPath: certificate.privateKeyPath,
        ...scopeAtIdpB(other),
      },
    }),
  },
};

/** A thousand callers of one turn: some of them visitors over sockets, most of them calls of the site's own. */
async function rush(
  site: Awaited<ReturnType<typeof startSite>>,
): Promise<{ statuses: Set<number>; headers: string[] }> {
  const own = Array.from({ length: 750 }, () => site.toolkit.authHeaders());
  const visitors = Array.from({ length: 250 }, () => site.chat());
  const headers = (await Promise.all(own)).map(({ authorization = '' }) => authorization);
  const statuses = new Set((await Promise.all(visitors)).map(({ status }) => status));
  return { statuses, headers: [...new Set(headers)] };
}

describe('a thousand callers of a site that has no token yet', { timeout: 30_000 }, () => {
  it.each(Object.entries(strategies))('cost one token request by %s', async (_name, { config, ports, asked }) => {
    for (const idp of [idpA, idpB]) idp.faults.token = { delayMs: 300 };
    const site = await startSite(config(false), { ports: ports() });
    const { statuses, headers } = await rush(site);

    expect(statuses).toEqual(new Set([200]));
    expect(asked()).toBe(1);
    expect(headers).toEqual(site.tokens().map((token) => `Bearer ${token}`));
    expect(headers).toHaveLength(1);
  });

  it.each(Object.entries(strategies))(
    'for two APIs cost exactly two token requests by %s, also when both sites share a store',
    async (_name, { config, ports, asked }) => {
      for (const idp of [idpA, idpB]) idp.faults.token = { delayMs: 100 };
      const shared = { cacheStore: new Keyv(), cacheKeys: [randomBytes(32).toString('hex')] };
      const sites = await Promise.all(
        [false, true].map((other) => startSite({ ...config(other), ...shared }, { ports: ports() })),
      );
      const rushes = await Promise.all(
        sites.map((site) => Promise.all(Array.from({ length: 500 }, () => site.toolkit.authHeaders()))),
      );

      expect(asked()).toBe(2);
      const audiences = rushes.map((headers) => [
        ...new Set(headers.map(({ authorization = '' }) => decodeJwt(authorization.replace('Bearer ', '')).aud)),
      ]);
      expect(audiences.map((list) => list.length)).toEqual([1, 1]);
      expect(audiences[0]).not.toEqual(audiences[1]);
    },
  );

  it('cost one signature by a service account, and one more for another API', async () => {
    const serviceAccount = { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem };
    const site = await startSite({ serviceAccount });
    const { statuses, headers } = await rush(site);
    expect(statuses).toEqual(new Set([200]));
    expect(headers).toHaveLength(1);
    expect(site.telemetry.of('token')).toMatchObject([{ outcome: 'acquired', block: 'serviceAccount' }]);

    const other = await startSite({ serviceAccount: { ...serviceAccount, audience: 'https://billing.example/api' } });
    const calls = await Promise.all(Array.from({ length: 1_000 }, () => other.toolkit.authHeaders()));
    const found = new Set(calls.map(({ authorization }) => authorization));
    expect(found.size).toBe(1);
    expect(headers).not.toContain([...found][0]);
    expect(other.telemetry.of('token')).toHaveLength(1);
  });

  it('cost one call of a provider the site brought itself', async () => {
    const provider = new FakeIdentityProvider('okta');
    const site = await startSite({ serviceAuthStrategy: 'okta' }, { ports: { identityProviders: { okta: provider } } });
    const { statuses, headers } = await rush(site);
    expect(statuses).toEqual(new Set([200]));
    expect(provider.issued).toBe(1);
    expect(headers).toEqual(['Bearer okta-token-1']);
  });
});
