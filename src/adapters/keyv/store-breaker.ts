import type { Clock } from '../../ports/clock.js';

const PAUSE_MS = 500;
const MAX_FAILURES = 3;

/** Stops calls to a store after three failures in a row; then one call each half second tries it. */
export class StoreBreaker {
  readonly #clock: Clock;
  #failures = 0;
  #failedAt = -Infinity;
  #triedAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#failures >= MAX_FAILURES;
  }

  /** True if a call may be made now. */
  admits(): boolean {
    const now = this.#clock.now();
    // If the clock was set back, a pause must not last until it has caught up.
    if (this.isOpen && this.#triedAt <= now && now < this.#triedAt + PAUSE_MS) return false;
    this.#triedAt = now;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** False for a call that failed together with another one, which count as one: a short stall meets many. */
  failed(startedAt: number): boolean {
    const now = this.#clock.now();
    if (startedAt < this.#failedAt && this.#failedAt <= now) return false;
    this.#failedAt = now;
    this.#failures += 1;
    return true;
  }
}
