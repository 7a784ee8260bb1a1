/** The maximum delay of a Node timer; a longer one fires immediately. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Calls `expire` after the set time, unless the returned function is called first. */
export type Alarm = (expire: () => void) => () => void;

/** The result of the work, or of `late` if the alarm fires first; the work itself continues. */
export function beforeAlarm<T, Late>(work: Promise<T>, alarm: Alarm, late: () => Late): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const stop = alarm(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error as Error);
      }
    });
    void work.then(resolve, reject).finally(stop);
  });
}

/** The result of the work, or a rejection if the deadline comes first, even if the work ignores it; the work itself continues. */
export function beforeDeadline<T>(
  deadline: AbortSignal,
  work: Promise<T>,
  late: () => Error = () => deadline.reason as Error,
): Promise<T> {
  const alarm: Alarm = (expire) => {
    if (deadline.aborted) expire();
    deadline.addEventListener('abort', expire, { once: true });
    return () => deadline.removeEventListener('abort', expire);
  };
  return beforeAlarm(work, alarm, () => {
    throw late();
  });
}
