/**
 * A value that never shows itself: printing, inspecting or serialising it gives `[redacted]`.
 *
 * @public
 */
export interface Secret {
  /** The value. Call it where the value is sent, and nowhere else. */
  reveal(): string;
}

/** The word that stands for every secret, wherever one could be printed. */
const REDACTED = '[redacted]';

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

  // What `console.log` and `util.inspect` call, at any depth.
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
