import { REDACTED, type Secret } from '../../domain/shared/secret.js';
import type { Clock } from '../../ports/clock.js';
import { ParsedFile, WatchedReading } from './watched-file.js';

/** A text in a file, without its last line break. */
export function textFile<Content>(path: string, parse: (text: string) => Content): ParsedFile<Content> {
  return new ParsedFile(path, (content) => parse(content.toString().replace(/\r?\n$/, '')));
}

type Reading = { readonly kind: 'secret' | 'unusable'; readonly secret?: Secret; readonly fault: string };

/** A secret in a file, watched like a key file. */
export class SecretFile implements Secret {
  /** Called after the secret, or the fault that replaces it, has changed. */
  onChange: () => void = () => undefined;
  /** The reason why the file cannot be used, with its path; empty if it can. */
  fault = '';
  readonly setting: { readonly block: string; readonly field: string };
  readonly #reading: WatchedReading<Reading>;
  #secret: Secret | undefined;

  /** `parse` returns `undefined` for a text that cannot be used. */
  constructor(setting: SecretFile['setting'], path: string, parse: (text: string) => Secret | undefined, clock: Clock) {
    this.setting = setting;
    const unusable = (reason: string): Reading => {
      return { kind: 'unusable', fault: `"${setting.field}" in "${setting.block}": ${reason}: ${path}` };
    };
    const file = textFile(path, (text): Reading => {
      const secret = parse(text);
      return secret === undefined ? unusable('no usable value') : { kind: 'secret', secret, fault: '' };
    });
    this.#reading = new WatchedReading(clock, () => {
      const found = file.read();
      return found.kind === 'unreadable' ? unusable(found.code) : found;
    });
  }

  /** The secret, another object after each change; `undefined` without a usable one. */
  get current(): Secret | undefined {
    const { secret } = this.#reading.read();
    const { fault } = this.#reading.latest();
    const isChanged = secret !== this.#secret || fault !== this.fault;
    this.#secret = secret;
    this.fault = fault;
    if (isChanged) this.onChange();
    return secret;
  }

  /** Makes the next use read the file. */
  recheck(): void {
    this.#reading.recheck();
  }

  reveal(): string {
    return this.current?.reveal() ?? '';
  }

  toJSON(): string {
    return REDACTED;
  }
}
