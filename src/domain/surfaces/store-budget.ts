import { LruMap } from '../shared/lru-map.js';

/** A render to store. Times are milliseconds since the epoch. */
export interface StoredRender {
  readonly bytes: number;
  readonly expiresAt: number;
  readonly now: number;
  /** Bytes that all unexpired renders of this process may take in the store. */
  readonly limitBytes: number;
}

/** Entries are counted by the slice of time in which they expire, so that counting takes little memory. */
const SLICE_MS = 10_000;
/** Total bytes of remembered keys. */
const SEEN_BYTES = 4_194_304;
/** Bytes of an entry besides its key. */
const ENTRY_BYTES = 128;

/**
 * Bounds what a process leaves in a shared store, so that strangers cannot fill it: beyond the limit, a render is
 * stored on its second request only. It deletes nothing, since other processes use the same entries.
 */
export class StoreBudget {
  readonly #slices = new Map<number, number>();
  /** Renders that were requested once beyond the limit. */
  readonly #seen = new LruMap<true>({ maxBytes: SEEN_BYTES });
  #bytes = 0;
  #sweptAt = -Infinity;

  /** True if the render may be stored now; it then counts until it expires, since a write that failed may land later. */
  admits(key: string, { bytes, expiresAt, now, limitBytes }: StoredRender): boolean {
    this.#sweep(now);
    if (this.#bytes + bytes > limitBytes && this.#seen.get(key) === undefined) {
      this.#seen.set(key, true, 2 * key.length + ENTRY_BYTES);
      return false;
    }
    const slice = Math.ceil(expiresAt / SLICE_MS);
    this.#slices.set(slice, (this.#slices.get(slice) ?? 0) + bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Once per slice: the work of a call does not grow with the number of renders. */
  #sweep(now: number): void {
    // If the clock was set back, a sweep is due: otherwise nothing would expire until it has caught up.
    if (this.#sweptAt <= now && now < this.#sweptAt + SLICE_MS) return;
    this.#sweptAt = Math.floor(now / SLICE_MS) * SLICE_MS;
    for (const [slice, bytes] of this.#slices) {
      if (slice * SLICE_MS > now) continue;
      this.#slices.delete(slice);
      this.#bytes -= bytes;
    }
  }
}
