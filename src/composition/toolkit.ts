import { Container, type ServiceIdentifier } from 'inversify';
import type { SiteSettings } from '../adapters/web/site-settings.js';
import type { CredentialPlan } from '../domain/credentials/credential-broker.js';
import type { ServerConfig } from './config.js';
import { domainModule } from './domain-module.js';
import { headerSecret } from './header-secret.js';
import { type Identities, identityModule } from './identity-module.js';
import { platformModule } from './platform-module.js';
import { type KeptParts, platformParts } from './platform-parts.js';
import type { ToolkitPorts } from './ports.js';
import { newRequestId } from './request-id.js';
import { type ResolvedConfig, resolveConfig } from './resolve-config.js';
import { SessionPlans } from './session-plans.js';
import { SiteHandlers } from './site-handlers.js';
import { serviceSurfaceHandlerPlan, surfaceHandlerPlan } from './surface-options.js';
import { surfaceRouterPlan } from './surface-router-options.js';
import { sessionRequest } from './session-request.js';
import { checkStrategy } from './strategy-names.js';
import { tokenExchange } from './token-exchange.js';
import { TOKENS, type Token } from './tokens.js';
import type { AuthHeadersOptions, Toolkit } from './toolkit-type.js';

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
  const identities: Identities = {
    custom: customProviders,
    fetch: ports.identityFetch,
    fingerprintKey: parts.fingerprintKey,
    telemetry: parts.telemetry,
  };
  container.load(platformModule(parts), identityModule(resolved, identities), domainModule(resolved));
  const get = <S>(token: Token<S>): S => container.get<S>(token as ServiceIdentifier<S>);
  const broker = get(TOKENS.CredentialBroker);
  const sessions = new SessionPlans({
    clock: parts.clock,
    tokens: parts.tokens,
    exchange: ports.tokenExchange ?? tokenExchange(resolved, identities, parts.clock),
    alwaysExchange: resolved.onBehalfOf.configured,
    customProviders: resolved.customProviders,
  });
  const handlers = new SiteHandlers({
    config: resolved,
    site: siteSettings(resolved, parts),
    sessions,
    forwarder: get(TOKENS.ChatForwarder),
    chatConfig: get(TOKENS.ChatConfig),
    httpJson: get(TOKENS.HttpJsonBinding),
    surfaces: get(TOKENS.SurfaceService),
    conversations: get(TOKENS.ConversationProxy),
    renders: parts.renders,
    clock: parts.clock,
  });
  const directory = get(TOKENS.PlatformDirectory);
  const configuredKey = { apiKey: resolved.serviceApiKey, apiKeyHeader: resolved.upstream.headers.apiKey };
  const toolkit: Toolkit = {
    chatHandler: (options = {}) => handlers.chat(options),
    surfaceRouter: (options = {}) => handlers.surfaces(surfaceRouterPlan(options, configuredKey, sessions)),
    surfaceHandler: (options = {}) => handlers.surfaces(surfaceHandlerPlan(options, sessions)),
    serviceSurfaceHandler: (options = {}) =>
      handlers.surfaces(serviceSurfaceHandlerPlan(options, resolved.customProviders)),
    conversationHandler: (options) => handlers.conversations(options),
    projectId: async () => (await directory.resolve('project', SERVICE, NO_REQUEST)).value,
    brandCss: async () => (await directory.resolve('brand', SERVICE, NO_REQUEST)).value ?? '',
    authHeaders: async (options: AuthHeadersOptions = {}) => {
      const credential = await broker.obtain(servicePlan(options, resolved), NO_REQUEST);
      return { ...credential.headers } as Record<string, string>;
    },
    sessionHeaders: async ({ authClient, audience = '', apiKey }, request) => {
      const session = sessions.planFor(authClient, audience, false);
      const plan: CredentialPlan = {
        kind: 'session',
        required: true,
        apiKey: headerSecret('apiKey', apiKey),
        ...session,
      };
      return { ...(await broker.obtain(plan, sessionRequest(request))).headers } as Record<string, string>;
    },
    customProviders: resolved.customProviders,
    cachedServiceToken: () => broker.cachedServiceToken()?.value,
    close: () => parts.upstream.close(),
  };
  PARTS.set(toolkit, parts);
  if (previous?.cachedServiceToken() !== undefined) void broker.recall();
  return toolkit;
}

/** What each toolkit runs on, for the toolkit that replaces it. */
const PARTS = new WeakMap<Toolkit, KeptParts>();

/** The configured strategy, for what nobody in particular asks. */
const SERVICE: CredentialPlan = { kind: 'service', strategy: '', apiKey: undefined };

const NO_REQUEST = { headers: {}, native: { request: undefined } };

function siteSettings(config: ResolvedConfig, parts: KeptParts): SiteSettings {
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
