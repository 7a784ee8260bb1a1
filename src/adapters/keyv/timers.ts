import { beforeAlarm } from '../../domain/shared/deadline.js';

/** A timer that does not keep the process alive; returns its end. */
export function alarm(ms: number, expire: () => void): () => void {
  const timer = setTimeout(expire, ms).unref();
  return () => clearTimeout(timer);
}

/** The result of the work; after a delay, that of `late`. */
export function before<T, Late = undefined>(work: Promise<T>, ms: number, late?: () => Late): Promise<T | Late> {
  return beforeAlarm(work, (expire) => alarm(ms, expire), late ?? (() => undefined as Late));
}
