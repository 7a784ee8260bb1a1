import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../src/', import.meta.url));

/** Mechanisms that the cache once had (decision 20). Each protected three seconds in a fleet, and cost more than it saved. */
const FILES = [
  'fleet-flight',
  'keyv-cache-store',
  'memory-budget',
  'memory-storage',
  'redis-node',
  'redis-storage',
  'sealed-cache-store',
  'store-budget',
  'store-calls',
  'version-tags',
];
const NAMES = ['FleetFlight', 'MemoryBudget', 'setIfAbsent', 'getMany', 'storeBytes', 'versionTag', 'yieldTurn'];

describe('the cache has not again', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

  it.each(FILES)('a file %s', (name) => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => file.endsWith(`/${name}.ts`))).toEqual([]);
  });

  it.each(NAMES)('the name %s', (name) => {
    expect(files.filter((file) => readFileSync(SOURCE + file, 'utf8').includes(name))).toEqual([]);
  });
});
