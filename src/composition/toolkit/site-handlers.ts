import { chatRoutes, httpJsonRoutes } from '../../adapters/web/chat-routes.js';
import { agentCardRoute, configRoute } from '../../adapters/web/config-route.js';
import { conversationRoutes } from '../../adapters/web/conversation-routes.js';
import { behindHostCheck } from '../../adapters/web/admission.js';
import { refusal } from '../../adapters/web/error-response.js';
import type { RequestGate } from '../../adapters/web/request-gate.js';
import { errorContext, type SiteSettings } from '../../adapters/web/serve-route.js';
import { surfaceRoutes } from '../../adapters/web/surface-routes.js';
import { sha256 } from '../../adapters/system/system.js';
import type { ChatConfig } from '../../domain/chat/chat-config.js';
import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import type { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import type { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import { RenderCache, type RenderCacheSettings } from '../../domain/surfaces/render-cache.js';
import type { SurfaceService } from '../../domain/surfaces/surface-service.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { RequestError } from '../../domain/shared/errors.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { newRequestId } from '../../adapters/telemetry/request-scope.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { RouteAuths } from '../routes/route-auths.js';
import type {
  ChatHandlerOptions,
  RenderCacheOptions,
  ServiceProxyOptions,
  SiteFieldOptions,
} from '../routes/route-options.js';
import { routeFields } from '../routes/site-fields.js';

/** What the handlers of a site are made of. */
export interface SiteHandlersDependencies {
  readonly config: ResolvedConfig;
  readonly site: SiteSettings;
  readonly gate: RequestGate;
  readonly auths: RouteAuths;
  readonly forwarder: ChatForwarder;
  readonly chatConfig: ChatConfig;
  readonly httpJson: HttpJsonBinding;
  readonly surfaces: SurfaceService;
  readonly conversations: ConversationProxy;
  readonly renders: CacheStore;
  readonly clock: Clock;
}

/** What every widget route may be told besides whose credential it attaches. */
interface SurfaceOptions extends SiteFieldOptions {
  readonly cache?: RenderCacheOptions | undefined;
}

const RENDER_CACHE: RenderCacheSettings = {
  freshMs: 3_000,
  maxAgeMs: 300_000,
  maxEntries: 500,
  maxEntryBytes: 1_048_576,
};

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
    const { site, forwarder, chatConfig, auths, config } = this.#deps;
    const { publicUrl, bindings, agent } = config;
    const auth = this.#withFields(auths.chat(options), options);
    const policy = auth.kind === 'session' ? config.sessionPolicy : config.servicePolicy;
    const lookupAuth = this.#withFields(auths.config(auth, options.configGetHeaders), options);
    const lookups = { site, config: chatConfig, auth: lookupAuth, policy, bindings, publicUrl, hash: shortHash };
    const rest = { site, binding: this.#deps.httpJson, auth, policy, bindings, publicUrl };
    return chatRoutes({
      site,
      forwarder,
      auth,
      policy,
      publicUrl,
      served: {
        bindings,
        platformOrigin: config.serviceApi?.origin,
        ...(agent === undefined ? {} : { agentOrigin: agent.origin }),
      },
      config: configRoute(lookups),
      card: agentCardRoute(lookups),
      ...(bindings.includes('HTTP+JSON') ? { httpJson: httpJsonRoutes(rest) } : {}),
    });
  }

  surfaces(routeAuth: RouteAuth, options: SurfaceOptions): HttpHandler {
    const settings = renderCacheSettings(options.cache);
    const auth = this.#withFields(routeAuth, options);
    const { site, surfaces: service, renders: store, clock } = this.#deps;
    const cache =
      settings === undefined
        ? undefined
        : new RenderCache({ ...settings, store, clock, hash: sha256, newGeneration: () => crypto.randomUUID(), later });
    const routes = surfaceRoutes({ site, service, auth, cache });
    return this.#served(routes, 'surface');
  }

  conversations(options: ServiceProxyOptions): HttpHandler {
    const { site, conversations: proxy, auths } = this.#deps;
    const auth = this.#withFields(auths.conversations(options), options);
    const routes = conversationRoutes({ site, proxy, auth });
    return this.#served(routes, 'conversation');
  }

  #withFields<Auth extends RouteAuth>(auth: Auth, options: SiteFieldOptions): Auth {
    const { config, site } = this.#deps;
    const { apiKey, projectId } = config.upstream.headers;
    const fields = routeFields(options, {
      sent: {
        ...(config.serviceApiKey === undefined ? {} : { [apiKey]: '"serviceApiKey"' }),
        ...(config.serviceProjectId === '' ? {} : { [projectId]: '"serviceProjectId"' }),
      },
      warn: (detail) => site.telemetry.emit({ type: 'warning', code: 'field_replaced', detail }),
      sessionMs: config.timeouts.sessionMs,
    });
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

/** Completes the option `cache`, as `readOptions` has read it; `undefined` when renders are not kept. */
export function renderCacheSettings({ enabled, ...given }: RenderCacheOptions = {}): RenderCacheSettings | undefined {
  return enabled === true ? ({ ...RENDER_CACHE, ...given } as RenderCacheSettings) : undefined;
}

/** Long enough to tell two bodies apart, short enough for a header field. */
function shortHash(text: string): string {
  return sha256(text).slice(0, 32);
}

function later(ms: number, task: () => void): void {
  setTimeout(task, ms).unref();
}
