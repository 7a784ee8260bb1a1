import type { RedisConnection } from '../../adapters/keyv/redis-connection.js';
import { ProcessMemory } from '../../adapters/memory/process-memory.js';
import { memorySize } from '../../adapters/system/system.js';
import { FaultLog, writeToStandardError } from '../../adapters/telemetry/terminal-telemetry.js';
import { BodyBudget } from '../../adapters/web/request-body.js';

const MIN_BYTES = 67_108_864;
const PART_OF_MEMORY = 0.25;

const now = performance.now.bind(performance);

/** Bytes of request bodies that a process with this much memory may hold. */
export function bodyMemory(memoryBytes: number): number {
  return Math.max(MIN_BYTES, Math.floor(memoryBytes * PART_OF_MEMORY));
}

/** The memory of request bodies: one budget for all toolkits of a process. */
export function processBodies(bodyLimitBytes: number): BodyBudget {
  const budget = processWide('agent-bff/bodies@1', () => new BodyBudget({ limitBytes: bodyMemory(memorySize()), now }));
  budget.admit(bodyLimitBytes);
  return budget;
}

/** The log of faults: one for all toolkits of a process, which share its terminal. */
export function processFaults(): FaultLog {
  return processWide('agent-bff/faults@1', () => new FaultLog({ now, write: writeToStandardError }));
}

interface UsedConnection {
  readonly connection: RedisConnection;
  /** Number of toolkits. */
  users: number;
}

/** The connections to shared stores, by address. */
export function processConnections(): Map<string, UsedConnection> {
  return processWide('agent-bff/connections@1', () => new Map<string, UsedConnection>());
}

/** The memory of cached data, for all toolkits of a process that share no other. */
export interface ProcessMemories {
  readonly data: ProcessMemory;
  readonly tokens: ProcessMemory;
}

const MIN_TOKEN_BYTES = 16_777_216;

export function processMemory(): ProcessMemories {
  const part = (bytes: number, divisor: number): ProcessMemory =>
    new ProcessMemory(Math.max(bytes, Math.floor(memorySize() / divisor)));
  return processWide('agent-bff/memory@2', () => ({ data: part(MIN_BYTES, 8), tokens: part(MIN_TOKEN_BYTES, 32) }));
}

/** The parts behind each result of `createShared`, also for another copy of this module. */
export function sharedObjects(): WeakMap<object, unknown> {
  return processWide('agent-bff/shared@1', () => new WeakMap<object, unknown>());
}

/** Stored in a registered symbol of the global object, because bundlers give each entry its own copy of this module. */
function processWide<Value>(name: string, make: () => Value): Value {
  const holder = globalThis as Record<symbol, unknown>;
  return (holder[Symbol.for(name)] ??= make()) as Value;
}
