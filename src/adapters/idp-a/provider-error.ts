import { askedPauseMs } from './asked-pause.js';

/** Which request to the provider went wrong. */
export type Stage = 'metadata' | 'token';

/** What went wrong, in plain values: library errors hold requests and answers, and must not travel further. */
export type ProviderError =
  | {
      /** The provider answered, and the answer is no token. */
      readonly kind: 'answer';
      readonly stage: Stage;
      readonly status: number;
      /** The OAuth error code; empty when the answer has none. */
      readonly error: string;
      readonly description: string;
      readonly retryAfterMs: number | undefined;
    }
  | {
      /** There was no answer, or none that can be read. */
      readonly kind: 'fault';
      readonly stage: Stage;
      /** A code of the network, of TLS or of the library; empty when unknown. */
      readonly code: string;
      readonly description: string;
    };

/** Reads an error of openid-client or of `fetch`; also the answer it came from, if that is still unread. */
export async function providerError(thrown: unknown, stage: Stage, now: number): Promise<ProviderError> {
  const response = responseOf(thrown);
  if (response === undefined || response.status === 200) return fault(thrown, stage);
  const { status } = response;
  const body = (await errorBody(response)) ?? errorMembers(property(thrown, 'cause')) ?? challenge(thrown);
  return {
    kind: 'answer',
    stage,
    status,
    error: body?.error ?? '',
    description: body?.description ?? '',
    retryAfterMs: askedPauseMs(response.headers, status, now),
  };
}

interface ErrorBody {
  readonly error: string;
  readonly description: string;
}

function fault(thrown: unknown, stage: Stage): ProviderError {
  let code = '';
  const messages: string[] = [];
  // The bare `fetch failed` of Node has its reason two causes deep.
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const own = property(error, 'code');
    if (typeof own === 'string') code = own;
    else if (code === '' && (error.name === 'TimeoutError' || error.name === 'AbortError')) code = 'OAUTH_TIMEOUT';
    // A parser quotes what it read, and that may be a token.
    messages.push(error.name === 'SyntaxError' ? 'not JSON' : error.message);
  }
  const attribute = property(property(thrown, 'cause'), 'attribute');
  if (typeof attribute === 'string') messages.push(`metadata member "${attribute}"`);
  return { kind: 'fault', stage, code, description: messages.join(': ') };
}

// Structural: the answer of a custom fetch is an instance of another Response class.
function responseOf(thrown: unknown): Response | undefined {
  for (const candidate of [property(thrown, 'response'), property(thrown, 'cause')]) {
    if (typeof property(candidate, 'status') === 'number' && typeof property(candidate, 'text') === 'function') {
      return candidate as Response;
    }
  }
  return undefined;
}

async function errorBody(response: Response): Promise<ErrorBody | undefined> {
  if (response.bodyUsed) return undefined;
  try {
    return errorMembers(JSON.parse(await response.text()));
  } catch {
    return undefined;
  }
}

function challenge(thrown: unknown): ErrorBody | undefined {
  const challenges = property(thrown, 'cause');
  return Array.isArray(challenges) ? errorMembers(property(challenges[0], 'parameters')) : undefined;
}

function errorMembers(value: unknown): ErrorBody | undefined {
  const error = property(value, 'error');
  const description = property(value, 'error_description');
  if (typeof error !== 'string') return undefined;
  return { error, description: typeof description === 'string' ? description : '' };
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
