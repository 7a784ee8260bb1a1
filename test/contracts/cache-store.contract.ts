import { describe, expect, it } from 'vitest';
import type { CacheStore } from '../../src/ports/cache-store.js';

/** A store and its clock. */
export interface CacheStoreCase {
  readonly store: CacheStore;
  now(): number;
  /** Advances the clock. */
  pass(ms: number): void | Promise<void>;
}

/** The contract of every `CacheStore`, including the fakes. */
export function cacheStoreContract(name: string, make: () => CacheStoreCase | Promise<CacheStoreCase>): void {
  describe(`${name} as a cache store`, () => {
    it('returns undefined for an unknown key', async () => {
      const { store } = await make();
      expect(await store.get('nothing')).toBeUndefined();
    });

    it('returns an entry unchanged until it expires', async () => {
      const { store, now, pass } = await make();
      const text = '{"a":"grüezi \u0000 \\n"}';
      await store.set('key', text, now() + 1_000);
      expect(await store.get('key')).toBe(text);
      await pass(1_001);
      expect(await store.get('key')).toBeUndefined();
    });

    it('never returns an entry set with a past expiry', async () => {
      const { store, now } = await make();
      await store.set('key', 'old', now() - 1);
      expect(await store.get('key')).toBeUndefined();
    });

    it('replaces an earlier entry and its expiry', async () => {
      const { store, now, pass } = await make();
      await store.set('key', 'one', now() + 100);
      await store.set('key', 'two', now() + 10_000);
      await pass(101);
      expect(await store.get('key')).toBe('two');
    });

    it('stores an empty string', async () => {
      const { store, now } = await make();
      await store.set('key', '', now() + 1_000);
      expect(await store.get('key')).toBe('');
    });

    it('deletes an entry, leaves the others, and deletes it again without an error', async () => {
      const { store, now } = await make();
      await store.set('one', '1', now() + 1_000);
      await store.set('two', '2', now() + 1_000);
      await store.delete('one');
      await store.delete('one');
      expect(await store.get('one')).toBeUndefined();
      expect(await store.get('two')).toBe('2');
    });
  });
}
