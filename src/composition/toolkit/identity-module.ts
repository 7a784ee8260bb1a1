import { ContainerModule } from 'inversify';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { sha256 } from '../../adapters/system/system.js';
import { timedIdentityProvider } from '../../adapters/system/timed-ports.js';
import { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { FLOWS, type ProviderName } from '../config/provider-flows.js';
import { RouteAuths } from '../routes/route-auths.js';
import { type ProviderLoader, provide, TOKENS } from './container.js';
import { type Identities, providerOf, PROVIDERS } from './identity-providers.js';

/** Binds what turns configuration into credentials. */
export function identityModule(config: ResolvedConfig, sessions: Set<SessionTokenLike>): ContainerModule {
  const parts = [TOKENS.Clock, TOKENS.CacheStores, TOKENS.Telemetry, TOKENS.IdentityFetch] as const;
  return new ContainerModule(({ bind }) => {
    provide(bind, TOKENS.IdentityFetch, [], () => undefined);
    provide(bind, TOKENS.Providers, parts, (clock, { proofKey }, telemetry, fetch) =>
      providerLoader(config, { fetch, proofKey, telemetry, clock }),
    );
    provide(bind, TOKENS.TokenExchange, parts, (clock, { proofKey }, telemetry, fetch) =>
      tokenExchange(config, { fetch, proofKey, telemetry, clock }),
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
          flows: FLOWS,
          strategy: config.serviceAuthStrategy,
          authProvider: config.authProvider,
          hasServiceAccount: config.serviceAccount.filled,
          customProviders: config.customProviders,
          apiKey: config.serviceApiKey,
          apiKeyHeader: config.upstream.headers.apiKey,
          hash: sha256,
        }),
    );
    provide(
      bind,
      TOKENS.RouteAuths,
      [TOKENS.Clock, TOKENS.Telemetry, TOKENS.CacheStores, TOKENS.TokenExchange],
      (clock, telemetry, { tokens }, exchange) =>
        new RouteAuths({ config, clock, telemetry, sessions, tokens, exchange }),
    );
  });
}

/** Loads each provider once, when it is first asked for. */
export function providerLoader(config: ResolvedConfig, identities: Identities): ProviderLoader {
  const custom = config.identityProviders;
  const flows = new Map<string, () => Promise<IdentityProvider>>();
  const load = (flow: string): (() => Promise<IdentityProvider>) | undefined => {
    const own = Object.hasOwn(custom, flow) ? custom[flow] : undefined;
    if (own !== undefined) {
      return () => Promise.resolve(timedIdentityProvider(own, config.timeouts.identityProviderMs));
    }
    const name = providerOf(flow);
    return name && (() => PROVIDERS[name].load(flow, config, identities));
  };
  return (flow) => {
    let once = flows.get(flow);
    if (once === undefined) {
      const make = load(flow);
      if (make === undefined) return undefined;
      once = loadedOnce(make);
      flows.set(flow, once);
    }
    return once();
  };
}

/** The exchange of users' tokens a configuration asks for; its library is loaded with the first token. */
function tokenExchange(config: ResolvedConfig, identities: Identities): TokenExchange {
  const load = loadedOnce(async () => {
    const { exchange } = PROVIDERS[config.onBehalfOf.provider as ProviderName];
    if (exchange === undefined) throw new Error('this provider exchanges no tokens');
    return exchange(config, identities);
  });
  return {
    identity: async () => (await load()).identity(),
    exchange: async (request, now) => (await load()).exchange(request, now),
  };
}

/** What `load` gives, asked for once. A library that failed to load may be installed by now when the next request comes. */
function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
