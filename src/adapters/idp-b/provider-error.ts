/** Which request to the provider went wrong; `local` when none did, and msal-node failed by itself. */
export type Stage = 'local' | 'metadata' | 'token';

/** What went wrong, in plain values: errors of msal-node hold requests, and must not travel further. */
export type ProviderError =
  | {
      /** The provider answered, and the answer is no token. */
      readonly kind: 'answer';
      readonly stage: Stage;
      readonly status: number;
      /** The OAuth error code; empty when the answer has none. */
      readonly error: string;
      /** Entra's more precise word for some errors; else empty. */
      readonly suberror: string;
      readonly description: string;
      /** Entra's numbers, from the member for them or from the description. */
      readonly numbers: readonly number[];
      readonly retryAfterMs: number | undefined;
    }
  | {
      /** There was no answer, or none that can be read. */
      readonly kind: 'fault';
      readonly stage: Stage;
      /** A code of the network, of TLS, of crypto or of msal-node; empty when unknown. */
      readonly code: string;
      readonly description: string;
    };

/** The error members of an answer that came with a status. */
export function answerError(
  stage: Stage,
  status: number,
  body: unknown,
  retryAfterMs: number | undefined,
): Extract<ProviderError, { kind: 'answer' }> {
  const description = textMember(body, 'error_description');
  return {
    kind: 'answer',
    stage,
    status,
    error: textMember(body, 'error'),
    suberror: textMember(body, 'suberror'),
    description,
    numbers: numbersOf(property(body, 'error_codes'), description),
    retryAfterMs,
  };
}

/** Anything thrown on the way to an answer. */
export function thrownError(thrown: unknown, stage: Stage): Extract<ProviderError, { kind: 'fault' }> {
  let code = '';
  const messages: string[] = [];
  // The bare `fetch failed` of Node has its reason two causes deep.
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const own = property(error, 'errorCode') ?? property(error, 'code');
    if (typeof own === 'string') code = own;
    else if (code === '' && (error.name === 'TimeoutError' || error.name === 'AbortError')) code = 'TIMEOUT';
    // A parser quotes what it read, and that may be a token.
    messages.push(error.name === 'SyntaxError' ? 'not JSON' : error.message);
  }
  return { kind: 'fault', stage, code, description: messages.join(': ') };
}

function numbersOf(codes: unknown, description: string): number[] {
  const listed = Array.isArray(codes) ? codes.filter((code) => typeof code === 'number') : [];
  const written = /\bAADSTS(\d{4,8})\b/.exec(description)?.[1];
  return listed.length > 0 || written === undefined ? listed : [Number(written)];
}

function textMember(value: unknown, name: string): string {
  const member = property(value, name);
  return typeof member === 'string' ? member : '';
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
