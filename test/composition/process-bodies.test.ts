import { describe, expect, it } from 'vitest';
import { memorySize, smallestSize } from '../../src/adapters/system/system.js';
import {
  bodyMemory,
  processBodies,
  processConnections,
  processFaults,
  processMemory,
  sharedObjects,
} from '../../src/composition/toolkit/process-wide.js';

const MIB = 1_048_576;

describe('the memory for request bodies', () => {
  it('is a quarter of the process memory, at least 64 MiB', () => {
    expect([bodyMemory(4_096 * MIB), bodyMemory(128 * MIB)]).toEqual([1_024 * MIB, 64 * MIB]);
  });

  it('uses the smallest known limit', () => {
    expect(smallestSize([4_096, 0, 2_048])).toBe(2_048);
    expect(smallestSize([4_096, undefined, 2 ** 64])).toBe(4_096);
    expect(memorySize()).toBeGreaterThan(MIB);
  });

  it('is shared by all toolkits', () => {
    expect(processBodies(1)).toBe(processBodies(2));
  });
});

describe('the parts of a process', () => {
  it.each<[string, () => unknown]>([
    ['bodies', () => processBodies(1)],
    ['faults', processFaults],
    ['connections', processConnections],
    ['shared', sharedObjects],
  ])('are known to every copy of the package: %s', (name, part) => {
    const symbol = Symbol.for(`agent-bff/${name}@1`);
    const holder = globalThis as { [name: symbol]: unknown };
    delete holder[symbol];
    const first = part();
    expect(holder[symbol]).toBeInstanceOf(Object);
    expect([part(), holder[symbol]]).toEqual([first, first]);
  });

  it('hold an eighth of the memory for data, at least 64 MiB, and a 32nd for tokens, at least 16 MiB', () => {
    const { data, tokens } = processMemory();
    const part = (least: number, divisor: number): number => Math.max(least * MIB, Math.floor(memorySize() / divisor));
    expect([data, tokens].map((memory) => memory.limitBytes)).toEqual([part(64, 8), part(16, 32)]);
  });
});
