import type { Secret } from '../ports/secret.js';

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
