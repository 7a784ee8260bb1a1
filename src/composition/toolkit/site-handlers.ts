import { chatRoutes } from '../../adapters/web/chat-routes.js';
import { agentCardRoute, configRoute } from '../../adapters/web/config-route.js';
import { conversationRoutes } from '../../adapters/web/conversation-routes.js';
import { behindHostCheck } from '../../adapters/web/host-check.js';
import { httpJsonRoutes } from '../../adapters/web/http-json-routes.js';
import { refusal } from '../../adapters/web/error-response.js';
import type { RequestGate } from '../../adapters/web/request-gate.js';
import { errorContext, type SiteSettings } from '../../adapters/web/site-settings.js';
import { surfaceRoutes } from '../../adapters/web/surface-routes.js';
import { sha256 } from '../../adapters/system/sha256.js';
import type { ChatConfig } from '../../domain/chat/chat-config.js';
import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import type { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import type { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import { RenderCache } from '../../domain/surfaces/render-cache.js';
import type { SurfaceService } from '../../domain/surfaces/surface-service.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { RequestError } from '../../domain/errors.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { type ChatHandlerOptions, chatAuth } from '../routes/chat.js';
import { configAuth, timedAuth } from '../routes/get-headers-option.js';
import { newRequestId } from './request-id.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { routeFields, type SiteFieldOptions } from '../routes/site-fields.js';
import type { SessionAuths } from '../routes/session-auths.js';
import { serviceProxyAuth, type ServiceProxyOptions, type SurfaceSettings } from '../routes/surfaces.js';

/** What the handlers of a site are made of. */
export interface SiteHandlersDependencies {
  readonly config: ResolvedConfig;
  readonly site: SiteSettings;
  readonly gate: RequestGate;
  readonly sessions: SessionAuths;
  readonly forwarder: ChatForwarder;
  readonly chatConfig: ChatConfig;
  readonly httpJson: HttpJsonBinding;
  readonly surfaces: SurfaceService;
  readonly conversations: ConversationProxy;
  readonly renders: CacheStore;
  readonly clock: Clock;
}

/** Makes the handlers of one toolkit, each from its own options. */
export class SiteHandlers {
  readonly #deps: SiteHandlersDependencies;

  constructor(dependencies: SiteHandlersDependencies) {
    this.#deps = dependencies;
  }

  chat(options: ChatHandlerOptions): HttpHandler {
    return this.#served(this.#chat(options), 'chat');
  }

  #chat(options: ChatHandlerOptions): HttpHandler {
    const { site, forwarder, chatConfig, sessions, config } = this.#deps;
    const { publicUrl, bindings, agent, timeouts } = config;
    const auth = this.#withFields(chatAuth(options, sessions), options);
    const policy = auth.kind === 'session' ? config.sessionPolicy : config.servicePolicy;
    const lookupAuth = this.#withFields(
      timedAuth(configAuth(auth, options.configGetHeaders), timeouts.sessionMs),
      options,
    );
    const lookups = { site, config: chatConfig, auth: lookupAuth, policy, bindings, publicUrl, hash: shortHash };
    const rest = { site, binding: this.#deps.httpJson, auth, policy, bindings, publicUrl };
    return chatRoutes({
      site,
      forwarder,
      auth,
      policy,
      publicUrl,
      served: { bindings, ...(agent === undefined ? {} : { agentOrigin: agent.origin }) },
      config: configRoute(lookups),
      card: agentCardRoute(lookups),
      ...(bindings.includes('HTTP+JSON') ? { httpJson: httpJsonRoutes(rest) } : {}),
    });
  }

  surfaces(surfaces: SurfaceSettings, options: SiteFieldOptions): HttpHandler {
    const { cache: settings } = surfaces;
    const auth = this.#withFields(surfaces.auth, options);
    const { site, surfaces: service, renders: store, clock, config } = this.#deps;
    const cache =
      settings === undefined
        ? undefined
        : new RenderCache({ ...settings, store, clock, hash: sha256, newGeneration: () => crypto.randomUUID(), later });
    const routes = surfaceRoutes({ site, service, auth: timedAuth(auth, config.timeouts.sessionMs), cache });
    return this.#served(routes, 'surface');
  }

  conversations(options: ServiceProxyOptions): HttpHandler {
    const { site, conversations: proxy, sessions } = this.#deps;
    const auth = this.#withFields(serviceProxyAuth(options, sessions), options);
    const routes = conversationRoutes({ site, proxy, auth });
    return this.#served(routes, 'conversation');
  }

  #withFields<Plan extends RouteAuth>(auth: Plan, options: SiteFieldOptions): Plan {
    const { upstream, timeouts } = this.#deps.config;
    const fields = routeFields(options, { ownNames: Object.values(upstream.headers), sessionMs: timeouts.sessionMs });
    return fields === undefined ? auth : { ...auth, fields };
  }

  /** What is asked before a route is: by which name, and whether there is room. */
  #served(routes: HttpHandler, route: 'chat' | 'surface' | 'conversation'): HttpHandler {
    const { gate, site } = this.#deps;
    const refuse = (request: HttpRequest, error: RequestError): HttpResponse =>
      refusal(error, request, errorContext(site, route));
    const guarded = gate.guard(routes, refuse);
    return this.#observed(site.hosts === undefined ? guarded : behindHostCheck(guarded, site.hosts, refuse));
  }

  /** Gives each request its name before anything happens, where somebody listens. */
  #observed(handler: HttpHandler): HttpHandler {
    const { telemetry } = this.#deps.site;
    if (telemetry.runRequest === undefined) return handler;
    const run = telemetry.runRequest.bind(telemetry);
    return (request) => {
      const { method, headers } = request;
      return run({ requestId: newRequestId(), method, headers }, () => handler(request));
    };
  }
}

/** Long enough to tell two bodies apart, short enough for a header field. */
function shortHash(text: string): string {
  return sha256(text).slice(0, 32);
}

function later(ms: number, task: () => void): void {
  setTimeout(task, ms).unref();
}
