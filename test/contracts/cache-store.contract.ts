import { describe, expect, it } from 'vitest';
import { getMany } from '../../src/domain/shared/get-many.js';
import type { CacheStore } from '../../src/ports/cache-store.js';

/** A store, and the clock it goes by. */
export interface CacheStoreCase {
  readonly store: CacheStore;
  now(): number;
  /** Lets time pass, in milliseconds. */
  pass(ms: number): void | Promise<void>;
}

/** What every `CacheStore` promises, fakes included. */
export function cacheStoreContract(name: string, make: () => CacheStoreCase | Promise<CacheStoreCase>): void {
  describe(`${name} keeps the promises of a cache store:`, () => {
    it('what was never kept is not there', async () => {
      const { store } = await make();
      expect(await store.get('nothing')).toBeUndefined();
    });

    it('an entry is there until it expires, to the letter', async () => {
      const { store, now, pass } = await make();
      const text = '{"a":"grüezi \u0000 \\n"}';
      await store.set('key', text, now() + 1_000);
      expect(await store.get('key')).toBe(text);
      await pass(1_001);
      expect(await store.get('key')).toBeUndefined();
    });

    it('an entry that has expired already is not there', async () => {
      const { store, now } = await make();
      await store.set('key', 'old', now() - 1);
      expect(await store.get('key')).toBeUndefined();
    });

    it('a later entry replaces an earlier one and its expiry', async () => {
      const { store, now, pass } = await make();
      await store.set('key', 'one', now() + 100);
      await store.set('key', 'two', now() + 10_000);
      await pass(101);
      expect(await store.get('key')).toBe('two');
    });

    it('the entries of several keys come in the order of the keys, absent and expired ones as none', async () => {
      const { store, now, pass } = await make();
      await store.set('one', '1', now() + 10_000);
      await store.set('late', '2', now() + 100);
      await store.set('three', '3', now() + 10_000);
      await pass(101);
      expect(await getMany(store, ['three', 'nothing', 'late', 'one'])).toEqual(['3', undefined, undefined, '1']);
      expect(await getMany(store, [])).toEqual([]);
    });

    it('an empty text is an entry', async () => {
      const { store, now } = await make();
      await store.set('key', '', now() + 1_000);
      expect(await store.get('key')).toBe('');
    });

    it('a removed entry is gone, its neighbours stay, and removing it again is no error', async () => {
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
