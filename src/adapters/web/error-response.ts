import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { AgentBffError, type ErrorCode, isAgentBffError } from '../../domain/shared/errors.js';

/** The only place that knows status numbers of our own. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  configuration_invalid: 500,
  service_auth_failed: 401,
  identity_provider_unavailable: 401,
  service_token_rejected: 401,
  session_required: 401,
  session_expired: 401,
  interaction_required: 403,
  origin_refused: 403,
  host_refused: 421,
  rate_limited: 429,
  body_invalid: 400,
  body_too_large: 413,
  body_consumed: 500,
  body_timeout: 408,
  content_type_unsupported: 400,
  content_encoding_unsupported: 415,
  method_denied: 200,
  method_not_allowed: 405,
  not_found: 404,
  upgrade_unsupported: 501,
  upstream_unreachable: 502,
  upstream_timeout: 504,
  upstream_redirect: 502,
  upstream_invalid_response: 502,
  upstream_error: 502,
  agent_binding_unsupported: 502,
  server_busy: 503,
  server_closing: 503,
  internal_error: 500,
};

/** Titles that say more than the words of their code. */
const TITLE: Partial<Readonly<Record<ErrorCode, string>>> = {
  service_auth_failed: 'Service authentication failed',
  rate_limited: 'Too many requests',
  body_consumed: 'Body already consumed',
  upstream_invalid_response: 'Upstream response invalid',
};

/** A year: platforms and providers choose the number, and longer ones are not written in digits. */
const MAX_RETRY_AFTER_S = 31_536_000;

/** JSON-RPC codes that differ from -32603 (JSON-RPC 2.0 §5.1; A2A v1.0 §9.5). */
const RPC_CODE: Partial<Readonly<Record<ErrorCode, number>>> = {
  body_invalid: -32700,
  content_type_unsupported: -32005,
  method_denied: -32601,
};

/** What an error response is made for: which request, and how it is told to operators. */
export interface ErrorContext {
  readonly requestId: string;
  readonly route: string;
  readonly telemetry: Telemetry;
  /** Status of `identity_provider_unavailable`. */
  readonly authUnavailableStatus: number;
}

/** How a route writes its errors. */
export interface ErrorForm {
  /** A whole response. */
  response(cause: unknown, context: ErrorContext): HttpResponse;
  /** The data of an event, on one line; absent where a stream that breaks gets no event. */
  eventData?(error: AgentBffError, requestId: string): string;
}

/** An RFC 9457 problem document. */
export function problemResponse(cause: unknown, context: ErrorContext): HttpResponse {
  const error = toAgentBffError(cause);
  const status = report(error, context);
  const problem = {
    type: `urn:agent-bff:error:${error.code}`,
    title: titleOf(error.code),
    status,
    code: error.code,
    detail: error.detail,
    hint: error.hint,
    block: error.block,
    fields: error.fields.length === 0 ? undefined : error.fields,
    retryable: error.retryable,
    requestId: context.requestId,
  };
  return { status, headers: headers(error, status, 'application/problem+json'), body: JSON.stringify(problem) };
}

export const PROBLEMS: ErrorForm = { response: problemResponse };

/** Errors of one JSON-RPC request, in whose response its id is repeated. */
export class RpcErrors implements ErrorForm {
  /** JSON text; `null` until the request has been read. */
  id: string = 'null';

  response(cause: unknown, context: ErrorContext): HttpResponse {
    return rpcErrorResponse(cause, this.id, context);
  }

  eventData(error: AgentBffError, requestId: string): string {
    return rpcErrorText(error, this.id, requestId);
  }
}

/** The same error as a JSON-RPC response, which every A2A client shows to its user; the id is JSON text. */
export function rpcErrorResponse(cause: unknown, id: string, context: ErrorContext): HttpResponse {
  const error = toAgentBffError(cause);
  const status = report(error, context);
  return {
    status,
    headers: headers(error, status, 'application/json'),
    body: rpcErrorText(error, id, context.requestId),
  };
}

/** One JSON-RPC error object as text, on one line so that it also fits an event. */
function rpcErrorText(error: AgentBffError, id: string, requestId: string): string {
  const body = JSON.stringify({
    code: error.rpcCode ?? RPC_CODE[error.code] ?? -32603,
    message: error.message,
    data: [errorInfo(error, requestId)],
  });
  // As the client wrote it: a number beyond 2^53 would come back as another one.
  return `{"jsonrpc":"2.0","id":${id},"error":${body}}`;
}

/** The same error in the HTTP+JSON binding (A2A v1.0 §11.6). */
function restErrorResponse(cause: unknown, context: ErrorContext): HttpResponse {
  const error = toAgentBffError(cause);
  // JSON-RPC tells a denied method in a successful response; here the status is all there is.
  const status = report(error, context, error.code === 'method_denied' ? 403 : undefined);
  return {
    status,
    headers: headers(error, status, 'application/json'),
    body: restErrorText(error, context.requestId, status),
  };
}

/** One error of the HTTP+JSON binding as text, on one line so that it also fits an event. */
function restErrorText(error: AgentBffError, requestId: string, status: number = STATUS[error.code]): string {
  return JSON.stringify({
    error: {
      code: status,
      status: error.code.toUpperCase(),
      message: error.message,
      details: [errorInfo(error, requestId)],
    },
  });
}

export const REST_ERRORS: ErrorForm = {
  response: restErrorResponse,
  eventData: (error, requestId) => restErrorText(error, requestId),
};

/** What a request gets that is not let in to a route: before anything of it is read, in the shape its client reads. */
export function refusal(cause: unknown, { method, path }: HttpRequest, context: ErrorContext): HttpResponse {
  const isChat = context.route === 'chat' && method === 'POST' && (path === '' || path === '/');
  return isChat ? rpcErrorResponse(cause, 'null', context) : problemResponse(cause, context);
}

/** A known path asked with a wrong method (RFC 9110 §15.5.6). */
export function methodNotAllowed(allow: string, context: ErrorContext): HttpResponse {
  const detail = `This address takes ${allow} only.`;
  const hint =
    context.route === 'chat' ? 'To see in a browser whether the chat is set up, open "/config" below it.' : '';
  const response = problemResponse(new AgentBffError('method_not_allowed', { detail, hint }), context);
  return { ...response, headers: { ...response.headers, allow } };
}

/** A path outside the routes of the site. What was asked for, below the mount, is in the log. */
export function notFound({ method, path }: HttpRequest, context: ErrorContext): HttpResponse {
  const detail = 'There is no such route.';
  const hint = 'Compare the path of the request with the one where the routes are mounted.';
  return problemResponse(new AgentBffError('not_found', { detail, hint, log: `${method} ${path}` }), context);
}

/** Whatever was thrown, as an error with a code; foreign ones keep their text to themselves. */
export function toAgentBffError(cause: unknown): AgentBffError {
  if (isAgentBffError(cause)) return cause;
  return new AgentBffError('internal_error', {
    detail: 'The server failed to handle the request.',
    log: cause instanceof Error ? `${cause.name}: ${cause.message}` : typeof cause,
  });
}

/** What programs read of an error, in every A2A binding. */
function errorInfo(error: AgentBffError, requestId: string): Readonly<Record<string, unknown>> {
  const metadata: Record<string, string> = { code: error.code, requestId, retryable: String(error.retryable) };
  if (error.block !== undefined) metadata['configBlock'] = error.block;
  if (error.fields.length > 0) metadata['fields'] = error.fields.join(',');
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: error.code.toUpperCase(),
    domain: 'agent-bff',
    metadata,
  };
}

function titleOf(code: ErrorCode): string {
  return TITLE[code] ?? code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ');
}

function report(error: AgentBffError, context: ErrorContext, own?: number): number {
  const status =
    own ??
    (error.code === 'identity_provider_unavailable'
      ? context.authUnavailableStatus
      : (error.upstreamStatus ?? STATUS[error.code]));
  context.telemetry.emit({
    type: 'error',
    requestId: context.requestId,
    route: context.route,
    status,
    code: error.code,
    summary: error.message,
    detail: error.logDetail(),
    ...(error.block === undefined ? {} : { block: error.block }),
    ...(error.fields.length === 0 ? {} : { fields: error.fields }),
  });
  return status;
}

function headers(error: AgentBffError, status: number, contentType: string): Record<string, string> {
  const fields: Record<string, string> = {
    ...error.upstreamHeaders,
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  // RFC 9110 §15.5.2: a 401 carries a challenge. Bearer makes no browser open a login window.
  if (status === 401) fields['www-authenticate'] = `Bearer error="${error.code}"`;
  if (error.retryAfterMs !== undefined)
    fields['retry-after'] = String(Math.min(Math.ceil(error.retryAfterMs / 1000), MAX_RETRY_AFTER_S));
  return fields;
}
