import { setTimeout } from 'node:timers/promises';

/** Resolves after so many milliseconds, or when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
