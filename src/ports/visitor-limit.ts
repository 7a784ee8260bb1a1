/**
 * Counts a visitor's messages. Never rejects and never waits long: if the limiter cannot be reached, the result is
 * `unknown` and the visitor is admitted.
 *
 * @public
 */
export interface VisitorLimit {
  /**
   * Counts one message from the visitor identified by the framework's own request, or by `user` for `userLimit`: a text
   * that no other user has, of tenant and subject.
   */
  admit(request: unknown, user?: string): Promise<LimitVerdict>;
  /**
   * Counts one request that follows or cancels a task (`tasks/get`, `tasks/resubscribe`, `tasks/cancel`), separately
   * from messages. Default: 600 a minute per address, counted in this process; behind a proxy that all visitors share, set it.
   */
  admitReading?(request: unknown, user?: string): Promise<LimitVerdict>;
}

/**
 * The decision: admitted, or how long to wait.
 *
 * @public
 */
export type LimitVerdict =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'refused';
      /** Milliseconds to wait before trying again. */
      readonly retryAfterMs: number;
    }
  | {
      readonly kind: 'unknown';
      /** For the server's log only. */
      readonly log: string;
    };
