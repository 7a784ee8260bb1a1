/** The result of the work, or a rejection that names it when it does not come in time; the work itself goes on. 0 waits for ever. */
export function inTime<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  if (ms === 0) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new DeadlineError(what, ms));
    }, ms);
    // A request that waits has a connection, which keeps the process alive.
    timer.unref();
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

/** Nothing came in time. */
export class DeadlineError extends Error {
  override readonly name: string = 'DeadlineError';

  constructor(what: string, ms: number) {
    super(`${what} gave no answer within ${String(ms)} ms`);
  }
}
