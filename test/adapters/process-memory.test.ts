import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/adapters/fakes/fakes.js';
import { ProcessMemory } from '../../src/adapters/memory/process-memory.js';

describe('the memory of a process', () => {
  it('has a value until it expires, by the clock of its toolkit', () => {
    const clock = new FakeClock();
    const map = new ProcessMemory(10_000).share(clock).map<number>();
    map.set('a', 1, 10, clock.now() + 1_000);
    clock.advance(999);
    expect([map.get('a'), [...map]]).toEqual([1, [['a', 1]]]);
    clock.advance(1);
    expect([[...map], map.get('a')]).toEqual([[], undefined]);
  });

  it('keeps equal keys of two maps apart', () => {
    const clock = new FakeClock();
    const memory = new ProcessMemory(10_000);
    const maps = [memory.share(clock), memory.share(clock)].flatMap((share) => [
      share.map<number>(),
      share.map<number>(),
    ]);
    for (const [index, map] of maps.entries()) map.set('a', index, 10, Infinity);
    maps[0]?.delete('a');
    expect(maps.map((map) => map.get('a'))).toEqual([undefined, 1, 2, 3]);
  });

  it('evicts the least recently used value of any toolkit when it is full, and never exceeds its bound', () => {
    const clock = new FakeClock();
    const memory = new ProcessMemory(10_000);
    const [quiet, busy] = [memory.share(clock).map<number>(), memory.share(clock).map<number>()];
    quiet.set('unused', 1, 100, Infinity);
    quiet.set('used', 2, 100, Infinity);
    for (let count = 0; count < 100; count += 1) {
      busy.set(String(count), count, 100, Infinity);
      expect(quiet.get('used')).toBe(2);
      expect(memory.heldBytes).toBeLessThanOrEqual(10_000);
    }
    expect([quiet.get('unused'), busy.get('99')]).toEqual([undefined, 99]);
  });

  it('does not store a value that alone is too large', () => {
    const map = new ProcessMemory(1_000).share(new FakeClock()).map<number>();
    map.set('large', 1, 1_001, Infinity);
    expect(map.get('large')).toBeUndefined();
  });

  it('holds nothing that has expired once another value is stored', () => {
    const clock = new FakeClock();
    const memory = new ProcessMemory(100_000);
    const map = memory.share(clock).map<number>();
    for (let count = 0; count < 100; count += 1) map.set(String(count), count, 100, clock.now() + 1_000);
    const held = memory.heldBytes;
    clock.advance(1_000);
    map.set('next', 1, 100, clock.now() + 1_000);
    expect(memory.heldBytes).toBeLessThan(held / 50);
  });

  it('of a toolkit that is closed is empty, and stores nothing more', () => {
    const clock = new FakeClock();
    const memory = new ProcessMemory(10_000);
    const [closed, open] = [memory.share(clock), memory.share(clock)];
    const [one, other] = [closed.map<number>(), open.map<number>()];
    one.set('a', 1, 10, Infinity);
    other.set('a', 2, 10, Infinity);
    closed.close();
    one.set('b', 1, 10, Infinity);
    expect([[...one], [...other]]).toEqual([[], [['a', 2]]]);
  });
});
