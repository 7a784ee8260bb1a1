import { MemoryBudget, MemoryShare } from '../../src/domain/shared/memory-budget.js';
import type { Clock } from '../../src/ports/clock.js';

/** The memory of one toolkit. */
export function memoryOf(clock: Clock, limitBytes: number = Infinity): MemoryShare {
  return new MemoryShare(new MemoryBudget(limitBytes), () => clock.now());
}
