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

/** Milliseconds for which one process works alone; then the next one begins too. */
const LEASE_MS = 1_000;
/** Milliseconds after which a process works itself, although others have just begun. */
const MAX_WAIT_MS = 5_000;
/** Milliseconds for which others do not wait, after a result that cannot be shared. */
const NOTHING_MS = 10_000;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 80;
const RUNNING = 'running';
const NOTHING = 'nothing to share';

/**
 * Runs the same work once for all processes that share a store, if the store can create an entry atomically. The others
 * look for the result. Each second without one, another of them begins, in case the last one ended or hangs: slow work
 * begins once a second, rather than in all of them together. A store that fails costs work, never a response.
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
    const yieldTurn = (): void => {
      const entry = [key, NOTHING, clock.now() + NOTHING_MS] as const;
      // A store that cannot replace the lease may still remove it and create another entry.
      const again = async (): Promise<unknown> => (await store.delete(key), create(...entry));
      void store.set(...entry).catch(() => again().catch(() => undefined));
    };
    const startedAt = clock.now();
    let end = startedAt + LEASE_MS;
    try {
      let isTaken = await take();
      if (isTaken) return { yieldTurn };
      for (let pause = MIN_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
        const [found, state] = await Promise.all([look(), store.get(key)]);
        if (found !== undefined) return { found };
        // Only now: the last lease may have expired after its result was stored.
        if (isTaken) return { yieldTurn };
        const now = clock.now();
        // A process that cannot read the lease, such as with a clock that is ahead, does not wait for the next one.
        if (state === RUNNING) end = Math.min(now + LEASE_MS, startedAt + MAX_WAIT_MS);
        if (state === NOTHING || now >= end) return {};
        await sleep(pause);
        isTaken = await take();
      }
    } catch {
      // The store has reported it.
      return {};
    }
  }
}
