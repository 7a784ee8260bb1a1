import { beforeAlarm } from '../../domain/shared/deadline.js';

/** The result of the work; after a delay, that of `late`. Does not keep the process alive. */
export function before<T, Late = undefined>(work: Promise<T>, ms: number, late?: () => Late): Promise<T | Late> {
  return beforeAlarm(
    work,
    (expire) => {
      const timer = setTimeout(expire, ms).unref();
      return () => clearTimeout(timer);
    },
    late ?? (() => undefined as Late),
  );
}
