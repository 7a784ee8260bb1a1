import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '../../ports/clock.js';

const RECHECK_MS = 30_000;

// A rotation in place exposes an incomplete file, or a mismatched pair, for a moment, so an unusable file does not stop
// the service at once. It does after the lifetime of one token: a removed key must stop working without a restart.
const LAST_GOOD_MS = 300_000;

// Key and certificate chain together are far smaller; a path to a log or a disk must not be read into memory.
const MAX_FILE_BYTES = 65_536;

/**
 * The result of reading files, which are checked at most every 30 seconds. If it becomes `unusable` after a good
 * result, the good one stays in use for five more minutes. Synchronous, since credentials are: a check asks the file
 * system for a few facts, twice a minute.
 */
export class WatchedReading<Reading extends { readonly kind: string }> {
  readonly #clock: Clock;
  readonly #load: () => Reading;
  #checkedAt = NaN;
  #latest: Reading | undefined;
  #lastGood: Reading | undefined;
  #brokenSince = 0;

  constructor(clock: Clock, load: () => Reading) {
    this.#clock = clock;
    this.#load = load;
  }

  read(): Reading {
    const latest = this.latest();
    if (latest.kind !== 'unusable' || this.#lastGood === undefined) return latest;
    if (this.#clock.now() - this.#brokenSince < LAST_GOOD_MS) return this.#lastGood;
    this.#lastGood = undefined;
    return latest;
  }

  /** The result itself, even if the last good one is still in use. */
  latest(): Reading {
    const now = this.#clock.now();
    const age = now - this.#checkedAt;
    // A clock set back makes the age negative, which must not postpone the next check.
    if (this.#latest !== undefined && age >= 0 && age < RECHECK_MS) return this.#latest;
    const reading = this.#load();
    if (reading.kind !== 'unusable') this.#lastGood = reading;
    else if (this.#latest?.kind !== 'unusable') this.#brokenSince = now;
    this.#checkedAt = now;
    this.#latest = reading;
    return reading;
  }

  /** Makes the next `read` check the files, even if they were checked recently. */
  recheck(): void {
    this.#checkedAt = NaN;
  }
}

/** The file cannot be read. */
export interface Unreadable {
  readonly kind: 'unreadable';
  /** The error code of the file system. */
  readonly code: string;
}

/** A file that is parsed again only if it changed. */
export class ParsedFile<Content> {
  readonly #path: string;
  readonly #parse: (content: Buffer) => Content;
  #seen: { readonly stamp: string; readonly content: Content } | undefined;

  constructor(path: string, parse: (content: Buffer) => Content) {
    this.#path = path;
    this.#parse = parse;
  }

  read(): Content | Unreadable {
    try {
      // Before reading: if the file changes in between, the stamp differs next time and the file is read again.
      const found = statSync(this.#path);
      if (!found.isFile()) return { kind: 'unreadable', code: 'EISDIR' };
      if (found.size > MAX_FILE_BYTES) return { kind: 'unreadable', code: 'EFBIG' };
      const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
      if (this.#seen?.stamp !== stamp) this.#seen = { stamp, content: this.#parse(readFileSync(this.#path)) };
      return this.#seen.content;
    } catch (error) {
      return { kind: 'unreadable', code: String((error as NodeJS.ErrnoException).code ?? 'UNKNOWN') };
    }
  }
}

/** A path for the server's log. A key configured as a path by mistake is longer than any path worth logging, so it is not shown. */
export function locationOf(path: string): string {
  return path.length > 255 || path.includes('-----BEGIN') ? 'a value that is not a path' : path;
}
