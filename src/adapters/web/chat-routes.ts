import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import { rpcIdOf } from '../../domain/chat/json-rpc.js';
import type { MethodPolicy } from '../../domain/chat/method-policy.js';
import type { CredentialPlan } from '../../domain/credentials/credential-broker.js';
import { UpstreamError } from '../../domain/errors.js';
import { isEventStream } from '../../domain/upstream/header-policy.js';
import type { HttpBody, HeaderFields, HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { methodNotAllowed, notFound, problemResponse, rpcErrorResponse, rpcErrorText } from './error-response.js';
import { EventStream } from './event-stream.js';
import { checkOrigin } from './origin-check.js';
import { type JsonBody, readJsonBody } from './read-body.js';
import { errorContext, type SiteSettings } from './site-settings.js';

/** What the chat routes need. */
export interface ChatRoutes {
  readonly site: SiteSettings;
  readonly forwarder: ChatForwarder;
  readonly plan: CredentialPlan;
  readonly policy: MethodPolicy;
  /** Answers `GET /config`; absent routes are 404. */
  readonly config?: HttpHandler;
}

const ROUTE = 'chat';

/** Routes below the chat mount point: `POST` on the mount itself (with and without slash) and `GET /config` (spec §4.1). */
export function chatRoutes(routes: ChatRoutes): HttpHandler {
  return async (request) => {
    const { path } = request;
    if (path === '' || path === '/') {
      if (request.method === 'POST') return chat(routes, request);
      return methodNotAllowed('POST', errorContext(routes.site, ROUTE));
    }
    if (routes.config !== undefined && (path === '/config' || path === '/config/')) {
      if (request.method === 'GET' || request.method === 'HEAD') return routes.config(request);
      return methodNotAllowed('GET, HEAD', errorContext(routes.site, 'config'));
    }
    return notFound(errorContext(routes.site, ROUTE));
  };
}

async function chat(routes: ChatRoutes, request: HttpRequest): Promise<HttpResponse> {
  const { site } = routes;
  const startedAt = site.now();
  const context = errorContext(site, ROUTE);
  let body: JsonBody | undefined;
  let response: HttpResponse;
  try {
    checkOrigin(request, site.origins, routes.plan.kind === 'session');
    body = await readJsonBody(request, site.bodyLimitBytes);
    response = await routes.forwarder.forward({ head: request, ...forwarded(body) }, routes.plan, routes.policy);
  } catch (error) {
    response = rpcErrorResponse(error, requestId(body), context);
  }
  site.telemetry.emit({
    type: 'request',
    requestId: context.requestId,
    route: ROUTE,
    method: request.method,
    status: response.status,
    durationMs: site.now() - startedAt,
  });
  return isStream(response.body) && isReadableEventStream(response.headers)
    ? { ...response, body: watched(response.body, routes, request, context.requestId, body) }
    : response;
}

function forwarded(body: JsonBody): { body: JsonBody['bytes'] } & Pick<JsonBody, 'parsed' | 'text'> {
  return { body: body.bytes, parsed: body.parsed, text: body.text };
}

function watched(
  stream: AsyncIterable<Uint8Array>,
  { site }: ChatRoutes,
  request: HttpRequest,
  id: string,
  body: JsonBody | undefined,
): EventStream {
  return new EventStream(stream, {
    keepAliveMs: site.keepAliveMs,
    brokenEvent: () => `event: error\ndata: ${rpcErrorText(interrupted(), requestId(body), id)}\n\n`,
    onBroken: (error) => {
      site.telemetry.emit({
        type: 'stream_broken',
        route: ROUTE,
        side: request.signal.aborted ? 'browser' : 'upstream',
        detail: error instanceof Error ? error.message : 'unknown',
      });
    },
  });
}

function interrupted(): UpstreamError {
  return new UpstreamError('upstream_unreachable', {
    detail: 'The connection to the agent was lost before the answer was complete.',
    hint: 'Subscribe to the task again, or send the message again.',
    retryable: true,
  });
}

/** The id the browser gave its request, when the body can still be read for it. */
function requestId(body: JsonBody | undefined): string | number | null {
  try {
    return rpcIdOf(body?.parsed());
  } catch {
    return null;
  }
}

/** Into compressed bytes nothing can be added: they pass as they are, and break as they break. */
function isReadableEventStream(headers: HeaderFields): boolean {
  const coding = headers['content-encoding'];
  return isEventStream(headers) && (coding === undefined || coding === 'identity');
}

function isStream(body: HttpBody): body is AsyncIterable<Uint8Array> {
  return body !== null && typeof body === 'object' && !(body instanceof Uint8Array);
}

/** A mount that can only say why it does not work. */
export function failing(site: SiteSettings, cause: unknown): HttpHandler {
  return (request) => {
    const context = errorContext(site, ROUTE);
    const isChat = request.method === 'POST';
    return Promise.resolve(isChat ? rpcErrorResponse(cause, null, context) : problemResponse(cause, context));
  };
}
