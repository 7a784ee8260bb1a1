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
 * Gives each call to a store a deadline, and leaves the store alone after a fault.
 *
 * When the pause is over, one call goes to the store again, and nobody waits for it:
 * a store that stays away costs its deadline once, not once per pause.
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

  /** Result of the call, or `undefined` when it fails, takes too long or is not made. */
  async run<T>(operation: StoreOperation, call: () => Promise<T>): Promise<T | undefined> {
    if (!this.#open) return this.#attempt(operation, call);
    if (!this.#probing && this.#deps.clock.now() >= this.#pauseEnd) void this.#probe(operation, call);
    return undefined;
  }

  /** Notes a fault that the store reported otherwise than by failing a call. */
  report(error: unknown): void {
    this.#fault(this.#last, error);
  }

  async #probe(operation: StoreOperation, call: () => Promise<unknown>): Promise<void> {
    const faults = this.#faults;
    this.#probing = true;
    await this.#attempt(operation, call);
    this.#probing = false;
    // A Keyv gives a miss for a failed call, and reports the fault by an event only.
    if (this.#faults === faults) this.#open = false;
  }

  async #attempt<T>(operation: StoreOperation, call: () => Promise<T>): Promise<T | undefined> {
    this.#last = operation;
    try {
      // Awaited where it is called: a site's store may throw, or return a value, without a promise.
      return await beforeAlarm(
        (async () => call())(),
        (expire) => {
          // One more turn of the event loop: a response that is there already must not lose to our own long turn.
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

/** Name and code of a fault. Its message stays behind: a parser's quotes the entry, which may be a token. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the store reported a fault';
  const { code } = error as { code?: unknown };
  // Redis puts its code first: "NOAUTH Authentication required."
  const first = /^[A-Z]{2,}\b/.exec(error.message)?.[0];
  return [error.name, typeof code === 'string' ? code : first].filter((word) => word !== undefined).join(' ');
}
