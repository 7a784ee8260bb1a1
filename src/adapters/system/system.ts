import { createHash, createHmac, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { totalmem } from 'node:os';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import type { Alarm } from '../../domain/shared/deadline.js';
import { DeadlineError } from '../../domain/shared/failure-reason.js';
import type { Clock } from '../../ports/clock.js';

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Resolves after a delay, or when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Resolves after other requests have run. */
export async function nextTurn(): Promise<void> {
  // The first one is still due before the sockets are read.
  await immediate();
  await immediate();
}

/** Options of a delay, as in Node's timers. */
interface Waiting {
  /** True if it keeps the process alive. Default: false. */
  readonly ref?: boolean;
}

/** Resolves after a delay. Without `ref`, it does not keep the process alive. */
export async function sleep(ms: number, { ref = false }: Waiting = {}): Promise<void> {
  await delay(ms, undefined, { ref });
}

/**
 * A deadline `ms` milliseconds after its wait begins; 0 means none. Fails with a `DeadlineError` that names `late`, or
 * with the error it returns. With `ref`, it keeps the process alive meanwhile.
 */
export function after(ms: number, late: string | (() => Error), { ref = false }: Waiting = {}): Alarm {
  return (expire) => {
    if (ms === 0) return () => undefined;
    const end = (): void => expire(typeof late === 'string' ? new DeadlineError(late, ms) : late());
    // One more turn of the event loop: a response that has already arrived must not time out because our own turn was long.
    const timer = setTimeout(() => setImmediate(end), ms);
    // A waiting request has a connection, which keeps the process alive.
    if (!ref) timer.unref();
    return () => clearTimeout(timer);
  };
}

/** The SHA-256 of a text in UTF-8, or of bytes, in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/**
 * Digests of 64 bits for `chat` events. With a key they are the same in every process that has it; without one, in this
 * process only. The key is derived (RFC 5869), so that a digest says nothing about other uses of it.
 */
export function chatDigest(shared: KeyObject | undefined): (text: string) => string {
  const key = shared === undefined ? randomBytes(32) : hkdfSync('sha256', shared, '', 'agent-bff telemetry', 32);
  const bytes = new Uint8Array(key);
  return (text) => createHmac('sha256', bytes).update(text).digest('hex').slice(0, 16);
}

/** Memory available to this process: the limit of its heap, or the memory of its container or machine, whichever is smaller. */
export function memorySize(): number {
  // Some runtimes with Node's request API do not support containers.
  const { constrainedMemory } = process as Partial<typeof process>;
  return smallestSize([getHeapStatistics().heap_size_limit, constrainedMemory?.(), totalmem()]);
}

/** The smallest limit. If there is no limit, systems report 0, nothing, or more than the machine has. */
export function smallestSize(sizes: readonly (number | undefined)[]): number {
  return Math.min(...sizes.filter((size): size is number => size !== undefined && size > 0));
}
