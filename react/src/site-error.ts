import { ChatError, MESSAGES, unreachable } from './chat-error.js';

/** The fix for developers when a response is not from the routes. */
const CHECK_MOUNT =
  'Mount the routes of agent-bff at this address, or set "a2aEndpoint" (of widgets "serviceSurfacesUrl") to where they are, with the base path of the site. If the development server of the page is another, such as Vite, let it proxy the address.';

/** The fix when something before the routes fails, such as the proxy of Vite without a server behind it. */
const CHECK_SERVER = 'Check that the server with the routes of agent-bff runs, and what its terminal says.';

/** Errors of the site about the session of the visitor. */
const SESSION_ERRORS: ReadonlySet<string> = new Set(['session_required', 'session_expired', 'interaction_required']);

/** Statuses that a visitor can do something about, also from a proxy that responds with a page. */
const VISITORS_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 413, 429]);
/** Codes that only the operator can do something about, besides those with status 5xx. */
const OPERATORS_ERRORS: ReadonlySet<string> = new Set([
  'service_auth_failed',
  'service_token_rejected',
  'identity_provider_unavailable',
  'host_refused',
  'not_found',
]);

/**
 * The site's error response. For codes of agent-bff, the message is a label for visitors, and the text for operators is
 * in `cause`. The text of any other code, from the site itself or its platform, is for visitors.
 */
export function siteError(
  problem: Readonly<Record<string, unknown>> | undefined,
  response: Response,
  text: string,
): ChatError {
  const { status, url } = response;
  if (problem === undefined && !VISITORS_STATUSES.has(status))
    return unreachable(
      new Error(
        `${url} responded with status ${status}: ${wordsOfPage(text)} ${status < 500 ? CHECK_MOUNT : CHECK_SERVER}`,
      ),
      status,
    );
  const { code, title, detail, hint, type, block, error, requestId, claims } = problem ?? {};
  const reason = textOf(code);
  const said = problem === undefined ? [wordsOfPage(text)] : [detail ?? wordsIn(error) ?? title, hint];
  const words = [...said, adviceOn(status, reason)].filter((part) => typeof part === 'string');
  const id = textOf(requestId);
  const cause = new Error(
    [`The site responded with status ${status}.`, ...words, ...(id ? [`(request ${id})`] : [])].join(' '),
  );
  const details = {
    cause,
    status,
    reason,
    retryAfterMs: retryAfterMsOf(response),
    requestId: id,
    claims: textOf(claims),
  };
  const isOwnText = reason === undefined || !isOwnCode(reason, type);
  const own = isOwnText && status < 500 ? (detail ?? wordsIn(error)) : undefined;
  if (typeof own === 'string') return new ChatError('refused', own, details);
  // An error that names a configuration block is for the operator.
  const message = typeof block === 'string' ? MESSAGES.unreachable : messageOf(status, reason);
  // Visitors can pass the id on to the operator, whose log has it.
  return new ChatError('refused', id && message === MESSAGES.unreachable ? `${message} (ID ${id})` : message, details);
}

/** Advice for operators that only the page can give. */
function adviceOn(status: number, reason: string | undefined): string | undefined {
  if (reason === 'origin_refused') return `This page is of ${location.origin}.`;
  return status !== 413 || reason
    ? undefined
    : "Mount the routes of agent-bff before body parsers such as express.json(), or raise the proxy's limit.";
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The error for a response that is not from a route, such as a page of the site or of a proxy. */
export function notARoute({ url, status, headers }: Response, fault = 'not a response of agent-bff'): ChatError {
  const found = `${url} gives ${headers.get('content-type') ?? 'no content type'}`;
  return unreachable(new Error(`${found}, ${fault}. ${CHECK_MOUNT}`), status);
}

/** The beginning of a page without its markup. */
function wordsOfPage(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/(<[^>]*>|\s)+/g, ' ')
    .trim()
    .slice(0, 200);
}

/** True for the codes of agent-bff, in a problem document or in JSON-RPC. */
function isOwnCode(reason: string, type: unknown): boolean {
  return type === undefined || type === `urn:agent-bff:error:${reason}`;
}

function wordsIn(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : undefined;
}

function messageOf(status: number, reason = ''): string {
  if (SESSION_ERRORS.has(reason) || (reason === '' && status === 401)) return MESSAGES.signedOut;
  if (status === 429 || reason === 'server_busy') return MESSAGES.busy;
  if (status === 408) return MESSAGES.connectionLost;
  return status >= 500 || OPERATORS_ERRORS.has(reason) ? MESSAGES.unreachable : MESSAGES.refused;
}

/** The pause that a response requests (RFC 9110 §10.2.3), in milliseconds; undefined if there is none. */
function retryAfterMsOf({ headers }: Response): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  // A date is relative to the server's own, since the visitor's clock may be wrong.
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return ms > 0 ? ms : undefined;
}
