import type { IdpBOptions } from '../../adapters/idp-b/idp-b.js';
import { CertificateFile } from '../../adapters/keys/certificate.js';
import { privateKeySource } from '../../adapters/keys/private-key.js';
import type { Clock } from '../../ports/clock.js';
import type { IdentityProvider } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { TokenExchange } from '../../ports/token-exchange.js';
import type { ResolvedConfig, ResolvedIdpB } from '../config/resolve-config.js';
import { FLOWS, type ProviderName } from '../config/provider-flows.js';

/** What identity providers are made with, besides their configuration block. */
export interface Identities {
  readonly fetch: typeof fetch | undefined;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Tells two credentials apart; the same in all processes that share a cache. */
  readonly fingerprintKey: Uint8Array;
}

/** An identity provider of this package. Its library is loaded when a flow of it is first asked for. */
export interface BuiltInProvider {
  /** The block and the fields to check when the platform does not take its tokens. */
  readonly block: string;
  readonly fields: readonly string[];
  readonly load: (flow: string, config: ResolvedConfig, identities: Identities) => Promise<IdentityProvider>;
  /** Exchanges users' tokens; absent where the provider cannot. */
  readonly exchange?: (config: ResolvedConfig, identities: Identities) => Promise<TokenExchange>;
}

/** All of them; a new one is its adapter's folder, its row of `FLOWS` and its entry here. */
export const PROVIDERS: Readonly<Record<ProviderName, BuiltInProvider>> = {
  service_account: {
    block: 'serviceAccount',
    fields: ['serviceAccountId', 'keyId', 'audience'],
    load: async (_flow, { serviceAccount }, { telemetry, clock }) => {
      const { ServiceAccountProvider } = await import('../../adapters/service-account/service-account-provider.js');
      if (serviceAccount.privateKeyPem !== undefined && serviceAccount.privateKeyPath !== '') {
        const detail = 'serviceAccount has both privateKeyPem and privateKeyPath; the file is not read';
        telemetry.emit({ type: 'warning', code: 'second_key_unused', detail });
      }
      const { serviceAccountId, keyId, audience, subject, issuer, claims } = serviceAccount;
      const key = privateKeySource(serviceAccount, 'serviceAccount', clock);
      return new ServiceAccountProvider({ serviceAccountId, keyId, audience, subject, issuer, claims, key });
    },
  },
  idp_a: {
    block: 'idpA',
    fields: ['audience', 'scope'],
    load: async (flow, config, identities) => {
      const { IdpAProvider } = await import('../../adapters/idp-a/idp-a.js');
      const grant = flow === 'idp_a.password' ? 'password' : 'client_credentials';
      return new IdpAProvider({ ...config.idpA, grant, ...ofIdpA(config, identities) });
    },
    exchange: async (config, identities) => {
      const { IdpATokenExchange } = await import('../../adapters/idp-a/idp-a.js');
      const { domain, clientId, clientSecret } = config.idpA;
      const application = { domain, clientId, clientSecret };
      const { own, idpA } = config.onBehalfOf;
      return new IdpATokenExchange({ ...application, ...idpA, own, ...ofIdpA(config, identities) });
    },
  },
  idp_b: {
    block: 'idpBService',
    fields: ['clientId', 'scope'],
    load: async (_flow, config, identities) => {
      const { IdpBProvider } = await import('../../adapters/idp-b/idp-b.js');
      return new IdpBProvider(ofIdpB(config.idpB, config, identities));
    },
    exchange: async (config, identities) => {
      const { IdpBTokenExchange } = await import('../../adapters/idp-b/idp-b.js');
      return new IdpBTokenExchange(ofIdpB(config.onBehalfOf.idpB, config, identities, config.onBehalfOf.own));
    },
  },
};

/** The provider that has a flow; undefined for a flow of the site's own. */
export function providerOf(flow: string): ProviderName | undefined {
  const names = Object.keys(FLOWS) as ProviderName[];
  return names.find((name) => Object.values(FLOWS[name]).includes(flow));
}

// An http domain is taken on this machine's own addresses only; anywhere else the adapter refuses it.
function ofIdpA({ timeouts }: ResolvedConfig, { fetch, fingerprintKey }: Identities) {
  return { timeoutMs: timeouts.identityProviderMs, fetch, fingerprintKey, allowInsecure: true };
}

function ofIdpB(
  { certificatePath, privateKeyPath, ...application }: ResolvedIdpB,
  { timeouts }: ResolvedConfig,
  { fetch, fingerprintKey, telemetry, clock }: Identities,
  own?: ReadonlySet<string>,
): IdpBOptions {
  // A key alone is no certificate, and must not stand before a secret that works.
  const hasCertificate = certificatePath !== '' || (privateKeyPath !== '' && application.clientSecret.reveal() === '');
  const certificate = hasCertificate
    ? new CertificateFile({
        certificatePath,
        privateKeyPath,
        block: own?.has('certificatePath') === true ? 'onBehalfOf' : 'idpBService',
        clock,
        onWarning: (warning) => telemetry.emit({ type: 'warning', ...warning }),
      })
    : undefined;
  return { ...application, own, certificate, timeoutMs: timeouts.identityProviderMs, fetch, fingerprintKey };
}
