import { isObject } from '../../domain/shared/json.js';
import { REDACTED } from '../../domain/shared/secret.js';

/** The failed request to the provider; `local` if the library failed before sending one. */
export type Stage = 'local' | 'metadata' | 'token';

/** The provider's response is not the expected one. */
export interface ErrorResponse {
  readonly kind: 'response';
  readonly stage: Stage;
  readonly status: number;
  /** The OAuth error code; empty if the response has none. */
  readonly error: string;
  readonly description: string;
  /** The whole body, for members of one provider only. */
  readonly body: unknown;
  /** Its words if it is no OAuth error; may hold secrets. */
  readonly said: string;
  readonly isPage: boolean;
  /** Lead of the local clock over the response's `Date`, in milliseconds; `NaN` without one. */
  readonly aheadMs: number;
  readonly retryAfterMs: number | undefined;
}

/** There was no response, or it cannot be read. */
export interface Fault {
  readonly kind: 'fault';
  readonly stage: Stage;
  /** An error code of the network, TLS, crypto or the library; empty if unknown. */
  readonly code: string;
  readonly description: string;
}

/** A failure in plain values. The libraries' own errors hold requests and responses, so they are not passed on. */
export type ProviderError = ErrorResponse | Fault;

/** Reads the members of an error (RFC 6749 §5.2), or the challenge that some proxies send instead. */
export function responseError(
  stage: Stage,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body: unknown,
  now: number,
  text = '',
): ErrorResponse {
  const isPage = /^\s*</.test(text);
  const challenged = /\berror="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1] ?? '';
  return {
    kind: 'response',
    stage,
    status,
    error: textMember(body, 'error') || challenged,
    description: textMember(body, 'error_description'),
    body,
    said: isPage ? text.replace(/<[^<>]*>/g, ' ') : wordsOf(status, body, text),
    isPage,
    aheadMs: now - Date.parse(headers.get('date') ?? ''),
    retryAfterMs: requestedBackoffMs(headers, status, now),
  };
}

/** Longer JSON is no message, and may be too deep to serialise. */
const MAX_JSON = 2_048;
const EXPLAINS = /^(?:error|message|reason|detail|description)/i;
const HOLDS_SECRET = /token|secret|password|assertion|key|jwt|session/i;

/** A success may hold a token in any member, so only those that explain are read. */
function wordsOf(status: number, body: unknown, text: string): string {
  if (!isObject(body)) return status < 300 ? 'no JSON object' : text;
  if (text.length > MAX_JSON || textMember(body, 'error_description') !== '') return '';
  const read = Object.entries(body).filter(
    ([name, value]) => (status >= 300 || EXPLAINS.test(name)) && !(name === 'error' && typeof value === 'string'),
  );
  const hide = (name: string, value: unknown): unknown => (HOLDS_SECRET.test(name) ? REDACTED : value);
  return read.length === 0 ? '' : JSON.stringify(Object.fromEntries(read), hide);
}

/**
 * The milliseconds a provider asks its clients to wait: `Retry-After` (RFC 9110 §10.2.3), otherwise
 * `X-RateLimit-Reset`, which Auth0 sends with a 429 in seconds since the epoch.
 */
function requestedBackoffMs(headers: Pick<Headers, 'get'>, status: number, now: number): number | undefined {
  const retryAfter = headers.get('retry-after');
  if (retryAfter !== null) {
    return /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : until(Date.parse(retryAfter), now);
  }
  const reset = headers.get('x-ratelimit-reset') ?? '';
  return status === 429 && /^\d{1,12}$/.test(reset) ? until(Number(reset) * 1000, now) : undefined;
}

function until(at: number, now: number): number | undefined {
  return at > now ? at - now : undefined;
}

/** Converts anything thrown before a response was received. */
export function thrownFault(thrown: unknown, stage: Stage): Fault {
  let code = '';
  const messages: string[] = [];
  // For Node's `fetch failed`, the reason is two causes deep.
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const own = member(error, 'errorCode') ?? member(error, 'code');
    if (typeof own === 'string') code = own;
    else if (code === '' && (error.name === 'TimeoutError' || error.name === 'AbortError')) code = 'TIMEOUT';
    // A parser's message quotes its input, which may be a token.
    messages.push(error.name === 'SyntaxError' ? 'not JSON' : error.message);
  }
  // openid-client stores the name of the invalid metadata member here, and the metadata.
  const cause = member(thrown, 'cause');
  const attribute = textMember(cause, 'attribute');
  const stated = textMember(member(cause, 'body'), attribute);
  if (attribute !== '') messages.push(`metadata member "${attribute}"${stated === '' ? '' : ` is "${stated}"`}`);
  return { kind: 'fault', stage, code, description: messages.join(': ') };
}

/** A member of an object; empty if it is not a string. */
export function textMember(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

/** A member of an object; undefined if the value is not an object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
