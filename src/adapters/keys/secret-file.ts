import { readFileSync, statSync } from 'node:fs';
import { REDACTED, type Secret } from '../../domain/shared/secret.js';
import type { Clock } from '../../ports/clock.js';
import { LAST_GOOD_MS, MAX_FILE_BYTES, RECHECK_MS } from './watched-file.js';

/** The text of a regular file without its last line break; throws an error with a code if it cannot be read. */
export function textIn(path: string): string {
  const file = statSync(path);
  if (!file.isFile()) throw Object.assign(new Error('no regular file'), { code: 'EISDIR' });
  if (file.size > MAX_FILE_BYTES) throw Object.assign(new Error('too large'), { code: 'EFBIG' });
  return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
}

/** A secret in a file, watched like a key file. Synchronous, since credentials are: the file is read twice a minute. */
export class SecretFile implements Secret {
  /** Called after the secret, or the fault that replaces it, has changed. */
  onChange: () => void = () => undefined;
  /** The reason why the file cannot be used, with its path; empty if it can. */
  fault = '';
  readonly place: { readonly block: string; readonly field: string };
  readonly #path: string;
  readonly #parse: (text: string) => Secret | undefined;
  readonly #clock: Clock;
  #checkedAt = -Infinity;
  #goodAt = -Infinity;
  #secret: Secret | undefined;

  /** `parse` returns `undefined` for a text that cannot be used. */
  constructor(place: SecretFile['place'], path: string, parse: (text: string) => Secret | undefined, clock: Clock) {
    this.place = place;
    this.#path = path;
    this.#parse = parse;
    this.#clock = clock;
  }

  /** The secret, another object after each change; `undefined` without a usable one. */
  get current(): Secret | undefined {
    const now = this.#clock.now();
    if (Math.abs(now - this.#checkedAt) >= RECHECK_MS) this.#check(now);
    return this.#secret;
  }

  /** Makes the next use read the file. */
  recheck(): void {
    this.#checkedAt = -Infinity;
  }

  reveal(): string {
    return this.current?.reveal() ?? '';
  }

  toJSON(): string {
    return REDACTED;
  }

  #check(now: number): void {
    this.#checkedAt = now;
    const [before, faultBefore] = [this.#secret, this.fault];
    let fault = '';
    try {
      const found = this.#parse(textIn(this.#path));
      if (found === undefined) fault = 'no usable value';
      else if (found.reveal() !== before?.reveal()) this.#secret = found;
    } catch (error) {
      fault = String((error as NodeJS.ErrnoException).code);
    }
    this.fault = fault && `"${this.place.field}" in "${this.place.block}": ${fault}: ${this.#path}`;
    if (fault === '') this.#goodAt = now;
    else if (now - this.#goodAt >= LAST_GOOD_MS) this.#secret = undefined;
    if (this.#secret !== before || this.fault !== faultBefore) this.onChange();
  }
}
