/** One line of the doctor's table. */
export interface Finding {
  /** What was looked at, such as `token`. */
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'failed' | 'skipped';
  /** What was found; never a secret. */
  readonly message: string;
  /** The configuration block to fix, and its fields. */
  readonly block?: string;
  readonly fields?: readonly string[];
}
