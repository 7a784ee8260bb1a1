import { beforeAlarm } from '../../domain/shared/deadline.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';

/** An operation of a store. */
export type StoreOperation = 'get' | 'set' | 'delete';

/** Dependencies of a breaker. */
export interface StoreBreakerDependencies {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Milliseconds one call may take. */
  readonly cacheMs: number;
}

const PAUSE_MS = 2_000;

/**
 * Limits each call to a store by a deadline, and stops calling the store after an error.
 *
 * After a pause, one call tries the store in the background: a store that stays down costs callers one deadline, not
 * one per pause.
 */
export class StoreBreaker {
  readonly #deps: StoreBreakerDependencies;
  #open = false;
  #probing = false;
  #pauseEnd = 0;
  #faults = 0;
  #last: StoreOperation = 'get';

  constructor(dependencies: StoreBreakerDependencies) {
    this.#deps = dependencies;
  }

  /** Result of the call, or `undefined` if it fails, takes too long or is skipped. */
  async run<T>(operation: StoreOperation, call: () => Promise<T>): Promise<T | undefined> {
    if (!this.#open) return this.#attempt(operation, call);
    if (!this.#probing && this.#deps.clock.now() >= this.#pauseEnd) void this.#probe(operation, call);
    return undefined;
  }

  /** Records an error that the store reported other than by a failing call. */
  report(error: unknown): void {
    this.#fault(this.#last, error);
  }

  async #probe(operation: StoreOperation, call: () => Promise<unknown>): Promise<void> {
    const faults = this.#faults;
    this.#probing = true;
    await this.#attempt(operation, call);
    this.#probing = false;
    // A Keyv turns a failed call into a miss, and reports the error by an event only.
    if (this.#faults === faults) this.#open = false;
  }

  async #attempt<T>(operation: StoreOperation, call: () => Promise<T>): Promise<T | undefined> {
    this.#last = operation;
    try {
      // Awaited inside `try`: a site's store may throw synchronously, or return a value.
      return await beforeAlarm(
        (async () => call())(),
        (expire) => {
          // One more turn of the event loop: a response that has already arrived must not time out because our own turn was long.
          const timer = setTimeout(() => setImmediate(expire), this.#deps.cacheMs);
          return () => clearTimeout(timer);
        },
        () => {
          throw new Error(`TIMEOUT after ${String(this.#deps.cacheMs)} ms`);
        },
      );
    } catch (error) {
      this.#fault(operation, error);
      return undefined;
    }
  }

  #fault(operation: StoreOperation, error: unknown): void {
    // The next entry may parse.
    const isGarbage = error instanceof SyntaxError;
    const isNew = isGarbage || !this.#open || this.#deps.clock.now() >= this.#pauseEnd;
    if (!isGarbage) {
      this.#faults += 1;
      this.#open = true;
      this.#pauseEnd = this.#deps.clock.now() + PAUSE_MS;
    }
    if (isNew) this.#deps.telemetry.emit({ type: 'cache_fault', operation, detail: nameOf(error) });
  }
}

/** Name and code of an error. Its message is left out: that of a parser quotes the entry, which may be a token. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the store reported a fault';
  const { code } = error as { code?: unknown };
  // Redis starts messages with a code: "NOAUTH Authentication required."
  const first = /^[A-Z]{2,}\b/.exec(error.message)?.[0];
  return [error.name, typeof code === 'string' ? code : first].filter((word) => word !== undefined).join(' ');
}
