import { MinHeap } from './min-heap.js';

/** An entry of a cache. Times are milliseconds since the epoch, by the clock of its share. */
export interface CountedEntry {
  readonly key: string;
  readonly bytes: number;
  readonly expiresAt: number;
  readonly cache: CountedCache;
}

/** A cache whose entries count in a share. */
export interface CountedCache {
  readonly bytes: number;
  readonly share: MemoryShare | undefined;
  delete(key: string): void;
  /** Deletes the least recently used entry. */
  evict(): void;
  clear(): void;
}

/** Entries are indexed by the slice of time in which they expire, so that dropping them does not visit the others. */
const SLICE_MS = 30_000;

/**
 * The memory of cached data of all toolkits of a process. Expired entries are dropped as others are added. When it is
 * full, the toolkit that holds most evicts from its largest cache: a quiet tenant loses nothing to a busy one.
 */
export class MemoryBudget {
  readonly limitBytes: number;
  /** The largest first. */
  readonly #shares = new MinHeap<MemoryShare>();
  readonly #slices = new Map<number, Set<CountedEntry>>();
  /** Bytes held now. */
  heldBytes: number = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  add(entry: CountedEntry, share: MemoryShare): void {
    const slice = sliceOf(entry);
    const entries = this.#slices.get(slice) ?? new Set();
    this.#slices.set(slice, entries.add(entry));
    this.#count(share, entry.bytes);
    this.#dropExpired(share.now());
    while (this.heldBytes > this.limitBytes) this.#shares.first?.evict();
  }

  remove(entry: CountedEntry, share: MemoryShare): void {
    const slice = sliceOf(entry);
    const entries = this.#slices.get(slice);
    entries?.delete(entry);
    if (entries?.size === 0) this.#slices.delete(slice);
    this.#count(share, -entry.bytes);
  }

  #count(share: MemoryShare, bytes: number): void {
    this.heldBytes += bytes;
    if (share.bytes > 0) this.#shares.set(share, -share.bytes);
    else this.#shares.delete(share);
  }

  #dropExpired(now: number): void {
    for (const [slice, entries] of this.#slices) {
      if (slice * SLICE_MS > now) continue;
      // A toolkit may have a clock of its own.
      for (const { key, cache, expiresAt } of entries)
        if (cache.share !== undefined && expiresAt <= cache.share.now()) cache.delete(key);
    }
  }
}

/** The share of one toolkit. */
export class MemoryShare {
  readonly #budget: MemoryBudget;
  /** Bytes that all toolkits may hold together: a larger entry is not stored, and evicts no other. */
  readonly limitBytes: number;
  /** Caches with entries. */
  readonly #caches = new Set<CountedCache>();
  readonly now: () => number;
  bytes: number = 0;
  isClosed: boolean = false;

  /** `now`: milliseconds since the epoch. */
  constructor(budget: MemoryBudget, now: () => number) {
    this.#budget = budget;
    this.limitBytes = budget.limitBytes;
    this.now = now;
  }

  /** Counts an entry of a cache; may evict it. */
  add(entry: CountedEntry): void {
    this.#caches.add(entry.cache);
    this.bytes += entry.bytes;
    this.#budget.add(entry, this);
  }

  /** Called after the cache has subtracted the entry. */
  remove(entry: CountedEntry): void {
    if (entry.cache.bytes === 0) this.#caches.delete(entry.cache);
    this.bytes -= entry.bytes;
    this.#budget.remove(entry, this);
  }

  /** Evicts one entry of the largest cache, which is usually one that visitors can fill at will. */
  evict(): void {
    let largest: CountedCache | undefined;
    for (const cache of this.#caches) if (cache.bytes > (largest?.bytes ?? 0)) largest = cache;
    largest?.evict();
  }

  /** Empties all caches; later entries are not stored. */
  close(): void {
    this.isClosed = true;
    for (const cache of this.#caches) cache.clear();
  }
}

function sliceOf({ expiresAt }: CountedEntry): number {
  return Math.ceil(expiresAt / SLICE_MS);
}
