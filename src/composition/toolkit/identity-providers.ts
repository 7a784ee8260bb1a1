import { issuerAddress } from '../../adapters/idp-a/issuer-address.js';
import { requestedScope } from '../../adapters/idp-a/requested-scope.js';
import type { IdpBOptions } from '../../adapters/idp-b/idp-b.js';
import { tenantAddress } from '../../adapters/idp-b/tenant-address.js';
import { CertificateFile } from '../../adapters/keys/certificate.js';
import { privateKeySource } from '../../adapters/keys/private-key.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Clock } from '../../ports/clock.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig, ResolvedIdpB } from '../config/resolve-config.js';
import { FLOWS, type ProviderName } from '../config/provider-flows.js';
import { type AnyRows, FIELDS } from '../config/schema.js';
import { configuredIdentity } from './configured-identity.js';

/** What identity providers are made with, besides their configuration block. */
export interface Identities {
  readonly fetch: typeof fetch | undefined;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Keys the digests that tell two proofs apart; the same in all processes that share tokens. */
  readonly proofKey: Uint8Array;
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
    load: async (flow, { serviceAccount }, { telemetry, clock, proofKey }) => {
      const { ServiceAccountProvider } = await import('../../adapters/service-account/service-account-provider.js');
      if (serviceAccount.privateKeyPem !== undefined && serviceAccount.privateKeyPath !== '') {
        const detail = 'serviceAccount has both privateKeyPem and privateKeyPath; the file is not read';
        telemetry.emit({ type: 'warning', code: 'second_key_unused', detail });
      }
      const { serviceAccountId, keyId, audience, subject, issuer, claims } = serviceAccount;
      const key = privateKeySource(serviceAccount, 'serviceAccount', clock);
      const identity = configuredIdentity({
        flow,
        rows: rowsOf('serviceAccount'),
        values: { ...serviceAccount },
        proofKey,
        // By its advice: another fault is another failure, so a back-off must not repeat the words of the last one.
        material: async () => {
          const reading = await key?.read();
          return reading?.kind === 'key' ? reading.fingerprint : (reading?.advice ?? '');
        },
      });
      return new ServiceAccountProvider({ serviceAccountId, keyId, audience, subject, issuer, claims, key, identity });
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
      const rows = grant === 'password' ? rowsOf('idpA', 'idpAServiceUser') : rowsOf('idpA');
      return new IdpAProvider({ ...config.idpA, grant, ...ofIdpA(flow, rows, config.idpA, config, identities) });
    },
    exchange: async (config, identities) => {
      const { IdpATokenExchange } = await import('../../adapters/idp-a/idp-a.js');
      const { own, idpA } = config.onBehalfOf;
      const options = { ...config.idpA, ...idpA };
      const rows = { ...rowsOf('onBehalfOf'), ...rowsOf('idpA') };
      return new IdpATokenExchange({ ...options, own, ...ofIdpA('idp_a.exchange', rows, options, config, identities) });
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
    load: async (flow, config, identities) => {
      const { IdpBProvider } = await import('../../adapters/idp-b/idp-b.js');
      return new IdpBProvider(ofIdpB(flow, config.idpB, config, identities));
    },
    exchange: async (config, identities) => {
      const { IdpBTokenExchange } = await import('../../adapters/idp-b/idp-b.js');
      const { own, idpB } = config.onBehalfOf;
      return new IdpBTokenExchange(ofIdpB('idp_b.exchange', idpB, config, identities, own));
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

/** The fields of these blocks. */
function rowsOf(...blocks: readonly ('serviceAccount' | 'idpA' | 'idpAServiceUser' | 'idpBService' | 'onBehalfOf')[]) {
  return Object.assign({}, ...blocks.map((block) => FIELDS[block]?.fields)) as AnyRows;
}

function ofIdpA(
  flow: string,
  rows: AnyRows,
  values: { readonly domain: string },
  { timeouts }: ResolvedConfig,
  { fetch, proofKey }: Identities,
) {
  // However it is spelled, it is one tenant.
  const address = issuerAddress(values.domain, true);
  const domain = address.kind === 'issuer' ? address.url.href : values.domain;
  return {
    timeoutMs: timeouts.identityProviderMs,
    fetch,
    identity: configuredIdentity({ flow, rows, values: { ...values, domain }, proofKey }),
    // An http domain is taken on this machine's own addresses only; anywhere else the adapter refuses it.
    allowInsecure: true,
  };
}

function ofIdpB(
  flow: string,
  values: ResolvedIdpB,
  { timeouts }: ResolvedConfig,
  { fetch, proofKey, telemetry, clock }: Identities,
  own?: ReadonlySet<string>,
): IdpBOptions {
  const { certificatePath, privateKeyPath, ...application } = values;
  const block = own?.has('certificatePath') === true ? 'onBehalfOf' : 'idpBService';
  const hasSecret = application.clientSecret.reveal() !== '';
  // A key alone is no certificate, and must not stand before a secret that works.
  const hasCertificate = certificatePath !== '' || (privateKeyPath !== '' && !hasSecret);
  // What an exchange takes over from the provider's own block is that block's to warn of.
  if (hasSecret && (own === undefined || block === 'onBehalfOf')) warnOfSecret(block, values, telemetry);
  const certificate = hasCertificate
    ? new CertificateFile({
        certificatePath,
        privateKeyPath,
        block,
        clock,
        onWarning: (warning) => telemetry.emit({ type: 'warning', ...warning }),
      })
    : undefined;
  // However they are spelled, they are one tenant.
  const address = tenantAddress(values.tenantId.trim(), values.authority);
  const tenant = address.kind === 'address' ? { tenantId: '', authority: address.authority } : {};
  const identity = configuredIdentity({
    flow,
    rows: rowsOf('idpBService'),
    // A secret that a certificate stands before proves nothing.
    values: { ...values, ...tenant, ...(hasCertificate && { clientSecret: undefined }) },
    proofKey,
    // By its advice: another fault is another failure, so a back-off must not repeat the words of the last one.
    material: async () => {
      const reading = await certificate?.read();
      return reading?.kind === 'certificate' ? reading.thumbprintSha256 : (reading?.advice ?? '');
    },
  });
  return { ...application, own, certificate, timeoutMs: timeouts.identityProviderMs, fetch, identity };
}

/** Of a certificate and a secret, one is not used. */
function warnOfSecret(block: string, { certificatePath, privateKeyPath }: ResolvedIdpB, telemetry: Telemetry): void {
  if (certificatePath !== '') {
    const detail = `${block} has both certificatePath and clientSecret; the certificate is used`;
    telemetry.emit({ type: 'warning', code: 'client_secret_unused', detail });
  } else if (privateKeyPath !== '') {
    const detail = `${block} has privateKeyPath without certificatePath; clientSecret is used`;
    telemetry.emit({ type: 'warning', code: 'certificate_incomplete', detail });
  }
}
