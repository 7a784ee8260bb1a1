import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/adapters/fakes/fake-clock.js';
import { MemoryCacheStore } from '../../src/adapters/keyv/memory-cache-store.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';

const clock = new FakeClock();
const soon = (): number => clock.now() + 60_000;

function memory(bounds: { maxEntries?: number; maxBytes?: number } = {}): MemoryCacheStore {
  return new MemoryCacheStore({ clock, maxEntries: 1_000, maxBytes: 1_000_000, ...bounds });
}

function kept(store: MemoryCacheStore, keys: string): string {
  return keys
    .split('')
    .filter((key) => store.get(key) !== undefined)
    .join('');
}

cacheStoreContract('MemoryCacheStore', () => ({
  store: memory(),
  now: () => clock.now(),
  pass: (ms) => clock.advance(ms),
}));

describe('the store in memory is bounded:', () => {
  it('the entry that was not used for longest goes first', async () => {
    const store = memory({ maxEntries: 3 });
    for (const key of 'abc') await store.set(key, 'value', soon());
    store.get('a');
    await store.set('d', 'value', soon());
    expect(kept(store, 'abcd')).toBe('acd');
  });

  it('an entry that is used now and then stays, however many come and go', async () => {
    const store = memory({ maxEntries: 40 });
    await store.set('used', 'value', soon());
    for (let count = 0; count < 1_000; count += 1) {
      await store.set(`other ${String(count)}`, 'value', soon());
      if (count % 30 === 0) expect(store.get('used')).toBe('value');
    }
    expect(store.get('used')).toBe('value');
    expect(store.get('other 959')).toBeUndefined();
  });

  it('large entries push out as many as they need', async () => {
    const store = memory({ maxBytes: 80 });
    for (const key of 'abcd') await store.set(key, 'x'.repeat(9), soon());
    await store.set('e', 'x'.repeat(19), soon());
    expect(kept(store, 'abcde')).toBe('cde');
  });

  it('an entry larger than all of it is not kept, pushes nothing out, and the older one under its key is gone', async () => {
    const store = memory({ maxBytes: 80 });
    for (const key of 'ab') await store.set(key, 'value', soon());
    await store.set('a', 'x'.repeat(40), soon());
    expect(kept(store, 'ab')).toBe('b');
  });

  it('an entry that has expired already pushes nothing out', async () => {
    const store = memory({ maxEntries: 2 });
    for (const key of 'ab') await store.set(key, 'value', soon());
    await store.set('c', 'value', clock.now());
    expect(kept(store, 'abc')).toBe('ab');
  });

  it('the room of entries that were removed, replaced or found expired is free again', async () => {
    const store = memory({ maxBytes: 80 });
    await store.set('a', 'x'.repeat(39), soon());
    await store.delete('a');
    await store.set('a', 'x'.repeat(39), soon());
    await store.set('a', 'x'.repeat(9), clock.now() + 10);
    clock.advance(10);
    expect(store.get('a')).toBeUndefined();
    for (const key of 'bcde') await store.set(key, 'x'.repeat(9), soon());
    expect(kept(store, 'bcde')).toBe('bcde');
  });

  it('a print of it shows no entry', async () => {
    const store = memory();
    await store.set('key', 'hunter2', soon());
    expect(inspect(store, { depth: 12, showHidden: true })).not.toContain('hunter2');
  });
});
