import { inspect } from 'node:util';
import type { Secret } from '../../ports/secret.js';

const REDACTED = '[redacted]';

class Redacted implements Secret {
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

  // `console.log` and `util.inspect` call this one at any depth.
  [inspect.custom](): string {
    return REDACTED;
  }
}

/** Wraps a value that then prints, inspects and serialises as `[redacted]`. */
export function redacted(value: string): Secret {
  return new Redacted(value);
}
