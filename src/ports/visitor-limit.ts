/**
 * Counts a visitor's messages. Never rejects and never waits long: if the limiter cannot be reached, the result is
 * `unknown` and the visitor is admitted.
 *
 * @public
 */
export interface VisitorLimit {
  /** Counts one message from the visitor identified by the framework's own request. */
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

/** The decision: admitted, or how long to wait. */
export type LimitVerdict = Awaited<ReturnType<VisitorLimit['admit']>>;
