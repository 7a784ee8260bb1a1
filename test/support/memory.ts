import { ProcessMemory } from '../../src/adapters/memory/process-memory.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Memory } from '../../src/ports/memory.js';

/** The memory of one toolkit. */
export function memoryOf(clock: Clock, limitBytes: number = Infinity): Memory & { close(): void } {
  return new ProcessMemory(Math.min(limitBytes, 67_108_864)).share(clock);
}
