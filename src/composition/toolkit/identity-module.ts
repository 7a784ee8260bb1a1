import { ContainerModule } from 'inversify';
import { SecretFile } from '../../adapters/keys/secret-file.js';
import { sha256 } from '../../adapters/system/system.js';
import { timedIdentityProvider } from '../../adapters/system/timed-ports.js';
import { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { Secret } from '../../domain/shared/secret.js';
import type { ProviderContext } from '../../domain/shared/provider-descriptor.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import { configuredIdentity, FLOWS, providerOf, PROVIDERS } from '../config/providers.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { RouteCredentials } from '../routes/route-credentials.js';
import { providerFetch } from './connections.js';
import { type ProviderLoader, provide } from './container.js';

/** Binds the parts that turn configuration into credentials. */
export function identityModule(): ContainerModule {
  return new ContainerModule(({ bind }) => {
    provide(bind, 'fetch', ['config'], ({ config }) => providerFetch(config));
    const needs = ['fetch', 'clock', 'telemetry', 'stores'] as const;
    provide(bind, 'context', ['config', ...needs], ({ config, fetch, clock, telemetry, stores: { proofKey } }) =>
      providerContext(config, { fetch, clock, telemetry, proofKey }),
    );
    provide(bind, 'provider', ['config', 'context'], ({ config, context }) => providerLoader(config, context));
    provide(bind, 'exchange', ['config', 'context'], ({ config, context }) => tokenExchange(config, context));
    provide(
      bind,
      'credentials',
      ['config', 'clock', 'telemetry', 'stores', 'provider'],
      ({ config, clock, telemetry, stores: { tokens }, provider }) =>
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
          // Secrets in files change.
          get apiKey() {
            return current(config.serviceApiKey);
          },
          get serviceToken() {
            return current(config.serviceToken);
          },
          recheck: () => {
            for (const file of config.files) file.recheck();
          },
          apiKeyHeader: config.upstream.headers.apiKey,
          hash: sha256,
        }),
    );
    provide(
      bind,
      'routeCredentials',
      ['config', 'sessions', 'clock', 'telemetry', 'stores', 'exchange', 'memory'],
      ({ config, sessions, clock, telemetry, stores: { tokens }, exchange, memory: { tokens: memory } }) =>
        new RouteCredentials({ config, sessions, clock, telemetry, tokens, exchange, memory }),
    );
  });
}

function current(value: Secret | undefined): Secret | undefined {
  return value instanceof SecretFile ? value.current : value;
}

/** Everything the providers of this package need besides their settings. `proofKey` keys the digests that distinguish proofs. */
export function providerContext(
  { timeouts }: ResolvedConfig,
  { proofKey, ...parts }: Pick<ProviderContext, 'fetch' | 'telemetry' | 'clock'> & { readonly proofKey: Uint8Array },
): ProviderContext {
  return {
    ...parts,
    timeoutMs: timeouts.identityProviderMs,
    identityOf: (flow, settings, material) => configuredIdentity(flow, settings, proofKey, material),
  };
}

/** Loads each provider once, on first use. */
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

/** The exchange of users' tokens, if configured; its library is loaded with the first token. */
export function tokenExchange(config: ResolvedConfig, context: ProviderContext): TokenExchange {
  const { authProvider, exchangeProvider, onBehalfOf } = config;
  const isUnnamed = onBehalfOf.provider.value === '' && authProvider !== '' && authProvider !== exchangeProvider;
  const load = loadedOnce(async () => {
    const { exchange } = await PROVIDERS[exchangeProvider].adapter();
    if (exchange === undefined) throw new Error('this provider cannot exchange tokens');
    return exchange(config, context);
  });
  return {
    identity: async () => (await load()).identity(),
    exchange: async (request, now) => {
      const outcome = await (await load()).exchange(request, now);
      if (!isUnnamed || outcome.kind !== 'failure' || outcome.reason !== 'incomplete') return outcome;
      const advice = `Set "provider" in the "onBehalfOf" configuration block, since the one in "authProvider" cannot exchange tokens. Then: ${outcome.advice}`;
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
