import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.js';
import type { PrivateKeyReading, PrivateKeySource } from './private-key.js';
import { fileAdvice, misplacedKeyAdvice, pemAdvice } from './key-advice.js';
import { readPem } from './pem.js';

const RECHECK_MS = 30_000;

// A rotation that writes in place shows half a key for a moment, so a broken file does not end service at once. It does
// end it after the life of one token: a key somebody took away must go out of use without a restart.
const LAST_KEY_MS = 300_000;

// Key and certificate chain together stay far below; a path that names a log or a disk must not be read into memory.
const MAX_FILE_BYTES = 65_536;

/** Where a key given as a path comes from. */
export interface KeyFileOptions {
  /** The value of `privateKeyPath`. */
  readonly path: string;
  /** The configuration block named in advice, such as `serviceAccount`. */
  readonly block: string;
  readonly clock: Clock;
}

type Key = Extract<PrivateKeyReading, { kind: 'key' }>;

/**
 * A private key in a file. The file is looked at when it was not for 30 seconds, and read again when it changed.
 * A file that breaks after a good read leaves its last key in use for five more minutes.
 */
export class KeyFile implements PrivateKeySource {
  readonly #path: string;
  readonly #block: string;
  readonly #clock: Clock;
  #checking: Promise<PrivateKeyReading> | undefined;
  #checkedAt = 0;
  #recheck = false;
  #seen: { readonly stamp: string; readonly reading: PrivateKeyReading } | undefined;
  #latest: PrivateKeyReading | undefined;
  #lastKey: Key | undefined;
  #brokenSince = 0;

  constructor(options: KeyFileOptions) {
    this.#path = options.path;
    this.#block = options.block;
    this.#clock = options.clock;
  }

  async read(): Promise<PrivateKeyReading> {
    const known = this.#checking === undefined && this.#isFresh() ? this.#latest : undefined;
    return this.#choose(known ?? (await this.#check()));
  }

  /** Makes the next `read` look at the file, however recently that was done: the platform may have refused the key. */
  recheck(): void {
    this.#recheck = true;
  }

  #isFresh(): boolean {
    const age = this.#clock.now() - this.#checkedAt;
    // A clock set back makes the age negative, and must not put the next look off by as much.
    return !this.#recheck && age >= 0 && age < RECHECK_MS;
  }

  #check(): Promise<PrivateKeyReading> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #look(): Promise<PrivateKeyReading> {
    let reading: PrivateKeyReading;
    do {
      this.#recheck = false;
      this.#checkedAt = this.#clock.now();
      reading = await this.#load();
      // Asked for while this look was under way: it may have seen the file as it was before.
    } while (this.#recheck);

    if (reading.kind === 'key') this.#lastKey = reading;
    else if (this.#latest?.kind === 'key') this.#brokenSince = this.#clock.now();
    this.#latest = reading;
    return reading;
  }

  #choose(latest: PrivateKeyReading): PrivateKeyReading {
    if (latest.kind === 'key' || this.#lastKey === undefined) return latest;
    if (this.#clock.now() - this.#brokenSince < LAST_KEY_MS) return this.#lastKey;
    this.#lastKey = undefined;
    return latest;
  }

  async #load(): Promise<PrivateKeyReading> {
    if (this.#path.includes('-----BEGIN')) {
      return this.#unusable(misplacedKeyAdvice(this.#block), 'the value is a PEM text');
    }
    try {
      // Before the read: a change in between gives another stamp, and so another read, the next time.
      const found = await stat(this.#path);
      if (!found.isFile()) return this.#unreadable('EISDIR');
      if (found.size > MAX_FILE_BYTES) return this.#unreadable('EFBIG');
      const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
      if (this.#seen?.stamp !== stamp) {
        this.#seen = { stamp, reading: this.#parse(await readFile(this.#path, 'utf8')) };
      }
      return this.#seen.reading;
    } catch (error) {
      return this.#unreadable(String((error as NodeJS.ErrnoException).code ?? 'UNKNOWN'));
    }
  }

  #parse(text: string): PrivateKeyReading {
    const pem = readPem(text);
    if (pem.kind === 'key') return pem;
    return this.#unusable(pemAdvice('privateKeyPath', this.#block, pem.fault), `${pem.fault} ${pem.code}`.trimEnd());
  }

  #unreadable(code: string): PrivateKeyReading {
    return this.#unusable(fileAdvice(this.#block, code), code);
  }

  #unusable(advice: string, reason: string): PrivateKeyReading {
    // A key given as a path by mistake, in whatever shape, is longer than any path worth logging.
    const place = this.#path.length > 255 || this.#path.includes('-----BEGIN') ? 'a value that is no path' : this.#path;
    return { kind: 'unusable', field: 'privateKeyPath', advice, detail: `privateKeyPath: ${reason}: ${place}` };
  }
}
