import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { RenderKeys, RenderKeySet, RenderScope } from './render-keys.js';
import type { SurfaceNames, SurfaceRef } from './surface-ref.js';

export interface GenerationsDependencies {
  /** Shared by all processes whose visitors must see each other's actions. */
  readonly store: CacheStore;
  readonly clock: Clock;
  /** Resolves after a delay; does not keep the process alive. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly keys: RenderKeys;
  /** Creates a globally unique text. */
  readonly newGeneration: () => string;
}

/** Lifetime of a generation beyond that of a render. A missing one costs a render and is never wrong. */
const MARGIN_MS = 60_000;
/** Milliseconds that the response of an action waits for its generation. */
const WAIT_MS = 1_000;
/** Pause before the next attempt while a response waits, in milliseconds. */
const RETRY_MS = 100;
/** The same once the response was sent. */
const LATER_MS = 500;
/** Generations that may be owed. Beyond it, no stored render is used until all that are older have expired. */
const MAX_OWED = 10_000;

/** A generation that the store does not have yet. */
interface Debt {
  /** Until then, renders from before its action may exist. */
  readonly until: number;
  /** The action that caused it. */
  readonly action: number;
}

/**
 * The generations of renders (decision 20). A render depends on two: of its owner, and of its owner and address as called.
 * An action replaces them, and renders of earlier ones are misses, in every process that shares the store.
 *
 * A generation is a UUID that is written once: a write that timed out may land later, and must not bring a render back.
 * It counts when it was read back, since a store may hide that a write failed. All caches of a process that use one store
 * share one of these objects.
 */
export class Generations {
  readonly keys: RenderKeys;
  readonly #deps: GenerationsDependencies;
  /** The longest lifetime of a render. */
  #maxAgeMs = 0;
  readonly #creations = new SingleFlight<string | undefined>();
  #actions = 0;
  readonly #owed = new Map<string, Debt>();
  /** Until then, too many are owed to know which. */
  #unknownUntil = -Infinity;
  #isPaying = false;
  /** Those of a later configuration. */
  #next: Generations | undefined;

  constructor(dependencies: GenerationsDependencies) {
    this.#deps = dependencies;
    this.keys = dependencies.keys;
  }

  /** The number of this process's last action. */
  get actions(): number {
    return this.#actions;
  }

  /** Called by each cache with the lifetime of its renders in milliseconds: generations outlive all of them. */
  cover(maxAgeMs: number): void {
    this.#maxAgeMs = Math.max(this.#maxAgeMs, maxAgeMs);
  }

  /** From now on, actions that still run here replace the generations of a later configuration too. */
  replaceBy(next: Generations): void {
    // It may be an earlier one, which is used again.
    next.#next = undefined;
    this.#next = next;
    next.cover(this.#maxAgeMs);
    next.#unknownUntil = Math.max(next.#unknownUntil, this.#unknownUntil);
    for (const key of this.#owed.keys()) void next.#replace(key);
  }

  /**
   * Both generations, on which a render that starts now depends. `undefined` if the store may lack an action of this
   * process, or does not confirm a generation that was missing.
   *
   * @throws what the store throws.
   */
  async current(keys: RenderKeySet): Promise<string | undefined> {
    // Before reading: the store may have the action a moment later.
    if (this.#isOwed(keys)) return undefined;
    const { store } = this.#deps;
    let [owner, address] = await Promise.all([store.get(keys.owner), store.get(keys.address)]);
    if (owner === undefined || address === undefined) {
      [owner, address] = await Promise.all([
        owner ?? this.#created(keys.owner),
        address ?? this.#created(keys.address),
      ]);
    }
    return owner === undefined || address === undefined ? undefined : `${owner} ${address}`;
  }

  /**
   * Await this after every action that was sent, before its response passes: whatever its result, no earlier render is
   * served again. Replaces the generations of the surface's id and name; unless both are known, that of the owner.
   */
  async act(scope: RenderScope, ref: SurfaceRef, { id, name }: SurfaceNames): Promise<void> {
    const called = [ref.by === 'id' ? ref.value : id, ref.by === 'name' ? ref.value : name];
    const addresses = [
      ref,
      ...(id === undefined ? [] : [{ by: 'id', value: id } as const]),
      ...(name === undefined ? [] : [{ by: 'name', value: name } as const]),
    ];
    const keys = called.includes(undefined)
      ? [this.keys.owner(scope)]
      : addresses.map((address) => this.keys.address(scope, address));
    await Promise.all([...new Set(keys)].map((key) => this.#replace(key)));
  }

  /** A missing generation, as the store has it once it was written: if two processes create it, both use the later one. */
  #created(key: string): Promise<string | undefined> {
    const { store, newGeneration } = this.#deps;
    return this.#creations.run(key, async () => {
      // It may have been created since the caller found it missing: renders under the first one would be lost.
      const earlier = await store.get(key);
      if (earlier !== undefined) return earlier;
      await store.set(key, newGeneration(), this.#end());
      return store.get(key);
    });
  }

  async #replace(key: string): Promise<void> {
    const next = this.#next;
    await Promise.all([this.#write(key), next === undefined ? undefined : next.#replace(key)]);
  }

  async #write(key: string): Promise<void> {
    const { store, clock, sleep } = this.#deps;
    const action = (this.#actions += 1);
    const startedAt = clock.now();
    while (!(await this.#isWritten(key))) {
      this.#owe(key, { action, until: clock.now() + this.#maxAgeMs });
      const waitedMs = clock.now() - startedAt;
      if (waitedMs >= 0 && waitedMs < WAIT_MS) {
        await sleep(RETRY_MS);
        continue;
      }
      // A full store may still delete: without its generation, no process serves a render.
      await store.delete(key).catch(() => undefined);
      if (!this.#isPaying) void this.#payLater();
      return;
    }
  }

  /** True if the store has a generation that was made for all actions so far. */
  async #isWritten(key: string): Promise<boolean> {
    const { store, newGeneration } = this.#deps;
    const generation = newGeneration();
    const actions = this.#actions;
    try {
      await store.set(key, generation, this.#end());
      if ((await store.get(key)) !== generation) return false;
    } catch {
      return false;
    }
    // A later action may have failed meanwhile.
    if ((this.#owed.get(key)?.action ?? 0) <= actions) this.#owed.delete(key);
    return true;
  }

  #owe(key: string, debt: Debt): void {
    if (this.#owed.size < MAX_OWED || this.#owed.has(key)) this.#owed.set(key, debt);
    else this.#unknownUntil = debt.until;
  }

  /** Writes what is owed, until the store has it or all earlier renders have expired. */
  async #payLater(): Promise<void> {
    const { clock, sleep } = this.#deps;
    this.#isPaying = true;
    while (this.#owed.size > 0) {
      await sleep(LATER_MS);
      for (const [key, { until }] of this.#owed) {
        if (until <= clock.now()) this.#owed.delete(key);
        else if (!(await this.#isWritten(key))) {
          const debt = this.#owed.get(key);
          this.#owed.delete(key);
          // Moved to the end, so that one cannot block the others.
          if (debt !== undefined) this.#owed.set(key, debt);
          break;
        }
      }
    }
    this.#isPaying = false;
  }

  #isOwed({ owner, address }: RenderKeySet): boolean {
    if (this.#owed.size === 0 && this.#unknownUntil === -Infinity) return false;
    const until = [owner, address].map((key) => this.#owed.get(key)?.until ?? -Infinity);
    return this.#deps.clock.now() < Math.max(this.#unknownUntil, ...until);
  }

  #end(): number {
    return this.#deps.clock.now() + this.#maxAgeMs + MARGIN_MS;
  }
}
