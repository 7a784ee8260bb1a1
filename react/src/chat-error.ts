/**
 * The kind of failure:
 *
 * - `refused`: the site or the agent rejected the request; the message explains why.
 * - `unreachable`: the response is not from an agent-bff route or an agent, but for example a page of the site; see
 * `cause`.
 * - `connection_lost`: there was no response, or the connection broke and could not be resumed.
 * - `file_too_large`, `file_unreadable`: the message was not sent.
 *
 * @public
 */
export type ChatErrorCode = 'refused' | 'unreachable' | 'connection_lost' | 'file_too_large' | 'file_unreadable';

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

  /** Created by the package. The message is for visitors; `cause` has the original error. */
  constructor(
    code: ChatErrorCode,
    message: string,
    details: { readonly cause?: unknown; readonly status?: number } = {},
  ) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
  }
}

/** The error for a response that is not from the routes: a page of a proxy, of a sign-in, or of the site itself if no route is mounted. */
export function unreachable(cause: unknown, status?: number): ChatError {
  const message = 'The site cannot be reached at the moment. Please try again later.';
  return new ChatError('unreachable', message, { cause, ...(status !== undefined && { status }) });
}

/** Any error in the form that visitors see. */
export function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  return new ChatError('connection_lost', 'The connection to the site was lost. Please try again.', { cause: error });
}
