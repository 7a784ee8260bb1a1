/**
 * Counts what one visitor asks for. Never rejects and never waits long: a limit that cannot be asked gives `unknown`, and the visitor goes on.
 *
 * @public
 */
export interface VisitorLimit {
  /** Counts one message of the visitor who sent the framework's own request. */
  admit(request: unknown): Promise<
    | { readonly kind: 'admitted' }
    | {
        readonly kind: 'refused';
        /** Milliseconds to wait before trying again. */
        readonly retryAfterMs: number;
      }
    | {
        readonly kind: 'unknown';
        /** For the server's log only. */
        readonly detail: string;
      }
  >;
}

/** Whether a visitor may go on, or how long to wait. */
export type LimitVerdict = Awaited<ReturnType<VisitorLimit['admit']>>;
