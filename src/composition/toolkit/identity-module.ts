import { ContainerModule } from 'inversify';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { sha256 } from '../../adapters/system/system.js';
import { timedIdentityProvider } from '../../adapters/system/timed-ports.js';
import { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { IdentityProvider, ProviderContext, TokenExchange } from '../../ports/identity-provider.js';
import { configuredIdentity, FLOWS, providerOf, PROVIDERS } from '../config/providers.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { RouteAuths } from '../routes/route-auths.js';
import { type ProviderLoader, provide, TOKENS } from './container.js';

/** Binds what turns configuration into credentials. */
export function identityModule(config: ResolvedConfig, sessions: Set<SessionTokenLike>): ContainerModule {
  const parts = [TOKENS.Clock, TOKENS.CacheStores, TOKENS.Telemetry, TOKENS.IdentityFetch] as const;
  return new ContainerModule(({ bind }) => {
    provide(bind, TOKENS.IdentityFetch, [], () => undefined);
    provide(bind, TOKENS.Providers, parts, (clock, { proofKey }, telemetry, fetch) =>
      providerLoader(config, providerContext(config, { fetch, clock, proofKey, telemetry })),
    );
    provide(bind, TOKENS.TokenExchange, parts, (clock, { proofKey }, telemetry, fetch) =>
      tokenExchange(config, providerContext(config, { fetch, clock, proofKey, telemetry })),
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
          hasServiceAccount: config.hasServiceAccount,
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

/** Everything the providers of this package need besides their settings. `proofKey` keys the digests that tell two proofs apart. */
export function providerContext(
  { timeouts }: ResolvedConfig,
  { proofKey, ...context }: Pick<ProviderContext, 'fetch' | 'telemetry' | 'clock'> & { readonly proofKey: Uint8Array },
): ProviderContext {
  return {
    ...context,
    timeoutMs: timeouts.identityProviderMs,
    identityOf: (flow, settings, material) => configuredIdentity(flow, settings, proofKey, material),
  };
}

/** Loads each provider once, when it is first asked for. */
export function providerLoader(config: ResolvedConfig, context: ProviderContext): ProviderLoader {
  const custom = config.identityProviders;
  const flows = new Map<string, () => Promise<IdentityProvider>>();
  const load = (flow: string): (() => Promise<IdentityProvider>) | undefined => {
    const own = Object.hasOwn(custom, flow) ? custom[flow] : undefined;
    if (own !== undefined) {
      return () => Promise.resolve(timedIdentityProvider(own, config.timeouts.identityProviderMs));
    }
    const name = providerOf(flow);
    return name && (async () => (await PROVIDERS[name].adapter()).provider(flow, config, context));
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

/** The exchange of users' tokens that a configuration asks for; its library is loaded with the first token. */
export function tokenExchange(config: ResolvedConfig, context: ProviderContext): TokenExchange {
  const { authProvider, exchangeProvider, onBehalfOf } = config;
  const isUnnamed = onBehalfOf.provider.value === '' && authProvider !== '' && authProvider !== exchangeProvider;
  const load = loadedOnce(async () => {
    const { exchange } = await PROVIDERS[exchangeProvider].adapter();
    if (exchange === undefined) throw new Error('this provider exchanges no tokens');
    return exchange(config, context);
  });
  return {
    identity: async () => (await load()).identity(),
    exchange: async (request, now) => {
      const outcome = await (await load()).exchange(request, now);
      if (!isUnnamed || outcome.kind !== 'failure' || outcome.reason !== 'incomplete') return outcome;
      const advice = `Set "provider" in the "onBehalfOf" configuration block, since that of "authProvider" exchanges no tokens. Then: ${outcome.advice}`;
      return { ...outcome, block: 'onBehalfOf', fields: ['provider'], advice };
    },
  };
}

/** Calls `load` once. After a failure the next request tries again: the library may be installed by then. */
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
