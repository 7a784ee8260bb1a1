import { ContainerModule } from 'inversify';
import type { CustomFetch } from 'openid-client';
import { CertificateFile } from '../../adapters/keys/certificate-file.js';
import { KeyFile } from '../../adapters/keys/key-file.js';
import { KeyText } from '../../adapters/keys/key-text.js';
import type { PrivateKeySource } from '../../adapters/keys/private-key.js';
import { TimedIdentityProvider } from '../../adapters/system/timed-identity-provider.js';
import { TimedTokenExchange } from '../../adapters/system/timed-token-exchange.js';
import { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { Clock } from '../../ports/clock.js';
import type { IdentityProvider } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { RouteAuths } from '../routes/route-auths.js';
import { provide, TOKENS } from './container.js';
import type { CacheStores } from './platform-module.js';
import type { ToolkitPorts } from './ports.js';
import { tokenExchange } from './token-exchange.js';

/** Gives the identity provider of a strategy; its library is loaded when it is first asked for. */
export type ProviderLoader = (name: string) => Promise<IdentityProvider> | undefined;

/** What identity providers are made with, besides their configuration block. */
export interface Identities {
  readonly custom: Readonly<Record<string, IdentityProvider>>;
  readonly fetch: typeof fetch | undefined;
  readonly telemetry: Telemetry;
  /** Tells two credentials apart; the same in all processes that share a cache. */
  readonly fingerprintKey: Uint8Array;
}

/** Binds what turns configuration into credentials. */
export function identityModule(config: ResolvedConfig, ports: ToolkitPorts): ContainerModule {
  const identities = ({ fingerprintKey }: CacheStores, telemetry: Telemetry): Identities => ({
    custom: ports.identityProviders ?? {},
    fetch: ports.identityFetch,
    fingerprintKey,
    telemetry,
  });
  const parts = [TOKENS.Clock, TOKENS.CacheStores, TOKENS.Telemetry] as const;
  return new ContainerModule(({ bind }) => {
    provide(bind, TOKENS.Providers, parts, (clock, stores, telemetry) =>
      providerLoader(config, identities(stores, telemetry), clock),
    );
    provide(bind, TOKENS.TokenExchange, parts, (clock, stores, telemetry) =>
      ports.tokenExchange === undefined
        ? tokenExchange(config, identities(stores, telemetry), clock)
        : new TimedTokenExchange(ports.tokenExchange, config.timeouts.identityProviderMs),
    );
    provide(
      bind,
      TOKENS.CredentialBroker,
      [TOKENS.Clock, TOKENS.Telemetry, TOKENS.CacheStores, TOKENS.Providers],
      (clock, telemetry, { tokens }, provider) =>
        new CredentialBroker({
          clock,
          telemetry,
          tokens,
          provider,
          strategy: config.serviceAuthStrategy,
          authProvider: config.authProvider,
          hasServiceAccount: config.serviceAccount.filled,
          customProviders: config.customProviders,
          apiKey: config.serviceApiKey,
          apiKeyHeader: config.upstream.headers.apiKey,
        }),
    );
    provide(
      bind,
      TOKENS.RouteAuths,
      [TOKENS.Clock, TOKENS.CacheStores, TOKENS.TokenExchange],
      (clock, { tokens }, exchange) =>
        new RouteAuths({
          clock,
          tokens,
          exchange,
          alwaysExchange: config.onBehalfOf.configured,
          sessionMs: config.timeouts.sessionMs,
          apiKey: config.serviceApiKey,
          apiKeyHeader: config.upstream.headers.apiKey,
        }),
    );
  });
}

/** Loads each provider once, when it is first asked for. */
export function providerLoader(config: ResolvedConfig, identities: Identities, clock: Clock): ProviderLoader {
  const loaded = new Map<string, Promise<IdentityProvider>>();
  const load = (name: string): Promise<IdentityProvider> | undefined => {
    const custom = Object.hasOwn(identities.custom, name) ? identities.custom[name] : undefined;
    if (custom !== undefined)
      return Promise.resolve(new TimedIdentityProvider(custom, config.timeouts.identityProviderMs));
    switch (name) {
      case 'service_account':
        return serviceAccountProvider(config, identities, clock);
      case 'idp_a.password':
        return idpAProvider('password', config, identities);
      case 'idp_a.client_credentials':
        return idpAProvider('client_credentials', config, identities);
      case 'idp_b.client_credentials':
        return idpBProvider(config, identities, clock);
      default:
        return undefined;
    }
  };
  return (name) => {
    let provider = loaded.get(name);
    if (provider === undefined) {
      provider = load(name);
      if (provider === undefined) return undefined;
      loaded.set(name, provider);
      // A library that failed to load may be installed by now when the next request comes.
      provider.catch(() => loaded.delete(name));
    }
    return provider;
  };
}

async function idpAProvider(
  grant: 'password' | 'client_credentials',
  { idpA, timeouts }: ResolvedConfig,
  { fetch, fingerprintKey }: Identities,
): Promise<IdentityProvider> {
  const { IdpAProvider } = await import('../../adapters/idp-a/idp-a-provider.js');
  return new IdpAProvider({
    ...idpA,
    grant,
    timeoutMs: timeouts.identityProviderMs,
    fetch: fetch as CustomFetch | undefined,
    fingerprintKey,
    // An http domain is taken on this machine's own addresses only; anywhere else the adapter refuses it.
    allowInsecure: true,
  });
}

async function idpBProvider(
  { idpB, timeouts }: ResolvedConfig,
  { fetch, fingerprintKey, telemetry }: Identities,
  clock: Clock,
): Promise<IdentityProvider> {
  const { IdpBProvider } = await import('../../adapters/idp-b/idp-b-provider.js');
  const { certificatePath, privateKeyPath, ...rest } = idpB;
  const hasCertificate = certificatePath !== '' || privateKeyPath !== '';
  return new IdpBProvider({
    ...rest,
    certificate: hasCertificate
      ? new CertificateFile({
          certificatePath,
          privateKeyPath,
          block: 'idpBService',
          clock,
          onWarning: (warning) => telemetry.emit({ type: 'warning', ...warning }),
        })
      : undefined,
    timeoutMs: timeouts.identityProviderMs,
    fetch,
    fingerprintKey,
  });
}

async function serviceAccountProvider(
  config: ResolvedConfig,
  { telemetry }: Identities,
  clock: Clock,
): Promise<IdentityProvider> {
  const { ServiceAccountProvider } = await import('../../adapters/service-account/service-account-provider.js');
  const { serviceAccountId, keyId, audience, subject, issuer, claims, privateKeyPem, privateKeyPath } =
    config.serviceAccount;
  if (privateKeyPem !== undefined && privateKeyPath !== '') {
    const detail = 'serviceAccount has both privateKeyPem and privateKeyPath; the file is not read';
    telemetry.emit({ type: 'warning', code: 'second_key_unused', detail });
  }
  return new ServiceAccountProvider({
    serviceAccountId,
    keyId,
    audience,
    subject,
    issuer,
    claims,
    key: privateKey(config, clock),
  });
}

function privateKey({ serviceAccount }: ResolvedConfig, clock: Clock): PrivateKeySource | undefined {
  const { privateKeyPem, privateKeyPath } = serviceAccount;
  const block = 'serviceAccount';
  if (privateKeyPem !== undefined) return new KeyText({ text: privateKeyPem.reveal(), block });
  return privateKeyPath === '' ? undefined : new KeyFile({ path: privateKeyPath, block, clock });
}
