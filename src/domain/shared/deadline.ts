/** The maximum delay of a Node timer; a longer one fires immediately. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Calls `expire` with an error after the set time, unless the returned function is called first. */
export type Alarm = (expire: (reason: unknown) => void) => () => void;

/** The result of the work. If the deadline passes first, fails with its reason, even if the work ignores it; the work itself continues. */
export function withTimeout<T>(deadline: Alarm | AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = typeof deadline === 'function' ? deadline(reject) : onAbort(deadline, reject);
    void work.then(resolve, reject).finally(stop);
  });
}

function onAbort(signal: AbortSignal, expire: (reason: unknown) => void): () => void {
  const abort = (): void => expire(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}
