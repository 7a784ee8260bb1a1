import { ChatError, MESSAGES, unreachable } from './chat-error.js';

/** The fix for developers when a response is not from the routes. */
export const CHECK_MOUNT =
  'Mount the routes of agent-bff at this address, or set "a2aEndpoint" (of widgets "serviceSurfacesUrl") to where they are.';

/** Errors of the site about the session of the visitor. */
const SESSION_ERRORS: ReadonlySet<string> = new Set(['session_required', 'session_expired', 'interaction_required']);

/**
 * The site's error response. Codes of agent-bff have words for visitors, and what is for operators goes into `cause`; the
 * text of any other code, of the site itself or of its platform, is for visitors.
 */
export function siteError(
  problem: Readonly<Record<string, unknown>> | undefined,
  status: number,
  retryAfterMs: number | undefined,
  text: string,
  url: string,
): ChatError {
  if (problem === undefined && ![401, 403, 429].includes(status))
    return unreachable(
      new Error(`${url} responded with status ${status}: ${text.slice(0, 200)} ${CHECK_MOUNT}`),
      status,
    );
  const { code, title, detail, hint, type, error, requestId } = problem ?? {};
  const reason = typeof code === 'string' && code !== '' ? code : undefined;
  const words = [detail ?? wordsIn(error) ?? title, hint].filter((part) => typeof part === 'string');
  const id = typeof requestId === 'string' ? [`(request ${requestId})`] : [];
  const cause = new Error([`The site responded with status ${status}.`, ...words, ...id].join(' '));
  const details = { cause, status, reason, retryAfterMs };
  const isOwnText = reason === undefined || !isOwnCode(reason, type);
  const own = isOwnText && status < 500 ? (detail ?? wordsIn(error)) : undefined;
  return new ChatError('refused', typeof own === 'string' ? own : messageOf(status, reason), details);
}

/** The error for a response of something else than a route, such as a page of the site. */
export function notARoute({ url, status, headers }: Response): ChatError {
  const found = `${url} gives ${headers.get('content-type') ?? 'no content type'}`;
  return unreachable(new Error(`${found}, not a response of agent-bff. ${CHECK_MOUNT}`), status);
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
  if (status === 429 || reason === 'rate_limited' || reason === 'server_busy') return MESSAGES.busy;
  return status >= 500 || reason.startsWith('service_') ? MESSAGES.unreachable : MESSAGES.refused;
}
