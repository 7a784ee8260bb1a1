import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.js';

const RECHECK_MS = 30_000;

// A rotation that writes in place shows half a file for a moment, and of two files one is older for a moment, so what is
// broken does not end service. It does after the life of one token: a key somebody took away must go out of use without a restart.
const LAST_GOOD_MS = 300_000;

// Key and certificate chain together stay far below; a path that names a log or a disk must not be read into memory.
const MAX_FILE_BYTES = 65_536;

/**
 * A reading of files, looked at when it was not for 30 seconds.
 * When it becomes `unusable` after a good one, the good one stays in use for five more minutes.
 */
export class WatchedReading<Reading extends { readonly kind: string }> {
  readonly #clock: Clock;
  readonly #load: () => Promise<Reading>;
  #checking: Promise<Reading> | undefined;
  #checkedAt = 0;
  #recheck = false;
  #latest: Reading | undefined;
  #lastGood: Reading | undefined;
  #brokenSince = 0;

  constructor(clock: Clock, load: () => Promise<Reading>) {
    this.#clock = clock;
    this.#load = load;
  }

  async read(): Promise<Reading> {
    const known = this.#checking === undefined && this.#isFresh() ? this.#latest : undefined;
    return this.#choose(known ?? (await this.#check()));
  }

  /** Makes the next `read` look at the files, however recently that was done. */
  recheck(): void {
    this.#recheck = true;
  }

  #isFresh(): boolean {
    const age = this.#clock.now() - this.#checkedAt;
    // A clock set back makes the age negative, and must not put the next look off by as much.
    return !this.#recheck && age >= 0 && age < RECHECK_MS;
  }

  #check(): Promise<Reading> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #look(): Promise<Reading> {
    let reading: Reading;
    do {
      this.#recheck = false;
      this.#checkedAt = this.#clock.now();
      reading = await this.#load();
      // Asked for while this look was under way: it may have seen the file as it was before.
    } while (this.#recheck);

    if (reading.kind !== 'unusable') this.#lastGood = reading;
    else if (this.#latest?.kind !== 'unusable') this.#brokenSince = this.#clock.now();
    this.#latest = reading;
    return reading;
  }

  #choose(latest: Reading): Reading {
    if (latest.kind !== 'unusable' || this.#lastGood === undefined) return latest;
    if (this.#clock.now() - this.#brokenSince < LAST_GOOD_MS) return this.#lastGood;
    this.#lastGood = undefined;
    return latest;
  }
}

/** The file cannot be read. */
export interface Unreadable {
  readonly kind: 'unreadable';
  /** The code of the file system. */
  readonly code: string;
}

/** One file, parsed again only when it changed. */
export class ParsedFile<Content> {
  readonly #path: string;
  readonly #parse: (content: Buffer) => Content;
  #seen: { readonly stamp: string; readonly content: Content } | undefined;

  constructor(path: string, parse: (content: Buffer) => Content) {
    this.#path = path;
    this.#parse = parse;
  }

  async read(): Promise<Content | Unreadable> {
    try {
      // Before the read: a change in between gives another stamp, and so another read, the next time.
      const found = await stat(this.#path);
      if (!found.isFile()) return { kind: 'unreadable', code: 'EISDIR' };
      if (found.size > MAX_FILE_BYTES) return { kind: 'unreadable', code: 'EFBIG' };
      const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
      if (this.#seen?.stamp !== stamp) this.#seen = { stamp, content: this.#parse(await readFile(this.#path)) };
      return this.#seen.content;
    } catch (error) {
      return { kind: 'unreadable', code: String((error as NodeJS.ErrnoException).code ?? 'UNKNOWN') };
    }
  }
}

/** A path as the server's log may show it: a key given as a path by mistake is longer than any path worth logging. */
export function placeOf(path: string): string {
  return path.length > 255 || path.includes('-----BEGIN') ? 'a value that is no path' : path;
}
