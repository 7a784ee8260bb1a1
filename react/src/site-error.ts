import { ChatError, MESSAGES, unreachable } from './chat-error.js';

/** Errors of the site about the session of the visitor. */
const SESSION_ERRORS: ReadonlySet<string> = new Set(['session_required', 'session_expired', 'interaction_required']);

const NO_ROUTE =
  ', so no route of agent-bff is there. Mount it, or pass its address with the base path of the site, such as "/shop/api/a2a", in "a2aEndpoint" ("serviceSurfacesUrl" for a widget)';

/**
 * The site's error response. Codes of agent-bff have words for visitors, and what is for operators goes into `cause`; the
 * text of any other code, of the site itself or of its platform, is for visitors.
 */
export function siteError(
  problem: Readonly<Record<string, unknown>> | undefined,
  response: Response,
  text: string,
): ChatError {
  const { status, url } = response;
  const outcome = `${url} responded with status ${status}`;
  if (problem === undefined && ![401, 403, 429].includes(status))
    return unreachable(new Error(`${outcome}${status === 404 ? NO_ROUTE : ''}: ${text.slice(0, 200)}`), status);
  const { code, title, detail, hint, type, error } = problem ?? {};
  const reason = typeof code === 'string' && code !== '' ? code : undefined;
  const words = [detail ?? wordsIn(error) ?? title, hint].filter((part) => typeof part === 'string');
  const cause = new Error([`${outcome}.`, ...words].join(' '));
  const details = { cause, status, reason, retryAfterMs: retryAfterMsOf(response) };
  const isOwnText = reason === undefined || !isOwnCode(reason, type);
  const own = isOwnText && status < 500 ? (detail ?? wordsIn(error)) : undefined;
  return new ChatError('refused', typeof own === 'string' ? own : messageOf(status, reason), details);
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

/** The pause a response asks for (RFC 9110 §10.2.3), in milliseconds; undefined when it asks for none. */
function retryAfterMsOf({ headers }: Response): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return ms > 0 ? ms : undefined;
}
