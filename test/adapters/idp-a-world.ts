import { IdpAProvider, type IdpAProviderOptions } from '../../src/adapters/idp-a/idp-a.js';
import { secret } from '../../src/domain/shared/secret.js';
import { runIdpA } from '../support/identity-provider/index.js';

/** A running double, and adapters that get tokens there unless a test changes their settings. */
export async function startIdpAWorld() {
  const { idp, trusting } = await runIdpA();
  /** What all adapters of idp_a are told. */
  const settings = {
    domain: idp.domain,
    clientId: idp.client.id,
    clientSecret: secret(idp.client.secret),
    audience: idp.audience,
    scope: '',
    timeoutMs: 5000,
    fetch: trusting.fetch,
  };
  const provider = (change: Partial<IdpAProviderOptions> = {}): IdpAProvider =>
    new IdpAProvider({
      ...settings,
      grant: 'password',
      realm: '',
      username: idp.user.username,
      password: secret(idp.user.password),
      ...change,
    });
  return { idp, settings, provider };
}
