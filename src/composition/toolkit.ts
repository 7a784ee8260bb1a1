import { Container, type ServiceIdentifier } from 'inversify';
import { silentTelemetry } from '../adapters/telemetry/silent-telemetry.js';
import { systemClock } from '../adapters/system/system-clock.js';
import { UndiciUpstream } from '../adapters/undici/undici-upstream.js';
import { chatRoutes } from '../adapters/web/chat-routes.js';
import type { SiteSettings } from '../adapters/web/site-settings.js';
import type { HttpHandler } from '../ports/http.js';
import type { CredentialPlan } from '../domain/credentials/credential-broker.js';
import { TokenCache } from '../domain/credentials/token-cache.js';
import type { ServerConfig } from './config.js';
import { domainModule } from './domain-module.js';
import { headerSecret } from './header-secret.js';
import { identityModule } from './identity-module.js';
import { type PlatformParts, platformModule } from './platform-module.js';
import type { ToolkitPorts } from './ports.js';
import { newRequestId } from './request-id.js';
import { type ResolvedConfig, resolveConfig } from './resolve-config.js';
import { checkStrategy } from './strategy-names.js';
import { type ChatHandlerOptions, chatPlan } from './chat-options.js';
import { TOKENS, type Token } from './tokens.js';
import type { AuthHeadersOptions, Toolkit } from './toolkit-type.js';

const MOST_TOKENS = 10_000;

/**
 * Builds everything the routes need from one configuration; keeps no global state, so a process may have many.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming block and field.
 *
 * @example
 * ```ts
 * import { createToolkit } from 'agent-bff';
 *
 * const toolkit = createToolkit({
 *   a2aUrl: 'https://agent.example/a2a',
 *   serviceApiUrl: 'https://platform.example/api',
 *   serviceAccount: { serviceAccountId: 'sa-1', keyId: 'key-1', privateKeyPath: '/run/secrets/agent.pem' },
 * });
 * ```
 *
 * @public
 */
export function createToolkit(config: ServerConfig, ports: ToolkitPorts = {}): Toolkit {
  return buildToolkit(config, ports, undefined);
}

/** Builds a toolkit that keeps what a change of configuration does not touch: tokens by their identity, connections by their settings. */
export function buildToolkit(config: ServerConfig, ports: ToolkitPorts, previous: Toolkit | undefined): Toolkit {
  const customProviders = ports.identityProviders ?? {};
  const resolved = resolveConfig(config, new Set(Object.keys(customProviders)));
  const kept = previous === undefined ? undefined : PARTS.get(previous);
  const parts = platformParts(resolved, ports, kept);
  const container = new Container({ defaultScope: 'Singleton', jitless: true });
  container.load(
    platformModule(parts),
    identityModule(resolved, {
      custom: customProviders,
      fetch: ports.identityFetch,
      fingerprintKey: parts.fingerprintKey,
      telemetry: parts.telemetry,
    }),
    domainModule(resolved),
  );
  const get = <S>(token: Token<S>): S => container.get<S>(token as ServiceIdentifier<S>);
  const broker = get(TOKENS.CredentialBroker);
  const forwarder = get(TOKENS.ChatForwarder);
  const site = siteSettings(resolved, parts);
  const toolkit: Toolkit = {
    chatHandler: (options: ChatHandlerOptions = {}): HttpHandler => {
      const plan = chatPlan(options, resolved.customProviders);
      const policy = plan.kind === 'session' ? resolved.sessionPolicy : resolved.servicePolicy;
      return chatRoutes({ site, forwarder, plan, policy });
    },
    authHeaders: async (options: AuthHeadersOptions = {}) => {
      const credential = await broker.obtain(servicePlan(options, resolved), NO_REQUEST);
      return { ...credential.headers } as Record<string, string>;
    },
    customProviders: resolved.customProviders,
    cachedServiceToken: () => broker.cachedServiceToken()?.value,
    close: () => parts.upstream.close(),
  };
  PARTS.set(toolkit, { ...parts, connectMs: resolved.timeouts.connectMs });
  return toolkit;
}

interface KeptParts extends PlatformParts {
  readonly connectMs: number;
}

/** What each toolkit runs on, for the toolkit that replaces it. */
const PARTS = new WeakMap<Toolkit, KeptParts>();

const NO_REQUEST = { headers: {}, native: { request: undefined } };

function platformParts(config: ResolvedConfig, ports: ToolkitPorts, kept: KeptParts | undefined): PlatformParts {
  const clock = ports.clock ?? systemClock;
  const telemetry = ports.telemetry ?? config.telemetry ?? silentTelemetry;
  const { connectMs } = config.timeouts;
  return {
    clock,
    telemetry,
    fingerprintKey: kept?.fingerprintKey ?? crypto.getRandomValues(new Uint8Array(32)),
    upstream: ports.upstream ?? (kept?.connectMs === connectMs ? kept.upstream : new UndiciUpstream({ connectMs })),
    tokens:
      kept !== undefined && kept.clock === clock && kept.telemetry === telemetry
        ? kept.tokens
        : new TokenCache({ clock, telemetry, random: ports.random ?? Math.random, maxEntries: MOST_TOKENS }),
  };
}

function siteSettings(config: ResolvedConfig, parts: PlatformParts): SiteSettings {
  return {
    telemetry: parts.telemetry,
    origins: { publicHost: hostOf(config.publicUrl), allowedOrigins: config.allowedOrigins },
    bodyLimitBytes: config.bodyLimitBytes,
    keepAliveMs: config.keepAliveMs,
    authUnavailableStatus: config.authUnavailableStatus,
    newRequestId,
    now: () => parts.clock.now(),
  };
}

function servicePlan({ strategy, apiKey }: AuthHeadersOptions, config: ResolvedConfig): CredentialPlan {
  checkStrategy(strategy, config.customProviders);
  return {
    kind: 'service',
    strategy: strategy ?? '',
    apiKey: headerSecret('apiKey', apiKey),
  };
}

function hostOf(publicUrl: string): string {
  const host = /^https?:\/\/([^/]+)/i.exec(publicUrl)?.[1]?.toLowerCase() ?? '';
  return host.replace(publicUrl.toLowerCase().startsWith('https:') ? /:443$/ : /:80$/, '');
}
