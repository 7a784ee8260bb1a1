import { type ChatForwarder, isExtendedCardMethod, rewriteExtendedCard } from '../../domain/chat/chat-forwarder.js';
import type { CardRewrite } from '../../domain/chat/agent-card.js';
import { readRpcMessage } from '../../domain/chat/chat-message.js';
import type { MethodPolicy } from '../../domain/chat/method-policy.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { methodNotAllowed, notFound, problemResponse, rpcErrorResponse, RpcErrors } from './error-response.js';
import { checkOrigin } from './origin-check.js';
import { chatAddress } from './public-address.js';
import { readJsonBody } from './read-body.js';
import { errorContext, serveRoute, type SiteSettings } from './serve-route.js';
import { checkVisitor } from './visitor-limit.js';

/** What the chat routes need. */
export interface ChatRoutes {
  readonly site: SiteSettings;
  readonly forwarder: ChatForwarder;
  readonly auth: RouteAuth;
  readonly policy: MethodPolicy;
  /** Serves `/config`; absent routes are 404. */
  readonly config?: HttpHandler;
  /** Serves the agent card at its well-known paths. */
  readonly card?: HttpHandler;
  /** Serves the rest of the paths, for clients of the HTTP+JSON binding; absent, they are 404. */
  readonly httpJson?: HttpHandler;
  /** The configured public address, for the cards in responses; without it, each request tells. */
  readonly publicUrl?: string;
  /** What those cards may promise besides the methods of the policy. Default: JSON-RPC. */
  readonly served?: Pick<CardRewrite, 'bindings' | 'agentOrigin' | 'platformOrigin'>;
}

const ROUTE = 'chat';
/** The name since A2A v0.3 (RFC 8615; A2A v1.0 §8.2), and the one before; clients take them for relative to the address they are given. */
const CARD = /^\/\.well-known\/agent(?:-card)?\.json$/;

/**
 * Routes below the chat mount point: `POST` on the mount itself (with and without slash), `GET /config` (spec §4.1),
 * the agent card at its well-known paths, and another binding where the site serves one.
 */
export function chatRoutes(routes: ChatRoutes): HttpHandler {
  return (request) => {
    const { method, path } = request;
    const isChat = method === 'POST' && (path === '' || path === '/');
    return isChat ? chat(routes, request) : other(routes, request);
  };
}

async function other(routes: ChatRoutes, request: HttpRequest): Promise<HttpResponse> {
  const { path } = request;
  if (path === '' || path === '/') return methodNotAllowed('POST', errorContext(routes.site, ROUTE));
  return handlerFor(path, routes)?.(request) ?? notFound(request, errorContext(routes.site, ROUTE));
}

function handlerFor(path: string, { config, card, httpJson }: ChatRoutes): HttpHandler | undefined {
  if (config !== undefined && (path === '/config' || path === '/config/')) return config;
  if (card !== undefined && CARD.test(path)) return card;
  return httpJson;
}

function chat(routes: ChatRoutes, request: HttpRequest): Promise<HttpResponse> {
  const errors = new RpcErrors();
  const { site, auth, policy, forwarder } = routes;
  return serveRoute({ site, route: ROUTE, errors }, request, async () => {
    checkOrigin(request, site.origins, auth.kind === 'session');
    if (site.chatLimit !== undefined && auth.kind !== 'session') await checkVisitor(request, site);
    const body = await readJsonBody(request, site);
    try {
      const { bytes } = body;
      const message = readRpcMessage(bytes, policy.scrutiny);
      errors.id = message.id;
      const response = await forwarder.forward({ head: request, body: bytes, message }, auth, policy);
      if (!isExtendedCardMethod(message.method)) return response;
      const { url } = chatAddress(request.publicUrl, routes.publicUrl ?? '');
      return await rewriteExtendedCard(response, { ...routes.served, url, policy });
    } finally {
      body.release();
    }
  });
}

/** A mount that can only say why it does not work; `chat` mounts say it to A2A clients. */
export function errorHandler(site: SiteSettings, cause: unknown, chat: boolean): HttpHandler {
  return (request) => {
    const context = errorContext(site, ROUTE);
    const isChat = chat && request.method === 'POST';
    return Promise.resolve(isChat ? rpcErrorResponse(cause, 'null', context) : problemResponse(cause, context));
  };
}
