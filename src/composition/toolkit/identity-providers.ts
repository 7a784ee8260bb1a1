import { issuerAddress } from '../../adapters/idp-a/issuer-address.js';
import { requestedScope } from '../../adapters/idp-a/requested-scope.js';
import type { IdpBOptions } from '../../adapters/idp-b/idp-b.js';
import { tenantAddress } from '../../adapters/idp-b/tenant-address.js';
import { CertificateFile } from '../../adapters/keys/certificate.js';
import { privateKeySource } from '../../adapters/keys/private-key.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
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

/** Where a provider describes itself in public (OpenID Connect Discovery 1.0 §4), and the field that says so. */
export interface ProviderAddress {
  readonly field: string;
  /** Where that field stands. Default: the provider's block. */
  readonly block?: string;
  /** Absent while the field is not set, or wrong. */
  readonly url?: string;
  /** What is wrong with the field. */
  readonly fault?: string;
}

/** What tokens have to say, as far as the configuration tells. */
interface ExpectedClaims {
  /** Empty texts stand for what is not configured. */
  readonly audience: { readonly field: string; readonly anyOf: readonly string[] };
  readonly scopes: readonly string[];
}

/** An identity provider of this package. Its library is loaded when a flow of it is first asked for. */
export interface BuiltInProvider {
  /** The block and the fields to check when the platform does not take its tokens. */
  readonly block: string;
  readonly fields: readonly string[];
  readonly load: (flow: string, config: ResolvedConfig, identities: Identities) => Promise<IdentityProvider>;
  /** Exchanges users' tokens; absent where the provider cannot. */
  readonly exchange?: (config: ResolvedConfig, identities: Identities) => Promise<TokenExchange>;
  /** Where the doctor looks for it, for the service's own tokens or for those of users; absent where nobody has to be reached. */
  readonly address?: (config: ResolvedConfig, forUsers: boolean) => ProviderAddress;
  /** What the doctor compares the service's tokens with. Default: nothing. */
  readonly expected?: (config: ResolvedConfig) => ExpectedClaims;
}

const DISCOVERY = '/.well-known/openid-configuration';

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
    expected: ({ serviceAccount: { audience } }) => ({
      audience: { field: 'audience', anyOf: audience === false ? [] : [audience].flat() },
      scopes: [],
    }),
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
    address: ({ idpA }) => {
      const field = 'domain';
      if (idpA.domain.trim() === '') return { field };
      const address = issuerAddress(idpA.domain, true);
      if (address.kind === 'unusable') return { field, fault: address.detail };
      return { field, url: `${withoutTrailingSlashes(address.url.href)}${DISCOVERY}` };
    },
    expected: ({ idpA: { audience, scope } }) => ({
      audience: { field: 'audience', anyOf: [audience] },
      scopes: requestedScope(scope).split(' ').filter(Boolean),
    }),
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
    address: ({ idpB, onBehalfOf }, forUsers) => {
      const { tenantId, authority } = forUsers ? onBehalfOf.idpB : idpB;
      const isOwn = forUsers && onBehalfOf.own.has('tenantId');
      const tenant = { field: 'tenantId', ...(isOwn && { block: 'onBehalfOf' }) };
      if (tenantId.trim() === '') return tenant;
      const address = tenantAddress(tenantId.trim(), authority);
      const place = (field: string): ProviderAddress => (field === 'tenantId' ? tenant : { field });
      if (address.kind === 'unusable') {
        return { ...place(address.field), fault: `${address.field} ${address.note}` };
      }
      return { ...place(authority === '' ? 'tenantId' : 'authority'), url: `${address.authority}/v2.0${DISCOVERY}` };
    },
    // `api://app/.default` gets a token whose audience is either form of the application's name.
    expected: ({ idpB: { scope } }) => {
      const [first = ''] = scope.trim().split(/\s+/, 1);
      const resource = first.replace(/\/[^/]+$/, '');
      return { audience: { field: 'scope', anyOf: [resource, resource.replace(/^api:\/\//, '')] }, scopes: [] };
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
