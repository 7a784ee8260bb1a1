import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import { ChatWatch } from '../../domain/chat/chat-watch.js';
import { readRpcMessage } from '../../domain/chat/chat-message.js';
import { type HttpJsonBinding, httpJsonCall } from '../../domain/chat/http-json-binding.js';
import type { ChatCallOptions } from '../../domain/chat/conversations.js';
import { type MessageBody, namesIn } from '../../domain/chat/message-edits.js';
import { canonical, type MethodPolicy, readsOn, startsWork } from '../../domain/chat/method-policy.js';
import { mayHoldSession, type RouteAuth } from '../../domain/credentials/route-auth.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import { readStart } from '../../domain/upstream/body-bytes.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { checkOrigin, checkVisitor } from './admission.js';
import {
  errorContext,
  errorResponse,
  type ErrorSite,
  methodNotAllowed,
  notFound,
  PROBLEMS,
  REST_ERRORS,
  RPC_ERRORS,
} from './error-response.js';
import { type BodyLimits, type JsonBody, readJsonBody } from './request-body.js';
import { type ServedRoute, serveRoute } from './serve-route.js';
import type { SiteSettings } from './site-settings.js';

/** Settings shared by all routes below a chat mount. */
export interface ChatMount {
  readonly site: SiteSettings;
  readonly auth: RouteAuth;
  readonly policy: MethodPolicy;
  /** Protocol bindings of the chat routes. */
  readonly bindings: readonly string[];
  /** The configured public address; empty if there is none. */
  readonly publicUrl: string;
  /** Recognises the visitor of a request; absent if conversations are open to anyone who knows their id. */
  readonly visitor?: VisitorOf | undefined;
  /** The rules for messages. */
  readonly options?: ChatCallOptions | undefined;
}

/** Adds the visitor to the options of a call. Returns a promise only if a function of the site is called. */
export type VisitorOf = (
  request: HttpRequest,
  countLookup: () => Promise<void>,
) => VisitedOptions | Promise<VisitedOptions>;

/** The options of one visitor's call; without visitors, those of the route. */
export interface VisitedOptions extends ChatCallOptions {
  /** A text unique to this visitor, not necessarily secret. */
  readonly key?: string;
  /** A value of `Set-Cookie`, for the response to a message; absent if none is due. */
  readonly cookie?: string | undefined;
}

export interface ChatRoutes extends ChatMount {
  readonly forwarder: ChatForwarder;
  /** Serves `/config`; if absent, it is 404. */
  readonly configRoute?: HttpHandler;
  /** Serves the agent card at its well-known paths. */
  readonly card?: HttpHandler;
  /** Serves the remaining paths, for clients of the HTTP+JSON binding; if absent, they are 404. */
  readonly httpJson?: HttpHandler;
}

const ROUTE = 'chat';
/** The name since A2A v0.3 (RFC 8615; A2A v1.0 §8.2), and the previous one; clients resolve them relative to the address. */
const CARD = /^\/\.well-known\/agent(?:-card)?\.json$/;

/**
 * Routes below the chat mount point: `POST` on the mount itself (with and without trailing slash), `GET /config`, the
 * agent card at its well-known paths, and another binding if the site serves one.
 */
export function chatRoutes(routes: ChatRoutes): HttpHandler {
  return (request) => {
    const { method, path } = request;
    const isChat = method === 'POST' && (path === '' || path === '/');
    return isChat ? chat(routes, request) : other(routes, request);
  };
}

async function other({ site, configRoute, card, httpJson }: ChatRoutes, request: HttpRequest): Promise<HttpResponse> {
  const { path } = request;
  if (path === '' || path === '/') return methodNotAllowed('POST', errorContext(site, ROUTE));
  const isConfig = path === '/config' || path === '/config/';
  const handler = isConfig ? configRoute : CARD.test(path) ? card : httpJson;
  return handler?.(request) ?? notFound(request, errorContext(site, ROUTE));
}

function chat(routes: ChatRoutes, request: HttpRequest): Promise<HttpResponse> {
  const errors = { ...RPC_ERRORS };
  const { site, auth, policy, bindings, forwarder, visitor } = routes;
  const served: ServedRoute = { site, route: ROUTE, errors };
  return serveRoute(served, request, async () => {
    checkOrigin(request, site.origins, true);
    const body = await readJsonBody(request, site);
    try {
      const { bytes } = body;
      const { scrutiny = policy.scrutiny, isPlaced } = routes.options?.reading ?? {};
      const message = readRpcMessage(bytes, scrutiny, isPlaced);
      errors.id = message.id;
      if (site.chatLimit !== undefined || site.userLimit !== undefined) {
        const isReading = message.fault === undefined && readsOn(message.method);
        await checkVisitor(request, site, auth, isReading ? 'reading' : 'message');
      }
      const visit = visitor?.(request, () => checkVisitor(request, site, auth, 'reading'));
      const options: VisitedOptions = (visit instanceof Promise ? await visit : visit) ?? routes.options ?? {};
      if (site.digest !== undefined) served.chat = watched(site, options, message.method, { bytes, message });
      const response = await forwarder.forward({ head: request, body: bytes, message }, auth, policy, options);
      if (options.cookie !== undefined && startsWork(message.method)) served.cookie = options.cookie;
      if (canonical(message.method) !== 'GetExtendedAgentCard') return response;
      const { url } = chatAddress(request.publicUrl, routes.publicUrl);
      return await forwarder.toExtendedCard(response, { url, policy, bindings });
    } finally {
      body.share.release();
    }
  });
}

/** Watches a call if a listener asks for `chat` events. */
function watched(
  { digest, clock }: SiteSettings,
  { key }: VisitedOptions,
  method: string,
  body?: MessageBody,
  task?: string,
): ChatWatch | undefined {
  if (digest === undefined) return undefined;
  const { contextId, taskId = task } = namesIn({ body });
  return new ChatWatch({ clock, digest }, { method, visitor: key, contextId, taskId });
}

export interface HttpJsonRoutes extends ChatMount {
  readonly binding: HttpJsonBinding;
}

const JSON_TYPES = ['application/json', 'application/a2a+json'];

/** Routes below the chat mount point for clients of the HTTP+JSON binding, v1.0 and v0.3; all other paths are 404. */
export function httpJsonRoutes(routes: HttpJsonRoutes): HttpHandler {
  const { site, auth, policy, bindings, visitor } = routes;
  return async (request) => {
    const call = httpJsonCall(request.path);
    if (call === undefined) return notFound(request, errorContext(site, ROUTE));
    if (!Object.hasOwn(call.methods, request.method)) {
      return methodNotAllowed(Object.keys(call.methods).join(', '), errorContext(site, ROUTE));
    }
    const served: ServedRoute = { site, route: ROUTE, errors: REST_ERRORS };
    return serveRoute(served, request, async () => {
      checkOrigin(request, site.origins, mayHoldSession(auth) || visitor !== undefined);
      const isReading = readsOn(call.methods[request.method] ?? '');
      await checkVisitor(request, site, auth, isReading ? 'reading' : 'message');
      const { url } = chatAddress(request.publicUrl, routes.publicUrl);
      const body = await bodyOf(request, site);
      try {
        const visit = visitor?.(request, () => checkVisitor(request, site, auth, 'reading'));
        const options: VisitedOptions = (await visit) ?? routes.options ?? {};
        served.chat = watched(site, options, call.methods[request.method] ?? '', undefined, call.taskId);
        const rewrite = { url, policy, bindings };
        const passed = await routes.binding.forward({ head: request, call, body }, auth, policy, rewrite, options);
        if (startsWork(call.methods[request.method] ?? '')) served.cookie = options.cookie;
        return passed;
      } finally {
        body?.share.release();
      }
    });
  };
}

/** Cancelling and subscribing need no body, so a missing one is not an error. */
async function bodyOf(request: HttpRequest, limits: BodyLimits): Promise<JsonBody | undefined> {
  if (request.method !== 'POST' || (request.body === null && !request.bodyConsumed)) return undefined;
  return readJsonBody(request, limits, JSON_TYPES);
}

/** The public address of the chat route. */
export interface PublicAddress {
  /** Scheme, host and path, such as `https://site.example/api/a2a`. */
  readonly url: string;
  /** The path alone. */
  readonly path: string;
}

/**
 * The public address of the chat route, from the address of a request to it (or to its `/config`). Scheme and host of a
 * configured public address win: behind a TLS terminator the request does not show them. A path in the configured
 * address is put before the mount path, unless the host application already mounted the route below it.
 */
export function chatAddress(requested: string, configured: string): PublicAddress {
  const { origin, path } = split(requested);
  const mount = withoutTrailingSlashes(path).replace(/\/config$/, '');
  if (configured === '') return { url: origin + mount, path: mount === '' ? '/' : mount };
  const site = split(configured);
  const prefix = withoutTrailingSlashes(site.path);
  const full = mount === prefix || mount.startsWith(`${prefix}/`) ? mount : prefix + mount;
  return { url: site.origin + full, path: full === '' ? '/' : full };
}

function split(address: string): { readonly origin: string; readonly path: string } {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?#]*)([^?#]*)/i.exec(address) ?? [];
  return { origin, path };
}

/** Responds to every request of a mount that cannot work with its error; on `chat` mounts in the form of A2A. */
export function errorHandler(site: ErrorSite, cause: unknown, chat: boolean): HttpHandler {
  return async (request) => {
    const isChat = chat && request.method === 'POST';
    const form = isChat ? { ...RPC_ERRORS, id: await idOf(request) } : PROBLEMS;
    return errorResponse(cause, form, errorContext(site, ROUTE));
  };
}

const MAX_READ = 65_536;
const READ_MS = 1_000;

/** The id of a JSON-RPC request that is not served; `null` if it is long or arrives slowly. */
async function idOf({ body }: HttpRequest): Promise<string> {
  const { bytes, isWhole } = await readStart(body, MAX_READ, AbortSignal.timeout(READ_MS));
  return isWhole ? readRpcMessage(bytes, 'method').id : 'null';
}
