import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import { getMany } from '../shared/get-many.js';
import { parsedJson } from '../shared/json.js';
import { LruMap } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { RenderKeys, RenderVersionTags, RenderScope } from './render-keys.js';
import type { SurfaceNames, SurfaceRef } from './surface-ref.js';

export interface VersionTagsDependencies {
  /** Shared by all processes whose visitors must see each other's actions. */
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly keys: RenderKeys;
  /** Creates a globally unique text. */
  readonly newVersionTag: () => string;
  /** Lifetime of a render in milliseconds. */
  readonly maxAgeMs: number;
  /** Runs a task once after a delay; a pending task does not keep the process alive. */
  readonly later: (ms: number, task: () => void) => void;
}

/** Absent as long as another process may have a newer one. */
type VersionTag = string | undefined;

/** A missing tag costs one render and is never wrong, so tags need not live long. */
const LIFE_MS = 3_600_000;
/** Pause before trying again to write version tags that a store lost, in milliseconds. */
const REPAIR_MS = 1_000;
const MAX_LOST = 10_000;

/**
 * Tracks which renders are older than an action, in every process that shares the store.
 *
 * A render depends on two version tags in the store: one of its surface, and one of everything the caller sees. An
 * action replaces a version tag, and renders made under the old one are no longer served. Tags are UUIDs. A counter
 * would need an atomic increment, which the store lacks.
 *
 * A version tag that the store did not accept is written again until it is. Until then other processes may not know
 * about the action, so a process that saw the store fail distrusts all earlier renders.
 */
export class VersionTags {
  readonly #deps: VersionTagsDependencies;
  readonly #creations = new SingleFlight<string>();
  /** Tags the store did not accept, and until when they matter. */
  readonly #lost = new LruMap<number>({ maxEntries: MAX_LOST });
  #isRepairing = false;
  /** Time of the last store failure: earlier version tags may be missing, those of other processes too. */
  #suspectSince = -Infinity;

  constructor(dependencies: VersionTagsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * The version tag of a render started now; `undefined` while an action of this process could not be recorded. `found`
   * has the store's values of both tags, if the caller has read them already.
   */
  async current(keys: RenderVersionTags, found?: readonly [VersionTag, VersionTag]): Promise<string | undefined> {
    const [caller, surface] = found ?? (await getMany(this.#deps.store, [keys.callerTag, keys.surfaceTag]));
    // The path of a cache hit, without two further awaits.
    if (caller !== undefined && surface !== undefined && this.#lost.size === 0) return `${caller} ${surface}`;
    const tags = await Promise.all([
      this.#versionTag(keys.callerTag, caller),
      this.#versionTag(keys.surfaceTag, surface),
    ]);
    return tags.includes(undefined) ? undefined : tags.join(' ');
  }

  /** True if a render from this time (milliseconds since the epoch) may be older than an action the store did not record. */
  isDoubtful(renderedAt: number): boolean {
    return renderedAt < this.#suspectSince;
  }

  /** Invalidates all renders of a surface, under its id and its name; if only one of them is known, all renders of the caller. */
  async bump(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    const { store, keys } = this.#deps;
    const told = aliases(ref, names) ?? [];
    const remembered = parseAliases(await store.get(keys.aliases(scope, ref))) ?? [];
    const known = [...told, ...remembered].map((alias) => keys.surfaceTag(scope, alias));
    const tags = known.length === 0 ? [keys.callerTag(scope)] : [...new Set(known)];
    await Promise.all(tags.map((tag) => this.#drop(tag)));
  }

  /** Stores that an id and a name belong to one surface. */
  async link(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    const known = aliases(ref, names);
    if (known === undefined) return;
    const { store, clock, keys } = this.#deps;
    const text = JSON.stringify(known);
    await Promise.all(
      known.map(async (alias) => {
        const key = keys.aliases(scope, alias);
        const earlier = await store.get(key);
        if (earlier === text) return;
        // The surface had another name: later actions would not find the renders stored under it.
        if (earlier !== undefined) await this.#drop(keys.callerTag(scope));
        await store.set(key, text, clock.now() + LIFE_MS);
      }),
    );
  }

  /** The version tag; `found` is the value the store had a moment ago. */
  async #versionTag(key: string, found: VersionTag): Promise<VersionTag> {
    const until = this.#lost.get(key);
    if (until !== undefined && this.#deps.clock.now() < until && !(await this.#replace(key))) return undefined;
    const known = until === undefined ? found : await this.#deps.store.get(key);
    if (known !== undefined) return known;
    return this.#creations.run(key, () => this.#create(key));
  }

  async #create(key: string): Promise<string> {
    const { store, clock, newVersionTag } = this.#deps;
    const tag = newVersionTag();
    await store.set(key, tag, clock.now() + this.#lifeMs());
    // If two processes start together, both use the tag written last.
    const taken = await store.get(key);
    if (taken === undefined) this.#suspect();
    return taken ?? tag;
  }

  /** Invalidates all renders that depend on this version tag; the caller sees none of them from now on. */
  async #drop(key: string): Promise<void> {
    if (await this.#replace(key)) return;
    // A store that fails may lose the version tag but keep the renders. Until they expire, this process distrusts the store.
    this.#lost.set(key, this.#deps.clock.now() + this.#deps.maxAgeMs);
    this.#repairLater();
  }

  /** True if the store accepted a new version tag. */
  async #replace(key: string): Promise<boolean> {
    const { store, clock, newVersionTag } = this.#deps;
    const earlier = await store.get(key);
    await store.set(key, newVersionTag(), clock.now() + this.#lifeMs());
    const now = await store.get(key);
    const isTaken = now !== undefined && now !== earlier;
    if (isTaken) this.#lost.delete(key);
    else this.#suspect();
    return isTaken;
  }

  #suspect(): void {
    this.#suspectSince = this.#deps.clock.now();
  }

  #repairLater(): void {
    if (this.#isRepairing) return;
    this.#isRepairing = true;
    this.#deps.later(REPAIR_MS, () => void this.#repair());
  }

  /** Writes lost version tags one after the other, until the store fails again. */
  async #repair(): Promise<void> {
    const { store, clock } = this.#deps;
    for (const [key, until] of this.#lost) {
      this.#lost.delete(key);
      if (until <= clock.now()) continue;
      this.#lost.set(key, until); // Moved to the end, so that one tag cannot block the others.
      // A full store rejects writes but may still delete: without their version tag, renders are not served either.
      await store.delete(key);
      if (!(await this.#replace(key))) break;
    }
    this.#isRepairing = false;
    if (this.#lost.size > 0) this.#repairLater();
  }

  #lifeMs(): number {
    return Math.max(LIFE_MS, this.#deps.maxAgeMs);
  }
}

/** All ways to address a surface; `undefined` unless both are known. */
function aliases(ref: SurfaceRef, { id, name }: SurfaceNames): readonly SurfaceRef[] | undefined {
  const known: SurfaceRef[] = [{ by: ref.by, value: ref.value }];
  const add = (by: SurfaceRef['by'], value: string | undefined): void => {
    if (value !== undefined && !known.some((alias) => alias.by === by && alias.value === value))
      known.push({ by, value });
  };
  add('id', id);
  add('name', name);
  if (!known.some(({ by }) => by === 'id') || !known.some(({ by }) => by === 'name')) return undefined;
  return known.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function parseAliases(text: string | undefined): readonly SurfaceRef[] | undefined {
  const value = parsedJson(text);
  return Array.isArray(value) && value.every(isSurfaceRef) ? value : undefined;
}

function isSurfaceRef(value: unknown): value is SurfaceRef {
  const { by, value: word } = (value ?? {}) as Partial<SurfaceRef>;
  return (by === 'id' || by === 'name') && typeof word === 'string';
}
