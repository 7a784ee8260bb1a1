import { inspect } from 'node:util';
import type { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { KeyvCacheStore, keyvOver } from '../../src/adapters/keyv/keyv-cache-store.js';
import { MemoryStorage } from '../../src/adapters/keyv/memory-storage.js';
import { memoryOf } from '../support/memory.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';

const clock = new FakeClock();
const LIFE_MS = 60_000;

function memory(limitBytes?: number): Keyv<string> {
  return keyvOver(new MemoryStorage(clock, memoryOf(clock, limitBytes)));
}

async function kept(keyv: Keyv<string>, keys: string): Promise<string> {
  const found = await keyv.getMany(keys.split(''));
  return keys
    .split('')
    .filter((_key, index) => found[index] !== undefined)
    .join('');
}

cacheStoreContract('KeyvCacheStore over MemoryStorage', () => {
  const keyv = memory();
  const telemetry = new RecordingTelemetry();
  const store = new KeyvCacheStore({ keyv, getMany: (keys) => keyv.getMany(keys), clock, telemetry });
  return { store, now: () => clock.now(), pass: (ms) => clock.advance(ms) };
});

describe('the storage in memory', () => {
  it('evicts as many entries as a large one needs', async () => {
    const keyv = memory(1_120);
    for (const key of 'abcd') await keyv.set(key, 'x'.repeat(9), LIFE_MS);
    await keyv.set('e', 'x'.repeat(19), LIFE_MS);
    expect(await kept(keyv, 'abcde')).toBe('cde');
  });

  it('reuses the space of removed, replaced and expired entries', async () => {
    const keyv = memory(1_120);
    await keyv.set('a', 'x'.repeat(300), LIFE_MS);
    await keyv.delete('a');
    await keyv.set('a', 'x'.repeat(300), LIFE_MS);
    await keyv.set('a', 'x'.repeat(9), 10);
    clock.advance(10);
    expect(await keyv.get('a')).toBeUndefined();
    for (const key of 'bcde') await keyv.set(key, 'x'.repeat(9), LIFE_MS);
    expect(await kept(keyv, 'bcde')).toBe('bcde');
  });

  it('is empty after clear()', async () => {
    const keyv = memory();
    await keyv.set('a', 'value', LIFE_MS);
    await keyv.clear();
    expect(await kept(keyv, 'a')).toBe('');
  });

  it('keeps texts as they are, and needs no protection from faults', async () => {
    const keyv = memory();
    const store = new KeyvCacheStore({ keyv, clock, telemetry: new RecordingTelemetry() });
    await store.set('a', 'value', clock.now() + LIFE_MS);
    expect([await keyv.get('a'), store.isAway, keyv.listeners('error')]).toEqual(['value', false, []]);
    expect(store.close()).toBeUndefined();
  });

  it('shows no entry in a print', async () => {
    const keyv = memory();
    await keyv.set('key', 'hunter2', LIFE_MS);
    expect(inspect(keyv, { depth: 12, showHidden: true })).not.toContain('hunter2');
  });
});

it('a Keyv over a storage that fails throws its error', async () => {
  const storage = new MemoryStorage(clock, memoryOf(clock));
  const keyv = keyvOver(Object.assign(storage, { get: () => Promise.reject(new Error('gone')) }));
  await expect(keyv.get('a')).rejects.toThrow('gone');
});
