import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Bytes this process may fill: the limit of its heap or the memory of its container or machine, whichever is smaller. */
export function memorySize(): number {
  // Not every runtime that serves requests like Node's knows of containers.
  const { constrainedMemory } = process as Partial<typeof process>;
  return smallestSize([getHeapStatistics().heap_size_limit, constrainedMemory?.(), totalmem()]);
}

/** Where nothing is limited, systems say 0, nothing, or more than there is. */
export function smallestSize(sizes: readonly (number | undefined)[]): number {
  return Math.min(...sizes.filter((size): size is number => size !== undefined && size > 0));
}
