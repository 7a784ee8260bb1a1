/**
 * The kind of failure:
 *
 * - `refused`: the site or the agent rejected the request; see `reason` and `cause`.
 * - `unreachable`: the response came from something else, such as a page of the site; see `cause`.
 * - `unreadable`: the agent responded, but not in A2A; see `cause`.
 * - `connection_lost`: there was no response, or the connection broke and could not be resumed.
 * - `page_failed`: an error in the page's own code, such as a missing API of an old browser or a file of a former version
 *   of the site; see `cause`. Reloading the page may help.
 * - `still_working`: the agent has not finished within `taskTimeoutMs`.
 * - `file_too_large`, `file_unreadable`: the message was not sent.
 * - `file_refused`: the visitor chose a file in a widget; the field was emptied.
 *
 * @public
 */
export type ChatErrorCode =
  | 'refused'
  | 'unreachable'
  | 'unreadable'
  | 'connection_lost'
  | 'page_failed'
  | 'still_working'
  | 'file_too_large'
  | 'file_unreadable'
  | 'file_refused';

/**
 * The reason why a message was not sent, or a response could not be read.
 *
 * @example
 * ```tsx
 * <A2AChat onError={(error) => console.warn(error.code, error.status, error.cause)} />
 * ```
 *
 * @public
 */
export class ChatError extends Error {
  /** `ChatError`. */
  override readonly name = 'ChatError' as const;
  /** The kind of failure. */
  readonly code: ChatErrorCode;
  /** HTTP status of the site's response; undefined if there was none. */
  readonly status: number | undefined;
  /** The code of the site's error, such as `session_required`; undefined when it is not the site's. */
  readonly reason: string | undefined;
  /** Pause that the site requests, in milliseconds; undefined if there is none. */
  readonly retryAfterMs: number | undefined;
  /** The id of the request in the server's log; undefined if the response names none. */
  readonly requestId: string | undefined;
  /** The claims that the next sign-in must request, as the JSON text of the provider's parameter `claims`; undefined if there are none. */
  readonly claims: string | undefined;

  /** Created by the package. The message is for visitors; `cause` has what operators need. */
  constructor(
    code: ChatErrorCode,
    message: string,
    details: {
      readonly cause?: unknown;
      readonly status?: number | undefined;
      readonly reason?: string | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly requestId?: string | undefined;
      readonly claims?: string | undefined;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.reason = details.reason;
    this.retryAfterMs = details.retryAfterMs;
    this.requestId = details.requestId;
    this.claims = details.claims;
  }
}

/** Failures in the words of visitors, by label. */
export const MESSAGES = {
  connectionLost: 'The connection to the site was lost. Please try again.',
  pageFailed: 'Something failed. Please reload the page.',
  unreachable: 'This is not available at the moment. Please try again later.',
  signedOut: 'Please sign in and try again.',
  busy: 'This is busy at the moment. Please try again later.',
  refused: 'This was not accepted.',
  failed: 'The agent could not finish this.',
  unreadable: 'The answer could not be read. Please try again later.',
  stillWorking: 'The agent is still working on this.',
  cannotStop: 'The agent cannot be stopped and may go on working.',
  doneNotShown: 'This was done, but the result cannot be shown.',
  fileUnreadable: 'The file could not be read.',
  noFiles: 'The file cannot be sent.',
} as const;

/** The error for a response that is not from the routes: a page of a proxy, of a sign-in, or of the site itself if no route is mounted. */
export function unreachable(cause: unknown, status?: number): ChatError {
  return new ChatError('unreachable', MESSAGES.unreachable, { cause, status });
}

/** Rethrows an error of `fetch`, or of reading a body, as a lost connection; `advice` is for operators. */
export function lost(cause: unknown, advice?: string): never {
  throw toChatError(advice ? new Error(advice, { cause }) : cause, 'connection_lost', MESSAGES.connectionLost);
}

/** Passes an error to the site; a bundle for development also shows it in the console. */
export function report(error: ChatError, onError: ((error: ChatError) => void) | undefined): void {
  try {
    // Bundlers replace the expression. Without one, there is no `process`.
    // oxlint-disable-next-line no-console
    if (process.env.NODE_ENV !== 'production') console.warn('agent-bff-react:', error.message, error.cause);
  } catch {
    // Not a bundle for development.
  }
  onError?.(error);
}

declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** Converts any error to the form that visitors see. An unknown error counts as the page's own. */
export function toChatError(
  cause: unknown,
  code: ChatErrorCode = 'page_failed',
  message: string = MESSAGES.pageFailed,
): ChatError {
  return cause instanceof ChatError ? cause : new ChatError(code, message, { cause });
}
