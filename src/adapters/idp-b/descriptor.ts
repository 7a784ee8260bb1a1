import { accept } from '../../domain/shared/options.js';
import { providerUrl, withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Secret } from '../../domain/shared/secret.js';
import { firstFilled, revealed, secretRow, type SettingsOf, textRow } from '../../domain/shared/setting.js';
import { warnOnce } from '../../domain/shared/warnings.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type {
  ExchangeBlock,
  KeyFact,
  ProviderAddress,
  ProviderDescriptor,
} from '../../domain/shared/provider-descriptor.js';
import { CertificateFile } from '../keys/certificate.js';

/**
 * The application registration at `idp_b` (docs/authentication/client-credentials.md); a certificate takes precedence
 * over a secret, in whichever order they were set.
 *
 * @public
 */
export interface IdpBServiceConfig {
  /** Directory (tenant) identifier; never `common` or `organizations`. */
  readonly tenantId?: string | undefined;
  /** Address of the cloud or directory the tenant is in, such as `https://login.microsoftonline.us`; `https`, or `http` on this machine. Default: `https://login.microsoftonline.com`. */
  readonly authority?: string | undefined;
  /** Application (client) identifier. */
  readonly clientId?: string | undefined;
  /** Often of the form `api://<app_id>/.default`. */
  readonly scope?: string | undefined;
  /** Client secret; ignored if a certificate is configured. */
  readonly clientSecret?: string | { readonly path: string } | undefined;
  /** Path of the certificate in PEM form. */
  readonly certificatePath?: string | undefined;
  /** Path of the certificate's private key in PEM form. */
  readonly privateKeyPath?: string | undefined;
}

/** The settings of an application at `idp_b`; for an exchange some are those of `onBehalfOf`. */
export type IdpBSettings = SettingsOf<IdpBServiceConfig, { readonly clientSecret: Secret }>;

/** The settings of `idp_b`, by block. */
export interface IdpBBlocks {
  readonly idpBService: IdpBSettings;
}

const isAuthority = accept(
  (value) => typeof value === 'string' && authorityUrl(value) !== undefined,
  'an https address without user, query or fragment, such as https://login.microsoftonline.us',
);

/** A provider like Entra. */
export const IDP_B: ProviderDescriptor<IdpBBlocks> = {
  blocks: {
    idpBService: {
      tenantId: textRow('principal', 'IDP_B_TENANT_ID'),
      authority: { ...textRow('principal', 'IDP_B_AUTHORITY'), check: isAuthority },
      clientId: textRow('principal', 'IDP_B_CLIENT_ID'),
      scope: textRow('principal', 'IDP_B_SCOPE'),
      clientSecret: secretRow('IDP_B_CLIENT_SECRET'),
      certificatePath: textRow('proof', 'IDP_B_CERTIFICATE_PATH'),
      privateKeyPath: textRow('proof', 'IDP_B_PRIVATE_KEY_PATH'),
    },
  },
  vendors: ['entra', 'azure', 'microsoft', 'microsoft-entra-id'],
  prefix: 'IDP_B_',
  flows: { client_credentials: 'idp_b.client_credentials', resource_owner_password: 'idp_b.client_credentials' },
  suspects: { block: 'idpBService', fields: ['clientId', 'scope'] },

  examine({ idpBService }, clock) {
    const { scope } = idpBService;
    const [first = ''] = scope.value.trim().split(/\s+/, 1);
    const resource = first.replace(/\/[^/]+$/, '');
    return {
      keys: certificateFacts(idpBService, clock),
      address: address(idpBService),
      // `api://app/.default` results in a token whose audience is either form of the application's name.
      expected: { audience: [resource, resource.replace(/^api:\/\//, '')], setting: scope, scopes: [] },
    };
  },

  examineExchange(blocks, clock) {
    const settings = exchangeApplication(blocks);
    return { keys: certificateFacts(settings, clock), address: address(settings) };
  },
};

/** The application that exchanges users' tokens; settings missing in `onBehalfOf` are the provider's own. */
export function exchangeApplication({ idpBService, onBehalfOf }: IdpBBlocks & ExchangeBlock): IdpBSettings {
  // An application with its own client id is completed in its own block.
  const last = onBehalfOf.clientId.value === '' ? idpBService : onBehalfOf;
  const setting = (name: 'tenantId' | 'clientId' | 'scope') =>
    firstFilled(onBehalfOf[name], idpBService[name], last[name]);
  // Certificate and secret come from the same block: half of each would not match.
  const own = [onBehalfOf.clientSecret, onBehalfOf.certificatePath, onBehalfOf.privateKeyPath];
  const hasCredential = own.some((one) => revealed(one) !== '');
  const { clientSecret, certificatePath, privateKeyPath } = hasCredential ? onBehalfOf : idpBService;
  const named = { tenantId: setting('tenantId'), clientId: setting('clientId'), scope: setting('scope') };
  return { ...idpBService, ...named, clientSecret, certificatePath, privateKeyPath };
}

/** The certificate of an application; undefined if a secret is used. Warns if another credential is set and not used. */
export function certificateOf(
  { certificatePath, privateKeyPath, clientSecret }: IdpBSettings,
  clock: Clock,
  telemetry?: Telemetry,
): CertificateFile | undefined {
  const { block } = certificatePath;
  const hasSecret = revealed(clientSecret) !== '';
  const warn = (code: string, detail: string): void => telemetry && warnOnce(telemetry, code, `${block} has ${detail}`);
  // A key alone is not a certificate, and must not take precedence over a working secret.
  if (certificatePath.value === '' && (privateKeyPath.value === '' || hasSecret)) {
    if (privateKeyPath.value !== '')
      warn('certificate_incomplete', 'privateKeyPath without certificatePath; clientSecret is used');
    return undefined;
  }
  if (hasSecret) warn('client_secret_unused', 'both certificatePath and clientSecret; the certificate is used');
  const paths = { certificatePath: certificatePath.value, privateKeyPath: privateKeyPath.value };
  return new CertificateFile({ ...paths, block, clock, telemetry });
}

function certificateFacts(settings: IdpBSettings, clock: Clock): readonly KeyFact[] {
  const reading = certificateOf(settings, clock)?.read();
  if (reading === undefined) return [];
  const { block } = settings.certificatePath;
  if (reading.kind === 'unusable') {
    const { fields, advice, log } = reading;
    return [{ check: 'certificate', block, fields, isUsable: false, detail: log, advice }];
  }
  const { notBefore, notAfter, thumbprintSha256 } = reading;
  const unused = revealed(settings.clientSecret) === '' ? '' : '; takes precedence over the client secret';
  const detail = `matches its key, SHA-256 ${thumbprintSha256}${unused}`;
  const fields = ['certificatePath', 'privateKeyPath'];
  return [{ check: 'certificate', block, fields, isUsable: true, detail, validity: { notBefore, notAfter } }];
}

function address({ tenantId, authority }: IdpBSettings): ProviderAddress {
  if (tenantId.value.trim() === '') return { setting: tenantId };
  const found = tenantAddress(tenantId.value.trim(), authority.value);
  if (typeof found === 'string') return { setting: tenantId, fault: `tenantId ${found}` };
  const url = `${found.authority}/v2.0/.well-known/openid-configuration`;
  return { setting: tenantId, url, ...(authority.value.trim() !== '' && { host: authority }) };
}

/** The address made of tenant and authority. */
export interface TenantAddress {
  /** Cloud and tenant. */
  readonly authority: string;
  readonly host: string;
  readonly isHttp: boolean;
}

const PUBLIC_CLOUD = 'https://login.microsoftonline.com';

// Entra's names for any tenant; an application signs in to a single one.
const NOT_A_TENANT: ReadonlySet<string> = new Set(['common', 'organizations', 'consumers']);

/**
 * The address of a tenant at its authority, or what is wrong with the tenant. An empty authority is the public cloud;
 * one without a scheme is a host.
 */
export function tenantAddress(tenantId: string, authority: string): TenantAddress | string {
  // The values are left out of all messages: someone may have pasted a secret into the wrong field.
  if (NOT_A_TENANT.has(tenantId.toLowerCase())) return 'must name one tenant, neither "common" nor "organizations"';
  if (!/^[a-z\d](?:[\w.-]*[a-z\d])?$/i.test(tenantId)) return 'must be the identifier or the domain of a tenant';
  // The configuration has only valid authorities.
  const url = authorityUrl(authority) as URL;
  return {
    authority: `${url.origin}${pathOf(url, tenantId)}/${tenantId}`,
    host: url.host,
    isHttp: url.protocol === 'http:',
  };
}

function authorityUrl(authority: string): URL | undefined {
  return providerUrl(authority.trim() || PUBLIC_CLOUD);
}

/** Without the tenant, which other libraries expect in the authority, and without the version at the end of an issuer. */
function pathOf({ pathname }: URL, tenantId: string): string {
  const path = withoutTrailingSlashes(pathname).replace(/\/v2\.0$/, '');
  return path.endsWith(`/${tenantId}`) ? path.slice(0, -tenantId.length - 1) : path;
}
