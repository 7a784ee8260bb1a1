import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';

export interface FleetFlightDependencies {
  /** Shared by the processes of a fleet. */
  readonly store: CacheStore;
  readonly clock: Clock;
  /** Resolves after a delay; does not keep the process alive. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** The result of another process; without one, this process does the work. */
export interface Turn<T> {
  readonly found?: T;
  /** Ends the wait of other processes: this one stores no result. */
  readonly yieldTurn?: () => void;
}

/** Milliseconds for which others wait for a result. A process that ends meanwhile is replaced after this time. */
const LEASE_MS = 1_000;
/** Milliseconds for which others do not wait, after a result that cannot be shared. */
const NOTHING_MS = 10_000;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 80;
const RUNNING = 'running';
const NOTHING = 'nothing to share';

/**
 * Runs the same work once for all processes that share a store, if the store can create an entry atomically. The others
 * look for the result for a second, then work themselves: a store that fails costs work, never a response.
 */
export class FleetFlight {
  readonly #deps: FleetFlightDependencies;

  constructor(dependencies: FleetFlightDependencies) {
    this.#deps = dependencies;
  }

  /** `name` identifies the work and its inputs in all processes. `look` finds a result in the store. */
  async join<T>(name: string, look: () => Promise<T | undefined>): Promise<Turn<T>> {
    const { store, clock, sleep } = this.#deps;
    const create = store.setIfAbsent?.bind(store);
    if (create === undefined) return {};
    const key = `${name} flight`;
    const take = (): Promise<boolean> => create(key, RUNNING, clock.now() + LEASE_MS);
    const yieldTurn = (): void => void store.set(key, NOTHING, clock.now() + NOTHING_MS).catch(() => undefined);
    const end = clock.now() + LEASE_MS;
    try {
      let isTaken = await take();
      if (isTaken) return { yieldTurn };
      for (let pause = MIN_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
        const [found, state] = await Promise.all([look(), store.get(key)]);
        if (found !== undefined) return { found };
        // Only now: the last lease may have expired after its result was stored.
        if (isTaken) return { yieldTurn };
        if (state === NOTHING || clock.now() >= end) return {};
        await sleep(pause);
        isTaken = await take();
      }
    } catch {
      // The store has reported it.
      return {};
    }
  }
}
