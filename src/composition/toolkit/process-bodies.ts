import { memorySize } from '../../adapters/system/memory-size.js';
import { BodyBudget } from '../../adapters/web/body-budget.js';

const MIN_BYTES = 67_108_864;
const PART_OF_MEMORY = 0.25;

const KEY: unique symbol = Symbol.for('agent-bff/bodies@1') as never;

/** Bytes of request bodies that a process with so much memory holds together. */
export function bodyMemory(memoryBytes: number): number {
  return Math.max(MIN_BYTES, Math.floor(memoryBytes * PART_OF_MEMORY));
}

/**
 * The memory of request bodies: one for all toolkits of a process, which share its memory. On a registered symbol of the global object,
 * because a bundler gives each of its entries its own copy of this module.
 */
export function processBodies(bodyLimitBytes: number): BodyBudget {
  const holder = globalThis as { [KEY]?: BodyBudget };
  holder[KEY] ??= new BodyBudget({ limitBytes: bodyMemory(memorySize()), now: () => performance.now() });
  holder[KEY].admit(bodyLimitBytes);
  return holder[KEY];
}
