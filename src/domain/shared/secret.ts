/**
 * A value that is never printed: logging, inspecting or serialising it results in `[redacted]`.
 *
 * @public
 */
export interface Secret {
  /** Returns the value. Call it only where the value is sent. */
  reveal(): string;
}

/** The text that replaces every secret. */
export const REDACTED = '[redacted]';

class HiddenSecret implements Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  // Called by `console.log` and `util.inspect`, at any depth.
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED;
  }
}

/** Wraps a value so that it cannot be printed by accident. */
export function secret(value: string): Secret {
  return new HiddenSecret(value);
}

/** A secret that may be absent: `undefined` when empty. */
export function optionalSecret(value: string | undefined): Secret | undefined {
  return value === undefined || value === '' ? undefined : secret(value);
}
