import { AsyncLocalStorage } from 'node:async_hooks';

const running = new AsyncLocalStorage<string>();

/** Runs the work of one request, so that everything it causes can name it. */
export function inRequest<Result>(requestId: string, work: () => Result): Result {
  return running.run(requestId, work);
}

/** The name of the request on whose behalf this code runs; absent outside of one. */
export function currentRequestId(): string | undefined {
  return running.getStore();
}
