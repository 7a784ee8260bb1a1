/**
 * A value that never shows itself: printing, inspecting or serialising it gives `[redacted]`.
 *
 * @public
 */
export interface Secret {
  /** The value. Call it where the value is sent, and nowhere else. */
  reveal(): string;
}
