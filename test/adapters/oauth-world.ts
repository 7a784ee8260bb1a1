import { afterAll } from 'vitest';
import { IdpAApplication, type IdpAOptions } from '../../src/adapters/idp-a/idp-a.js';
import { IdpBApplication, type IdpBOptions } from '../../src/adapters/idp-b/idp-b.js';
import { CertificateFile } from '../../src/adapters/keys/certificate.js';
import { systemClock } from '../../src/adapters/system/system.js';
import { silentTelemetry } from '../../src/adapters/telemetry/operator-telemetry.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { providerContext, tokenExchange } from '../../src/composition/toolkit/identity-module.js';
import { secret } from '../../src/domain/shared/secret.js';
import type { ValuesOf } from '../../src/domain/shared/setting.js';
import type {
  AccessToken,
  IdentityProvider,
  IssueFailure,
  TokenExchange,
  TokenExchangeRequest,
} from '../../src/ports/identity-provider.js';
import { anyIdentity } from '../support/configured-provider.js';
import { settingsIn } from '../support/settings.js';
import {
  type ClientCertificate,
  type Fault,
  type IdpA,
  type IdpB,
  type IdpBOptions as DoubleOptions,
  makeClientCertificate,
  removeClientCertificates,
  runIdpA,
  runIdpB,
  startIdpA,
  startIdpB,
  type TrustingFetch,
} from '../support/identity-provider/index.js';

export const NOW = Date.now();

type Connection = Partial<Pick<IdpBOptions, 'timeoutMs' | 'fetch' | 'identity'>>;
/** Settings of an adapter that a test changes. */
export type IdpAChange = Connection & Partial<Pick<IdpAOptions, 'grant'> & ValuesOf<IdpAOptions['settings']>>;
export type IdpBChange = Connection & Partial<Pick<IdpBOptions, 'certificate'> & ValuesOf<IdpBOptions['settings']>>;

/** The exchange that a toolkit creates for this configuration. */
export function configuredExchange(config: ServerConfig, settings: object = {}): TokenExchange {
  const resolved = resolveConfig(config);
  const usual = { fetch: undefined, telemetry: silentTelemetry, clock: systemClock, proofKey: new Uint8Array(32) };
  return tokenExchange(resolved, providerContext(resolved, { ...usual, ...settings }));
}

/** A running Auth0-like double, and adapters that get tokens there unless a test changes their settings. */
export async function startIdpAWorld() {
  const { idp, trusting } = await runIdpA();
  const connection = { timeoutMs: 5000, fetch: trusting.fetch, identity: anyIdentity };
  const application = {
    domain: idp.domain,
    clientId: idp.client.id,
    clientSecret: secret(idp.client.secret),
    audience: idp.audience,
    scope: '',
  };
  const user = { username: idp.user.username, password: secret(idp.user.password) };
  const others = { grant: 'password', realm: '', subjectTokenType: '' } as const;
  /** `own`: the fields that the block `onBehalfOf` sets. */
  const provider = (change: IdpAChange = {}, own: readonly string[] = []): IdpAApplication => {
    const all = { ...connection, ...application, ...user, ...others, ...change };
    const { timeoutMs, fetch, identity, grant, username, password, subjectTokenType, ...values } = all;
    const owned = Object.entries(settingsIn('onBehalfOf', values)).filter(([name]) => own.includes(name));
    const settings = {
      ...settingsIn('idpA', values),
      ...settingsIn('idpAServiceUser', { username, password }),
      ...settingsIn('onBehalfOf', { subjectTokenType }),
      ...Object.fromEntries(owned),
    };
    return new IdpAApplication({ timeoutMs, fetch, identity, grant, settings });
  };
  const exchange = provider;
  /** The configuration for the same settings. */
  const configured = (
    change: Partial<Record<'idpA' | 'idpAServiceUser' | 'onBehalfOf', object>> = {},
  ): ServerConfig => ({
    ...change,
    authProvider: 'idp_a',
    idpA: {
      domain: idp.domain,
      clientId: idp.client.id,
      clientSecret: idp.client.secret,
      audience: idp.audience,
      ...change.idpA,
    },
    idpAServiceUser: { ...idp.user, ...change.idpAServiceUser },
  });
  return { idp, trusting, provider, exchange, configured };
}

/** A running Entra-like double that knows a certificate, and adapters that get tokens there unless a test changes their settings. */
export async function startIdpBWorld({ certificates = [], ...started }: DoubleOptions = {}) {
  const registered = makeClientCertificate();
  afterAll(removeClientCertificates);
  const { idp, trusting } = await runIdpB({ ...started, certificates: [registered.certificatePem, ...certificates] });
  const application = {
    tenantId: idp.tenantId,
    clientId: idp.client.id,
    scope: idp.scope,
    clientSecret: secret(idp.client.secret),
    authority: `https://${idp.host}`,
    certificatePath: '',
    privateKeyPath: '',
  };
  const provider = (change: IdpBChange = {}): IdpBApplication => {
    const connection = { timeoutMs: 5000, fetch: trusting.fetch, identity: anyIdentity, certificate: undefined };
    const { timeoutMs, fetch, identity, certificate, ...values } = { ...connection, ...application, ...change };
    return new IdpBApplication({
      timeoutMs,
      fetch,
      identity,
      certificate,
      settings: settingsIn('idpBService', values),
    });
  };
  const exchange = provider;
  /** The configuration for the same settings. */
  const configured = (change: object = {}, onBehalfOf?: object): ServerConfig => ({
    idpBService: {
      tenantId: idp.tenantId,
      clientId: idp.client.id,
      scope: idp.scope,
      clientSecret: idp.client.secret,
      authority: `https://${idp.host}`,
      ...change,
    },
    ...(onBehalfOf && { onBehalfOf }),
  });
  return { idp, trusting, registered, provider, exchange, configured };
}

/** The paths of a certificate and its key. */
export function certificateIn({ certificatePath, privateKeyPath }: ClientCertificate): CertificateFile {
  return new CertificateFile({ certificatePath, privateKeyPath, block: 'idpBService', clock: systemClock });
}

/** Settings that both providers have. */
type Change = Pick<IdpBChange, 'clientSecret' | 'scope' | 'timeoutMs'> & {
  readonly fetch?: TrustingFetch['fetch'] | undefined;
};

/** A provider that gets its tokens over OAuth from a running double, and the fields its failures name. */
export interface ProviderUnderTest {
  readonly idp: Pick<
    IdpA & IdpB,
    'audience' | 'client' | 'faults' | 'issueUserToken' | 'metadataRequests' | 'tokenRequests' | 'verifyAccessToken'
  >;
  readonly provider: (change?: Change) => IdentityProvider;
  readonly exchange: (change?: Change) => TokenExchange;
  /** The provider for a double at another host. */
  readonly at: (host: string, change?: Change) => IdentityProvider;
  /** Starts another double and returns its host. */
  readonly another: () => Promise<{ readonly host: string; close(): Promise<void> }>;
  readonly block: string;
  readonly addressField: string;
  /** The field that sets the host. */
  readonly hostField: string;
  /** Block and fields named by a failure with status 429. */
  readonly limited: { readonly block: string; readonly fields: readonly string[] };
  readonly movedEndpoint: string;
}

/** Both providers of this package, by name. */
export async function providersUnderTest(): Promise<readonly [name: string, ProviderUnderTest][]> {
  const [a, b] = [await startIdpAWorld(), await startIdpBWorld()];
  return [
    [
      'idp_a',
      {
        ...a,
        at: (domain, change) => a.provider({ domain, ...change }),
        another: async () => {
          const { domain, close } = await startIdpA();
          return { host: domain, close };
        },
        block: 'idpA',
        addressField: 'domain',
        hostField: 'domain',
        limited: { block: 'idpAServiceUser', fields: ['username'] },
        movedEndpoint: `${a.idp.issuer}old/token`,
      },
    ],
    [
      'idp_b',
      {
        ...b,
        at: (host, change) => b.provider({ authority: `https://${host}`, ...change }),
        another: () => startIdpB(),
        block: 'idpBService',
        addressField: 'tenantId',
        hostField: 'authority',
        limited: { block: 'idpBService', fields: ['clientId'] },
        movedEndpoint: `${b.idp.authority}/old/token`,
      },
    ],
  ];
}

/** The token of a provider; throws on a failure. */
export async function issued(from: IdentityProvider): Promise<AccessToken> {
  const outcome = await from.issue(NOW);
  if (outcome.kind !== 'token') throw new Error(`no token: ${outcome.log}`);
  return outcome.token;
}

/** The failure of a provider; throws on a token. */
export async function failureOf(from: IdentityProvider, now = Date.now()): Promise<IssueFailure> {
  const outcome = await from.issue(now);
  if (outcome.kind === 'token') throw new Error('a token');
  return outcome;
}

/** The token of an exchange; throws on anything else. */
export async function exchanged(from: TokenExchange, request: TokenExchangeRequest, now = NOW): Promise<AccessToken> {
  const outcome = await from.exchange(request, now);
  if (outcome.kind !== 'token') throw new Error(outcome.log);
  return outcome.token;
}

/** An error of Entra, with its number. */
export function entraError(
  status: number,
  error: string,
  number: number,
  more: Readonly<Record<string, unknown>> = {},
): Fault {
  return { status, body: { error, error_description: `AADSTS${number}: no.`, error_codes: [number], ...more } };
}
