import { beforeAlarm } from '../../domain/shared/deadline.js';
import { REDACTED } from '../../domain/shared/secret.js';
import { STORE_AWAY } from '../../domain/shared/store-calls.js';
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

const PAUSE_MS = 500;
/** Failures in a row after which the store counts as away. Calls that fail together count as one: a short stall meets many. */
const MAX_FAILURES = 3;
/** A store that is merely slow counts as away after this many milliseconds without a response: as long as an action waits for it. */
const MAX_STALL_MS = 1_000;
/** Matches the message of a store that rejects this write, and still responds to reads. */
const REJECTED_WRITE = /^(?:OOM|MISCONF|NOREPLICAS|NOPERM)\b/;

class Timeout extends Error {}

/**
 * Limits each call to a store by a deadline, and stops calling a store that fails several times in a row.
 *
 * After a pause, one call tries the store in the background: a store that hangs costs callers a second of deadlines,
 * not one per pause. A short stall does not count as away, since a process then serves renders that another
 * process may have invalidated.
 */
export class StoreBreaker {
  readonly #deps: StoreBreakerDependencies;
  #probing = false;
  #isAway = false;
  #failures = 0;
  #failingSince = 0;
  #failedAt = -Infinity;
  #running = 0;
  /** The last error that the store reported by an event. */
  #reported: { readonly error: unknown } | undefined;
  #last: StoreOperation = 'get';

  constructor(dependencies: StoreBreakerDependencies) {
    this.#deps = dependencies;
  }

  /** True while the store is not called. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /**
   * Result of the call; `undefined` if the store returned what cannot be parsed.
   *
   * @throws what the store throws, an error when it takes too long, and `STORE_AWAY` when it is not called.
   */
  async run<T>(operation: StoreOperation, call: () => Promise<T>): Promise<T | undefined> {
    if (!this.isAway) return this.#attempt(operation, call);
    if (!this.#probing && !this.#isPaused(this.#deps.clock.now())) void this.#probe(operation, call);
    throw STORE_AWAY;
  }

  /** Records an error that the store reported other than by a failing call. */
  report(error: unknown): void {
    if (error === STORE_AWAY) return;
    this.#reported = { error };
    // Otherwise the running call fails with it.
    if (this.#running === 0) this.#failed(this.#last, error, this.#deps.clock.now());
  }

  async #probe(operation: StoreOperation, call: () => Promise<unknown>): Promise<void> {
    this.#probing = true;
    await this.#attempt(operation, call).catch(() => undefined);
    this.#probing = false;
  }

  async #attempt<T>(operation: StoreOperation, call: () => Promise<T>): Promise<T | undefined> {
    this.#last = operation;
    this.#running += 1;
    const reported = this.#reported;
    const startedAt = this.#deps.clock.now();
    try {
      // Awaited inside `try`: a site's store may throw synchronously, or return a value.
      const result = await beforeAlarm(
        (async () => call())(),
        (expire) => {
          // One more turn of the event loop: a response that has already arrived must not time out because our own turn was long.
          const timer = setTimeout(() => setImmediate(expire), this.#deps.cacheMs);
          return () => clearTimeout(timer);
        },
        () => {
          throw new Timeout(`TIMEOUT after ${String(this.#deps.cacheMs)} ms`);
        },
      );
      // A Keyv turns a failed call into a miss, and reports the error by an event only.
      if (this.#reported !== reported) throw this.#reported?.error as Error;
      this.#failures = 0;
      this.#isAway = false;
      return result;
    } catch (error) {
      // The next entry may parse.
      if (error instanceof SyntaxError) return this.#tell(operation, error);
      if (error !== STORE_AWAY) this.#failed(operation, error, startedAt);
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  #failed(operation: StoreOperation, error: unknown, startedAt: number): undefined {
    const now = this.#deps.clock.now();
    if (error instanceof Error && REJECTED_WRITE.test(error.message)) return this.#tell(operation, error);
    // Not if the clock was set back meanwhile.
    if (startedAt < this.#failedAt && this.#failedAt <= now) return;
    const isPaused = this.#isAway && this.#isPaused(now);
    this.#failedAt = now;
    if (this.#failures === 0 || now < this.#failingSince) this.#failingSince = Math.min(startedAt, now);
    this.#failures += 1;
    const isStall = error instanceof Timeout && now - this.#failingSince < MAX_STALL_MS;
    this.#isAway ||= this.#failures >= MAX_FAILURES && !isStall;
    if (!isPaused) this.#tell(operation, error);
  }

  /** False if the clock was set back: a pause must not last until it has caught up. */
  #isPaused(now: number): boolean {
    return this.#failedAt <= now && now < this.#failedAt + PAUSE_MS;
  }

  #tell(operation: StoreOperation, error: unknown): undefined {
    this.#deps.telemetry.emit({ type: 'cache_fault', operation, detail: faultOf(error) });
  }
}

/** Matches texts that may be an entry, its key, a token, or the login of an address. */
const OPAQUE = /[\w+/=-]{32,}|(?<=:\/\/)[^\s@/]+(?=@)/g;
const MAX_DETAIL = 200;

/** Name, code and message of an error. A parser's message quotes the entry, which may be a token, and is left out. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the store reported a fault';
  const { code } = error as { code?: unknown };
  const message = error instanceof SyntaxError || error.message.includes('JSON') ? '' : error.message;
  const known = typeof code === 'string' && !message.includes(code) ? code : '';
  const text = [error.name, known, message].filter((word) => word !== '').join(' ');
  return text.replace(OPAQUE, REDACTED).slice(0, MAX_DETAIL);
}

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
