import { afterAll, afterEach, beforeEach } from 'vitest';
import { startIdpA, type IdpA, type IdpAOptions } from './identity-provider-a.js';
import { startIdpB, type IdpB, type IdpBOptions } from './identity-provider-b.js';
import { publicCloudFetch, trustingFetch, type TrustingFetch } from './trusting-fetch.js';

/** Runs an Auth0-like provider, and a `fetch` that trusts it, for the tests of one file. Faults and logs are cleared before each test. */
export async function runIdpA(options?: IdpAOptions): Promise<{ idp: IdpA; trusting: TrustingFetch }> {
  const idp = await startIdpA(options);
  const trusting = trustingFetch(idp.ca);
  lasts(idp, [trusting]);
  return { idp, trusting };
}

/** The same with an Entra-like provider. `cloud` reaches it at the public cloud's address. */
export async function runIdpB(
  options?: IdpBOptions,
): Promise<{ idp: IdpB; trusting: TrustingFetch; cloud: TrustingFetch }> {
  const idp = await startIdpB(options);
  const trusting = trustingFetch(idp.ca);
  const cloud = publicCloudFetch(idp);
  lasts(idp, [trusting, cloud]);
  return { idp, trusting, cloud };
}

function lasts(idp: IdpA | IdpB, fetches: readonly TrustingFetch[]): void {
  beforeEach(() => {
    idp.tokenRequests.clear();
    idp.metadataRequests.clear();
  });
  afterEach(() => {
    delete idp.faults.token;
    delete idp.faults.metadata;
  });
  afterAll(async () => {
    for (const part of [...fetches, idp]) await part.close();
  });
}
