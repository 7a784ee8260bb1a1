import type { Clock } from '../../ports/clock.js';
import { setTimeout } from 'node:timers/promises';

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Resolves after so many milliseconds, or when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
