import { describe, expect, it } from 'vitest';
import { memorySize, smallestSize } from '../../src/adapters/system/system.js';
import { bodyMemory, processBodies } from '../../src/composition/toolkit/process-wide.js';

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
