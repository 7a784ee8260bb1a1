import type { Clock } from '../../ports/clock.js';

/**
 * A clock that moves only when it is told to.
 *
 * @public
 */
export class FakeClock implements Clock {
  #now: number;

  /** Starts at `now`, in milliseconds since the epoch. Default: 1 January 2026, 00:00 UTC. */
  constructor(now: number = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  /** The time it was moved to. */
  now(): number {
    return this.#now;
  }

  /** Moves the time forward by a span in milliseconds. */
  advance(ms: number): void {
    this.#now += ms;
  }
}
