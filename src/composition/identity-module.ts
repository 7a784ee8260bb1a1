import { ContainerModule } from 'inversify';
import { KeyFile } from '../adapters/system/key-file.js';
import { KeyText } from '../adapters/system/key-text.js';
import { CredentialBroker } from '../domain/credentials/credential-broker.js';
import type { Clock } from '../ports/clock.js';
import type { IdentityProvider } from '../ports/identity-provider.js';
import type { PrivateKeySource } from '../ports/private-key.js';
import { provide } from './provide.js';
import type { ResolvedConfig } from './resolve-config.js';
import { TOKENS } from './tokens.js';

/** Gives the identity provider of a strategy; its library is loaded when it is first asked for. */
export type ProviderLoader = (name: string) => Promise<IdentityProvider> | undefined;

/** Binds what turns configuration into credentials. */
export function identityModule(
  config: ResolvedConfig,
  custom: Readonly<Record<string, IdentityProvider>>,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    provide(bind, TOKENS.Providers, [TOKENS.Clock], (clock) => providerLoader(config, custom, clock));
    provide(
      bind,
      TOKENS.CredentialBroker,
      [TOKENS.Clock, TOKENS.Telemetry, TOKENS.TokenCache, TOKENS.Providers],
      (clock, telemetry, tokens, provider) =>
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
          apiKeyHeader: 'x-api-key',
        }),
    );
  });
}

function providerLoader(
  config: ResolvedConfig,
  custom: Readonly<Record<string, IdentityProvider>>,
  clock: Clock,
): ProviderLoader {
  const loaded = new Map<string, Promise<IdentityProvider>>();
  const load = (name: string): Promise<IdentityProvider> | undefined => {
    if (Object.hasOwn(custom, name)) return Promise.resolve(custom[name] as IdentityProvider);
    if (name === 'service_account') return serviceAccountProvider(config, clock);
    return undefined;
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

async function serviceAccountProvider(config: ResolvedConfig, clock: Clock): Promise<IdentityProvider> {
  const { ServiceAccountProvider } = await import('../adapters/service-account/service-account-provider.js');
  const { serviceAccountId, keyId, audience, subject, issuer, claims } = config.serviceAccount;
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
