/** The result of the work, or a rejection when the deadline comes first, also if the work never heeds it; the work itself goes on. */
export function beforeDeadline<T>(
  deadline: AbortSignal,
  work: Promise<T>,
  late: () => Error = () => deadline.reason as Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(late());
    if (deadline.aborted) expire();
    deadline.addEventListener('abort', expire, { once: true });
    void work.then(resolve, reject).finally(() => {
      deadline.removeEventListener('abort', expire);
    });
  });
}
