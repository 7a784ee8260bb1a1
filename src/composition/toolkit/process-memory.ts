import { SendBudget } from '../../adapters/node/send-budget.js';
import { memorySize } from '../../adapters/system/memory-size.js';

// Apart from `process-wide.ts`: what mounts routes loads no more of the package than it needs.

const MIN_BYTES = 67_108_864;
const PART_OF_MEMORY = 0.25;

/** Bytes of request bodies that a process with so much memory holds together, and as many of responses. */
export function bodyMemory(memoryBytes: number): number {
  return Math.max(MIN_BYTES, Math.floor(memoryBytes * PART_OF_MEMORY));
}

/** The memory of responses that wait for their connections: one for all toolkits of a process. */
export function processSends(): SendBudget {
  return processWide('agent-bff/sends@1', () => new SendBudget(bodyMemory(memorySize())));
}

/** On a registered symbol of the global object, because a bundler gives each of its entries its own copy of this module. */
export function processWide<Value>(name: string, make: () => Value): Value {
  const holder = globalThis as Record<symbol, unknown>;
  return (holder[Symbol.for(name)] ??= make()) as Value;
}
