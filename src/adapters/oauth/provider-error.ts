/** The request to the provider that failed; `local` when none did, and the library failed by itself. */
export type Stage = 'local' | 'metadata' | 'token';

/** The provider responded, and not with what was asked for. */
export interface ErrorResponse {
  readonly kind: 'response';
  readonly stage: Stage;
  readonly status: number;
  /** The OAuth error code; empty when the response has none. */
  readonly error: string;
  readonly description: string;
  /** The whole body, for members of one provider only. */
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;
}

/** There was no response, or none that can be read. */
export interface Fault {
  readonly kind: 'fault';
  readonly stage: Stage;
  /** A code of the network, of TLS, of crypto or of the library; empty when unknown. */
  readonly code: string;
  readonly description: string;
}

/** A failure in plain values. Errors of the libraries hold requests and responses, and must not travel further. */
export type ProviderError = ErrorResponse | Fault;

/** Reads the members of an error (RFC 6749 §5.2), or the challenge that some proxies send in their place. */
export function responseError(
  stage: Stage,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body: unknown,
  now: number,
): ErrorResponse {
  const challenged = /\berror="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1] ?? '';
  return {
    kind: 'response',
    stage,
    status,
    error: textMember(body, 'error') || challenged,
    description: textMember(body, 'error_description'),
    body,
    retryAfterMs: requestedBackoffMs(headers, status, now),
  };
}

/** The milliseconds that a provider asks its clients to wait: `Retry-After` (RFC 9110 §10.2.3), else `X-RateLimit-Reset`, which Auth0 sends with a 429 as seconds since the epoch. */
function requestedBackoffMs(headers: Pick<Headers, 'get'>, status: number, now: number): number | undefined {
  const retryAfter = headers.get('retry-after')?.trim();
  if (retryAfter !== undefined) {
    return /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : until(Date.parse(retryAfter), now);
  }
  const reset = headers.get('x-ratelimit-reset')?.trim() ?? '';
  return status === 429 && /^\d{1,12}$/.test(reset) ? until(Number(reset) * 1000, now) : undefined;
}

function until(at: number, now: number): number | undefined {
  return at > now ? at - now : undefined;
}

/** Reads anything thrown on the way to a response. */
export function thrownFault(thrown: unknown, stage: Stage): Fault {
  let code = '';
  const messages: string[] = [];
  // The bare `fetch failed` of Node has its reason two causes deep.
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const own = member(error, 'errorCode') ?? member(error, 'code');
    if (typeof own === 'string') code = own;
    else if (code === '' && (error.name === 'TimeoutError' || error.name === 'AbortError')) code = 'TIMEOUT';
    // A parser quotes what it read, and that may be a token.
    messages.push(error.name === 'SyntaxError' ? 'not JSON' : error.message);
  }
  // openid-client says here which member of the metadata is not as it should be.
  const attribute = textMember(member(thrown, 'cause'), 'attribute');
  if (attribute !== '') messages.push(`metadata member "${attribute}"`);
  return { kind: 'fault', stage, code, description: messages.join(': ') };
}

/** A member of an object; empty when it is no text. */
export function textMember(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

/** A member of an object; undefined of anything else. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
