/**
 * Counts what one visitor asks for. Never rejects and never waits long: a limit that cannot be asked gives `unknown`, and the visitor goes on.
 *
 * @public
 */
export interface VisitorLimit {
  /** Counts one message of the visitor who sent the framework's own request. */
  admit(request: unknown): Promise<LimitVerdict>;
  /**
   * Counts one request that reads on or cancels (`tasks/get`, `tasks/resubscribe`, `tasks/cancel`), which is no message.
   * Default: 600 a minute for one address, counted in this process.
   */
  admitReading?(request: unknown): Promise<LimitVerdict>;
}

/**
 * The verdict on one request of a visitor.
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
      readonly detail: string;
    };
