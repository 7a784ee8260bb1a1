import type { ChatCallOptions, VisitorOf } from '../../adapters/web/chat-mount.js';
import { chatRoutes } from '../../adapters/web/chat-routes.js';
import { configRoute } from '../../adapters/web/config-route.js';
import { conversationRoutes } from '../../adapters/web/conversation-routes.js';
import { behindHostCheck } from '../../adapters/web/admission.js';
import { errorContext, refusal } from '../../adapters/web/error-response.js';
import { httpJsonRoutes } from '../../adapters/web/http-json-routes.js';
import type { RequestGate } from '../../adapters/web/request-gate.js';
import type { SiteSettings } from '../../adapters/web/door.js';
import { surfaceRoutes } from '../../adapters/web/surface-routes.js';
import { sha256 } from '../../adapters/system/system.js';
import type { ChatConfig } from '../../domain/chat/chat-config.js';
import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import type { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import {
  RenderCache,
  type RenderCacheDependencies,
  type RenderCacheSettings,
} from '../../domain/surfaces/render-cache.js';
import type { SurfaceService } from '../../domain/surfaces/surface-service.js';
import type { Clock } from '../../ports/clock.js';
import type { RequestError } from '../../domain/shared/errors.js';
import { invalidField } from '../../domain/shared/setting.js';
import { warnOnce } from '../../domain/shared/warnings.js';
import type { PlatformCall } from '../../domain/upstream/platform-call.js';
import type { HttpHandler, HttpRequest, HttpResponse, RequestContext } from '../../ports/http.js';
import { newRequestId } from '../../adapters/telemetry/request-scope.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { chosenNames } from '../config/upstream-config.js';
import { siteMetadata } from './site-metadata.js';
import type { RouteCredentials } from '../routes/route-credentials.js';
import type { ChatHandlerOptions, ServiceProxyOptions, SurfaceHandlerOptions } from '../routes/route-options.js';
import type { RouteFacts } from '../routes/route-shapes.js';

export interface SiteHandlersDependencies extends SiteParts {
  readonly config: ResolvedConfig;
  readonly site: SiteSettings;
  readonly routeCredentials: RouteCredentials;
  readonly stores: { readonly renders: () => Pick<RenderCacheDependencies, 'renders' | 'generations'> };
}

/** The parts of a toolkit that its handlers use directly. */
export interface SiteParts {
  readonly gate: RequestGate;
  readonly forwarder: ChatForwarder;
  readonly chatConfig: ChatConfig;
  readonly surfaces: SurfaceService;
  readonly conversations: ConversationProxy;
  readonly clock: Clock;
  readonly call: PlatformCall;
}

/** The handlers without private members, so that the toolkit of another copy of the package is compatible. */
export type RouteHandlers = Pick<SiteHandlers, keyof SiteHandlers>;

const RENDER_CACHE: RenderCacheSettings = {
  freshMs: 3_000,
  maxAgeMs: 300_000,
  maxEntryBytes: 1_048_576,
};

const OPEN =
  'Anyone who learns the id of a conversation can read and continue it: set "conversations" to "visitor", or to "open" if that is meant.';

/** Creates the handlers of one toolkit, each from options that `readOptions` has read. */
export class SiteHandlers {
  readonly credentials: RouteCredentials;
  readonly #deps: SiteHandlersDependencies;

  constructor(dependencies: SiteHandlersDependencies) {
    this.credentials = dependencies.routeCredentials;
    this.#deps = dependencies;
  }

  chat(options: ChatHandlerOptions): HttpHandler {
    const { site, forwarder, chatConfig, config } = this.#deps;
    const { publicUrl, bindings, sessionPolicy, servicePolicy } = config;
    const auth = this.credentials.chat(options);
    const policy = auth.kind === 'session' ? sessionPolicy : servicePolicy;
    const { tenant, conversations = config.conversations } = options;
    if (conversations === undefined && auth.kind !== 'session' && config.agent !== undefined)
      warnOnce(site.telemetry, 'conversations_open', OPEN);
    const metadata = siteMetadata(options, conversations, config.timeouts.sessionMs, site.telemetry);
    const call = { tenant, metadata };
    const visitor = conversations === 'visitor' ? this.#visitor(auth, options, call) : refuseVisitorOptions(options);
    const shared = { site, auth, policy, bindings, publicUrl, visitor, options: call };
    // Long enough to distinguish two bodies, short enough for a header field.
    const hash = (text: string): string => sha256(text).slice(0, 32);
    const lookups = { ...shared, chatConfig, auth: this.credentials.lookups(auth, options), hash };
    const routes = chatRoutes({
      ...shared,
      forwarder,
      configRoute: configRoute(lookups, 'record'),
      card: configRoute(lookups, 'agentCard'),
      ...(bindings.includes('HTTP+JSON') && { httpJson: httpJsonRoutes({ ...shared, forwarder }) }),
    });
    return this.#served(routes, 'chat');
  }

  /**
   * Recognises visitors with code that only such routes load.
   *
   * @throws ConfigurationError when the site names its users, and there is no key for them.
   */
  #visitor(auth: RouteAuth, options: ChatHandlerOptions, shared: ChatCallOptions): VisitorOf {
    const { config, call, clock, site } = this.#deps;
    const isNamed = auth.kind === 'session' || options.visitor !== undefined;
    if (isNamed && config.cacheKeys.length === 0) {
      const hint = 'Set "cacheKeys" in configureServer; make one with "openssl rand -base64 32".';
      throw invalidField('cacheKeys', 'Conversations of signed-in users need a key, and none is configured.', hint);
    }
    const { telemetry } = site;
    const { errors } = call;
    let known: VisitorOf | undefined;
    const load = async (): Promise<VisitorOf> => {
      const { visitorConversations } = await import('./visitor-conversations.js');
      const { bodies } = site;
      return (known ??= visitorConversations({ auth, options, shared, config, clock, telemetry, errors, bodies }));
    };
    return (request, countLookup) =>
      known?.(request, countLookup) ?? load().then((visitor) => visitor(request, countLookup));
  }

  /** The facts that decide which values of a route's options are valid. */
  get facts(): RouteFacts {
    const { customProviders, upstream } = this.#deps.config;
    return { customProviders, ownFields: chosenNames(upstream.headers) };
  }

  /** The address and the interfaces of the agent's card, as the chat's config route finds it. */
  cardFacts(version: string, request: RequestContext): ReturnType<ChatConfig['cardFacts']> {
    const auth = this.credentials.lookups(this.credentials.chat({}), {});
    return this.#deps.chatConfig.cardFacts(version, request, auth);
  }

  surfaces(auth: RouteAuth, options: Pick<SurfaceHandlerOptions, 'cache'>): HttpHandler {
    const { site, surfaces: service, stores, clock } = this.#deps;
    const { enabled, ...given } = options.cache ?? {};
    const settings = { ...RENDER_CACHE, ...given } as RenderCacheSettings;
    const cache = enabled === true ? new RenderCache({ ...settings, clock, ...stores.renders() }) : undefined;
    return this.#served(surfaceRoutes({ site, service, auth, cache }), 'surface');
  }

  conversations(options: ServiceProxyOptions): HttpHandler {
    const { site, conversations: proxy } = this.#deps;
    const auth = this.credentials.session(options.auth, { ...options, route: 'conversation' });
    const routes = conversationRoutes({ site, proxy, auth });
    return this.#served(routes, 'conversation');
  }

  /** A route behind the first checks: capacity and host name. */
  #served(routes: HttpHandler, route: 'chat' | 'surface' | 'conversation'): HttpHandler {
    const { gate, site } = this.#deps;
    const refuse = (request: HttpRequest, error: RequestError): HttpResponse =>
      refusal(error, request, errorContext(site, route));
    return this.#observed(gate.guard(behindHostCheck(routes, site.hosts, refuse), refuse));
  }

  /** Assigns an id to each request before anything else, if there is a listener. */
  #observed(handler: HttpHandler): HttpHandler {
    const { telemetry } = this.#deps.site;
    if (telemetry.runRequest === undefined) return handler;
    const run = telemetry.runRequest.bind(telemetry);
    return (request) => {
      const { method, headers, publicUrl, path } = request;
      return run({ requestId: newRequestId(), method, headers, publicUrl, path }, () => handler(request));
    };
  }
}

/**
 * Returns `undefined` for open conversations.
 *
 * @throws ConfigurationError when an option says who a visitor is: a site that sets it expects to be protected.
 */
function refuseVisitorOptions(options: ChatHandlerOptions): undefined {
  const useless = (['visitor', 'ownsContext', 'visitorMaxAge'] as const).find((name) => options[name] !== undefined);
  if (useless === undefined) return undefined;
  const detail = `The option "${useless}" has no effect, because conversations are open to anyone who knows their id.`;
  const hint = `Set "conversations" to "visitor", here or in configureServer, or leave "${useless}" out.`;
  throw invalidField('conversations', detail, hint);
}
