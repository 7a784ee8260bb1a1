/** The result of the work, or the deadline's own error when that comes first, also if the work never heeds it. */
export function within<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(deadline.reason as Error);
    if (deadline.aborted) expire();
    deadline.addEventListener('abort', expire, { once: true });
    void work.then(resolve, reject).finally(() => deadline.removeEventListener('abort', expire));
  });
}
