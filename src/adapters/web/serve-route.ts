import type { ChatWatch } from '../../domain/chat/chat-watch.js';
import { discard, isBodiless, isStream, isEventStream } from '../../domain/shared/body.js';
import { browserFields } from '../../domain/upstream/browser-fields.js';
import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import { type ErrorContext, errorContext, type ErrorForm, errorResponse, PROBLEMS } from './error-response.js';
import type { SiteSettings } from './site-settings.js';
import { EventStream, ObservedBody } from './response-body.js';
import { isPlain, StreamWatch } from './stream-watch.js';

/** A route, as operators and clients know it. */
export interface ServedRoute {
  readonly site: SiteSettings;
  readonly route: string;
  /** The format of its errors. Default: problem documents. */
  readonly errors?: ErrorForm;
  /** The cookie that the response sets, written after the agent's fields, none of which may be a cookie. */
  cookie?: string | undefined;
  /** Learns the facts of a chat call; absent if no listener asks for them. */
  chat?: ChatWatch | undefined;
}

/** Serves one request: exceptions become responses, operators get an event, and a stream is observed until it ends. */
export async function serveRoute(
  served: ServedRoute,
  request: Pick<HttpRequest, 'method' | 'signal'>,
  respond: (context: ErrorContext) => Promise<HttpResponse> | HttpResponse,
): Promise<HttpResponse> {
  const { site, route, errors = PROBLEMS } = served;
  const startedAt = site.clock.now();
  const context = errorContext(site, route);
  let response: HttpResponse;
  try {
    response = withBrowserFields(await respond(context), site);
    const { cookie } = served;
    // The agent sets no cookie: `browserFields` drops it.
    if (cookie !== undefined) response = { ...response, headers: { 'set-cookie': cookie, ...response.headers } };
  } catch (error) {
    response = withBrowserFields(errorResponse(error, errors, context), site);
  }
  if (isBodiless(request.method, response.status)) response = withoutBody(response);
  const { body } = response;
  const coming = isStream(body) ? body : undefined;
  const streams = coming !== undefined && isEventStream(response.headers);
  const { chat } = served;
  chat?.begin(streams, isPlain(response.headers));
  if (chat !== undefined && coming === undefined) {
    if (body !== null && !isStream(body)) chat.push(typeof body === 'string' ? encoder.encode(body) : body);
    site.telemetry.emit(chat.end('complete', context.requestId, route));
  }
  site.telemetry.emit({
    type: 'request',
    requestId: context.requestId,
    route,
    method: request.method,
    status: response.status,
    durationMs: site.clock.now() - startedAt,
    ...(streams && { streams }),
    ...(chat !== undefined && coming !== undefined && { continues: true }),
  });
  if (coming === undefined) return response;
  const { requestId } = context;
  const { signal } = request;
  const watch = new StreamWatch({ site, route, requestId, errors, signal, isEvents: streams, startedAt, chat });
  // An event cannot be added to compressed bytes: they pass unchanged, and break where they break.
  const isWritable = errors.endsStreams && streams && isPlain(response.headers);
  return { ...response, body: isWritable ? new EventStream(coming, watch) : new ObservedBody(coming, watch) };
}

function withBrowserFields(response: HttpResponse, { fields }: SiteSettings): HttpResponse {
  const headers = browserFields(response.headers, fields);
  return headers === response.headers ? response : { ...response, headers };
}

/**
 * Some hosts wait for the bytes of a declared length; only a response to HEAD and a 304 may declare that of a body they
 * do not have (RFC 9110 §8.6).
 */
function withoutBody({ status, headers, body }: HttpResponse): HttpResponse {
  discard(body);
  const isEmpty = status === 204 || status === 205;
  return { status, headers: isEmpty ? { ...headers, 'content-length': undefined } : headers, body: null };
}

const encoder = new TextEncoder();
