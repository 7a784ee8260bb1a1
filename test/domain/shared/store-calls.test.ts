import { expect, it } from 'vitest';
import { getMany, STORE_AWAY } from '../../../src/domain/shared/store-calls.js';

const get = (key: string): Promise<string | undefined> => Promise.resolve(key === 'absent' ? undefined : `of ${key}`);

it.each([
  ['one by one', { get }, ['of a', undefined, 'of b']],
  ['in one call', { get, getMany: (keys: readonly string[]) => Promise.resolve(keys) }, ['a', 'absent', 'b']],
])('the entries of a store are read %s, in their order', async (_how, store, entries) => {
  expect(await getMany(store, ['a', 'absent', 'b'])).toEqual(entries);
});

it('a store that is not called for now is named in the log', () => {
  expect(STORE_AWAY.message).toBe('the shared store is away');
});
