import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { AgentBffError, isAgentBffError, type KnownCode, RequestError } from '../../domain/shared/errors.js';
import { type VariableHint, withVariables } from '../../domain/shared/setting.js';

/** The only place with our own status codes. An error of the site may have any other code. */
const STATUS: Readonly<Record<KnownCode, number>> = {
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
  conversation_unknown: 200,
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

/** Titles for codes whose words are not clear enough. */
const TITLE: Readonly<Record<string, string>> = {
  service_auth_failed: 'Service authentication failed',
  rate_limited: 'Too many requests',
  body_consumed: 'Body already consumed',
  upstream_invalid_response: 'Upstream response invalid',
};

/** A year: platforms and providers choose the number, and larger ones would be written with an exponent. */
const MAX_RETRY_AFTER_S = 31_536_000;

/** JSON-RPC codes that differ from -32603 (JSON-RPC 2.0 §5.1; A2A v1.0 §9.5). */
const RPC_CODE: Readonly<Record<string, number>> = {
  body_invalid: -32700,
  content_type_unsupported: -32005,
  method_denied: -32601,
};

/** The settings that errors need. */
export interface ErrorSite {
  readonly telemetry: Telemetry;
  /** Status of `identity_provider_unavailable`. */
  readonly authUnavailableStatus: number;
  /** Names the environment variables of fields in hints. */
  readonly variables?: VariableHint | undefined;
  /** Creates an id for one request, for logs and error responses. */
  readonly newRequestId: () => string;
}

/** A request that may fail. */
export interface ErrorContext {
  readonly site: ErrorSite;
  readonly route: string;
  readonly requestId: string;
  /** The id that its client gave it, as JSON text, where errors repeat it. */
  readonly id?: string | undefined;
}

/** The context of one request's errors. */
export function errorContext(site: ErrorSite, route: string): ErrorContext {
  return { site, route, requestId: site.newRequestId() };
}

/** The format of a route's errors. */
export interface ErrorForm {
  readonly mediaType: string;
  /** True if a stream that breaks ends with an error event. */
  readonly endsStreams: boolean;
  /** One error as JSON on one line, so that it also fits an event. */
  text(error: AgentBffError, context: Pick<ErrorContext, 'requestId' | 'id'>, status: number): string;
}

/** RFC 9457 problem documents. */
export const PROBLEMS: ErrorForm = {
  mediaType: 'application/problem+json',
  endsStreams: false,
  text: (error, { requestId }, status) =>
    JSON.stringify({
      type: `urn:agent-bff:error:${error.code}`,
      title: TITLE[error.code] ?? error.code.charAt(0).toUpperCase() + error.code.slice(1).replaceAll('_', ' '),
      status,
      code: error.code,
      detail: error.detail,
      hint: error.hint,
      block: error.block,
      fields: error.fields.length === 0 ? undefined : error.fields,
      retryable: error.retryable,
      claims: error.claims,
      requestId,
    }),
};

/** JSON-RPC responses, which every A2A client can show. */
export const RPC_ERRORS: ErrorForm = {
  mediaType: 'application/json',
  endsStreams: true,
  text(error, { requestId, id = 'null' }) {
    const body = JSON.stringify({
      code: error.rpcCode ?? RPC_CODE[error.code] ?? -32603,
      message: error.message,
      data: [errorInfo(error, requestId)],
    });
    // As the client wrote it: parsing would change a number beyond 2^53.
    return `{"jsonrpc":"2.0","id":${id},"error":${body}}`;
  },
};

/** Errors of the HTTP+JSON binding (A2A v1.0 §11.6). */
export const REST_ERRORS: ErrorForm = {
  mediaType: 'application/json',
  endsStreams: true,
  text: (error, { requestId }, status) =>
    JSON.stringify({
      error: {
        code: status,
        status: error.code.toUpperCase(),
        message: error.message,
        details: [errorInfo(error, requestId)],
      },
    }),
};

/** The response to an error, which is also reported to operators. */
export function errorResponse(cause: unknown, form: ErrorForm, context: ErrorContext): HttpResponse {
  const { site, route, requestId } = context;
  const error = withVariables(toAgentBffError(cause), site.variables);
  const status = statusOf(error, form, site);
  site.telemetry.emit({
    type: 'error',
    requestId,
    route,
    status,
    code: error.code,
    summary: error.message,
    detail: error.logDetail(),
    ...(error.block === undefined ? {} : { block: error.block }),
    ...(error.fields.length === 0 ? {} : { fields: error.fields }),
  });
  return { status, headers: headers(error, status, form.mediaType), body: form.text(error, context, status) };
}

/** The data of the event that ends a stream. */
export function errorEventData(error: AgentBffError, form: ErrorForm, context: ErrorContext): string {
  return form.text(error, context, STATUS[error.code as KnownCode]);
}

function statusOf(error: AgentBffError, form: ErrorForm, { authUnavailableStatus }: ErrorSite): number {
  // JSON-RPC reports a denied method in a successful response; in the other binding there is only the status.
  if (error.code === 'method_denied' && form === REST_ERRORS) return 403;
  if (error.code === 'conversation_unknown' && form === REST_ERRORS) return 404;
  if (error.code === 'identity_provider_unavailable') return authUnavailableStatus;
  const { code, upstreamStatus = 0 } = error;
  const isOwn = typeof upstreamStatus === 'number' && upstreamStatus >= 400 && upstreamStatus < 600;
  return isOwn ? Math.trunc(upstreamStatus) : (STATUS[code as KnownCode] ?? 500);
}

/** The response to a request that no route accepts, before the request is read, in the format its client expects. */
export function refusal(cause: unknown, { method, path }: HttpRequest, context: ErrorContext): HttpResponse {
  const isChat = context.route === 'chat' && method === 'POST' && (path === '' || path === '/');
  return errorResponse(cause, isChat ? RPC_ERRORS : PROBLEMS, context);
}

/** The response to a wrong method on a known path (RFC 9110 §15.5.6). */
export function methodNotAllowed(allow: string, context: ErrorContext): HttpResponse {
  const error = new AgentBffError('method_not_allowed', {
    detail: `This address accepts ${allow} only.`,
    ...(context.route === 'chat' && { hint: 'To check the chat in a browser, open "/config" below it.' }),
  });
  const response = errorResponse(error, PROBLEMS, context);
  return { ...response, headers: { ...response.headers, allow } };
}

/** The response to a path outside the routes of the site. The log has the path below the mount. */
export function notFound({ method, path }: HttpRequest, context: ErrorContext): HttpResponse {
  const detail = 'There is no such route.';
  const hint = 'Compare the path of the request with the one where the routes are mounted.';
  return errorResponse(new AgentBffError('not_found', { detail, hint, log: `${method} ${path}` }), PROBLEMS, context);
}

/** The refusal of a request that may succeed in a second. */
export function refusedForNow(code: 'server_busy' | 'server_closing', detail: string, log?: string): RequestError {
  const hint = `Send the request again${code === 'server_busy' ? ' in a moment' : ''}.`;
  return new RequestError(code, { detail, hint, retryable: true, retryAfterMs: 1_000, ...(log && { log }) });
}

/** Matches a code that fits in header fields. */
const CODE = /^[a-z][\w.-]{0,63}$/i;

/** Converts anything thrown to an error with a code; messages of foreign errors stay private. */
export function toAgentBffError(cause: unknown): AgentBffError {
  if (isAgentBffError(cause)) {
    const { code, detail, hint = '', block = '', claims = '', fields, upstreamStatus = 500 } = cause;
    const { retryable, rpcCode = 0, retryAfterMs = 0 } = cause;
    const log = cause.logDetail();
    // In plain JavaScript, an error of the site's own may have values of any type.
    const areTexts = [code, detail, hint, block, claims, log].concat(fields).every((text) => typeof text === 'string');
    const areOthers = typeof retryable === 'boolean' && typeof rpcCode === 'number' && typeof retryAfterMs === 'number';
    const isWhole = areTexts && areOthers && Array.isArray(fields);
    if (isWhole && CODE.test(code) && !(code in Object.prototype)) return cause;
    return new AgentBffError('internal_error', { detail: String(detail), upstreamStatus, log: String(log) });
  }
  return new AgentBffError('internal_error', {
    detail: 'The server failed to handle the request.',
    log: cause instanceof Error ? `${cause.name}: ${cause.message}` : typeof cause,
  });
}

/** The machine-readable part of an error, in every A2A binding. */
function errorInfo(error: AgentBffError, requestId: string): Readonly<Record<string, unknown>> {
  const metadata: Record<string, string> = { code: error.code, requestId, retryable: String(error.retryable) };
  if (error.block !== undefined) metadata['configBlock'] = error.block;
  if (error.claims !== undefined) metadata['claims'] = error.claims;
  if (error.fields.length > 0) metadata['fields'] = error.fields.join(',');
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: error.code.toUpperCase(),
    domain: 'agent-bff',
    metadata,
  };
}

function headers(error: AgentBffError, status: number, contentType: string): Record<string, string> {
  const fields: Record<string, string> = {
    ...error.upstreamHeaders,
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  // RFC 9110 §15.5.2: a 401 has a challenge. Browsers open no login window for Bearer.
  if (status === 401) fields['www-authenticate'] = `Bearer error="${error.code}"`;
  if (error.retryAfterMs !== undefined)
    fields['retry-after'] = String(Math.min(Math.ceil(error.retryAfterMs / 1000), MAX_RETRY_AFTER_S));
  return fields;
}
