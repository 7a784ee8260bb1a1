import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { LruMap } from '../../../src/domain/shared/lru-map.js';
import { MemoryBudget, MemoryShare } from '../../../src/domain/shared/memory-budget.js';

const KB = 1_000;
/** Bytes of an entry besides its value, with a key of one character. */
const MORE = 258;

/** A process with a memory of this many entries of 1 KB, and its tenants. */
class Process {
  readonly clock: FakeClock = new FakeClock();
  readonly budget: MemoryBudget;

  constructor(entries: number) {
    this.budget = new MemoryBudget(entries * KB);
  }

  tenant(clock: FakeClock = this.clock): MemoryShare {
    return new MemoryShare(this.budget, () => clock.now());
  }

  /** Fills a map with an entry of 1 KB for each character. */
  fill(map: LruMap<number>, keys: string, lifeMs = Infinity): void {
    for (const key of keys) map.set(key, 1, KB - MORE, this.clock.now() + lifeMs);
  }
}

const keysOf = (map: LruMap<number>): string => [...map].map(([key]) => key).join('');
const cache = (share: MemoryShare): LruMap<number> => new LruMap<number>({ share });

describe('the memory that toolkits share', () => {
  it('evicts from the toolkit that holds most, the least recently used first', () => {
    const site = new Process(6);
    const [quiet, busy] = [cache(site.tenant()), cache(site.tenant())];
    site.fill(quiet, 'ab');
    site.fill(busy, 'abcd');
    busy.get('a');
    site.fill(busy, 'efgh');
    expect([keysOf(quiet), keysOf(busy), site.budget.heldBytes]).toEqual(['ab', 'efgh', 6 * KB]);
    site.fill(quiet, 'c');
    expect([keysOf(quiet), keysOf(busy)]).toEqual(['abc', 'fgh']);
  });

  it('evicts from the largest cache of that toolkit, so that visitors who flood one cache only displace its entries', () => {
    const site = new Process(6);
    const tenant = site.tenant();
    const [ours, strangers] = [cache(tenant), cache(tenant)];
    site.fill(strangers, 'abcd');
    site.fill(ours, 'ab');
    site.fill(strangers, 'efghijkl');
    expect([keysOf(ours), keysOf(strangers)]).toEqual(['ab', 'ijkl']);
  });

  it('drops expired entries of any toolkit before it evicts one', () => {
    const site = new Process(6);
    const [one, other] = [cache(site.tenant()), cache(site.tenant())];
    site.fill(one, 'ab', 60_000);
    site.fill(other, 'abcd', 300_000);
    site.clock.advance(60_000);
    site.fill(other, 'ef', 300_000);
    expect([keysOf(one), keysOf(other)]).toEqual(['', 'abcdef']);
  });

  it('evicts from the toolkit that holds most now, not from one that held more before', () => {
    const site = new Process(4);
    const [one, other] = [cache(site.tenant()), cache(site.tenant())];
    site.fill(one, 'abcd');
    for (const key of 'bcd') one.delete(key);
    site.fill(other, 'abcd');
    expect([keysOf(one), keysOf(other)]).toEqual(['a', 'bcd']);
  });

  it('drops an expired entry after another one that expires with it was deleted', () => {
    const site = new Process(6);
    const [one, other] = [cache(site.tenant()), cache(site.tenant())];
    site.fill(one, 'ab', 60_000);
    one.delete('a');
    site.clock.advance(60_000);
    site.fill(other, 'a');
    expect([keysOf(one), site.budget.heldBytes]).toEqual(['', KB]);
  });

  it('drops expired entries although there is space, when another toolkit stores something', () => {
    const site = new Process(1_000);
    const [one, other] = [cache(site.tenant()), cache(site.tenant())];
    for (let number = 0; number < 500; number += 1) one.set(String(number), 1, KB, site.clock.now() + 300_000);
    site.clock.advance(10_800_000);
    site.fill(other, 'a', 300_000);
    expect([one.size, site.budget.heldBytes]).toEqual([0, KB]);
  });

  it('leaves entries that have not expired by the clock of their own toolkit', () => {
    const site = new Process(6);
    const [own, system] = [cache(site.tenant(new FakeClock())), cache(site.tenant())];
    site.fill(own, 'a', 60_000);
    site.clock.advance(300_000);
    site.fill(system, 'a');
    expect(keysOf(own)).toBe('a');
  });

  it.each([
    ['deleted', (map: LruMap<number>) => map.delete('a')],
    ['replaced by a smaller one', (map: LruMap<number>) => map.set('a', 1)],
  ])('no longer counts an entry that was %s', (_how, change) => {
    const site = new Process(6);
    const map = cache(site.tenant());
    site.fill(map, 'a');
    change(map);
    expect(site.budget.heldBytes).toBe(map.size * MORE);
  });

  it('does not hold an entry that is larger than the whole memory, and evicts no other for it', () => {
    const site = new Process(4);
    const [one, other] = [cache(site.tenant()), cache(site.tenant())];
    site.fill(one, 'ab');
    site.fill(other, 'a');
    one.set('c', 1, 5 * KB);
    expect([keysOf(one), keysOf(other), site.budget.heldBytes]).toEqual(['ab', 'a', 3 * KB]);
  });

  it('is empty after each toolkit closed its share, and stays so', () => {
    const site = new Process(60);
    const tenants = [site.tenant(), site.tenant()];
    const maps = tenants.flatMap((tenant) => [cache(tenant), cache(tenant)]);
    for (const map of maps) site.fill(map, 'abc');
    tenants[0]?.close();
    expect([maps.map(keysOf), site.budget.heldBytes]).toEqual([['', '', 'abc', 'abc'], 6 * KB]);
    tenants[1]?.close();
    for (const map of maps) site.fill(map, 'abc');
    expect(site.budget.heldBytes).toBe(0);
  });

  it('visits no other entry when one is stored', () => {
    const visits = (tenants: number): number => {
      let count = 0;
      const site = new Process(tenants);
      const shares = Array.from(
        { length: tenants },
        () =>
          new MemoryShare(site.budget, () => {
            count += 1;
            return site.clock.now();
          }),
      );
      for (const share of shares) site.fill(cache(share), 'a', 300_000);
      count = 0;
      site.fill(cache(shares[0] as MemoryShare), 'bcdefghijk', 300_000);
      return count;
    };
    expect([visits(10), visits(1_000)]).toEqual([10, 10]);
  });
});
