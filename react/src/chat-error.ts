/**
 * What kind of failure it is:
 *
 * - `refused`: the site or the agent said no, and the message says why.
 * - `unreachable`: something responded that is no route of agent-bff and no agent, such as a page of the site; see `cause`.
 * - `connection_lost`: nothing responded, or the connection broke and could not be taken up again.
 * - `file_too_large`, `file_unreadable`: the message was not sent.
 *
 * @public
 */
export type ChatErrorCode = 'refused' | 'unreachable' | 'connection_lost' | 'file_too_large' | 'file_unreadable';

/**
 * Why a message was not sent or a response not read.
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
  /** What kind of failure it is. */
  readonly code: ChatErrorCode;
  /** HTTP status of the site's response; undefined when there was none. */
  readonly status: number | undefined;

  /** Made by the package. The message is meant for visitors; what caused it is in `cause`. */
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

/** What is no response of the routes: a page of a proxy, of a sign-in, or of the site itself where no route is mounted. */
export function unreachable(cause: unknown, status?: number): ChatError {
  const message = 'The site cannot be reached at the moment. Please try again later.';
  return new ChatError('unreachable', message, { cause, ...(status !== undefined && { status }) });
}

/** An error as visitors are told of it. */
export function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  return new ChatError('connection_lost', 'The connection to the site was lost. Please try again.', { cause: error });
}
