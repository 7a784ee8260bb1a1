import { beforeDeadline } from '../shared/deadline.js';
import { UpstreamError } from '../errors.js';
import type { Counterpart } from './wrong-address.js';

/** How long look-ups may take: what a page waits for before it is of any use. */
export interface LookupTime {
  /** Milliseconds for one look-up, whatever it takes to make it. */
  readonly lookupMs: number;
  /** Makes a signal that is aborted after so many milliseconds. */
  readonly deadline: (ms: number) => AbortSignal;
}

/**
 * The result of a look-up, as long as it comes before the deadline; whether the work heeds the deadline or not.
 *
 * @throws UpstreamError `upstream_timeout` when it does not come.
 */
export function within<T>(deadline: AbortSignal, { name }: Counterpart, work: Promise<T>): Promise<T> {
  const late = (): UpstreamError =>
    new UpstreamError('upstream_timeout', {
      detail: `The ${name} did not answer in time.`,
      retryable: true,
      log: `a look-up at the ${name} took longer than "lookupMs" allows`,
    });
  return beforeDeadline(deadline, work, late);
}
