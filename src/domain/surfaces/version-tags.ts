import { parsedJson } from '../shared/json.js';
import { LruMap } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { FleetFlightDependencies } from '../upstream/fleet-flight.js';
import type { RenderKeys, RenderVersionTags, RenderScope } from './render-keys.js';
import type { SurfaceNames, SurfaceRef } from './surface-ref.js';

/** The store is shared by all processes whose visitors must see each other's actions. */
export interface VersionTagsDependencies extends FleetFlightDependencies {
  readonly keys: RenderKeys;
  /** Creates a globally unique text. */
  readonly newVersionTag: () => string;
}

/** Absent as long as another process may have a newer one. */
type VersionTag = string | undefined;

/** Lifetime of a version tag beyond that of a render. A missing tag costs one render and is never wrong. */
const MARGIN_MS = 60_000;
/** Milliseconds that the response of an action waits for its version tag. */
const WAIT_MS = 1_000;
/** Pause before trying again to write a version tag while a response waits, in milliseconds. */
const RETRY_MS = 100;
/** Pause before trying again once the response was sent, in milliseconds. */
const REPAIR_MS = 500;
/** Actions that wait for the store. Beyond it no stored render is used until all that are older have expired. */
const MAX_PENDING = 10_000;
const MAX_ACTED = 10_000;

/**
 * Tracks which renders are older than an action, in every process that shares the store.
 *
 * A render depends on two version tags in the store: one of its surface, and one of everything the caller sees. An
 * action replaces a version tag, and renders made under the old one are no longer served. Tags are UUIDs. A counter
 * would need an atomic increment, which the store lacks.
 *
 * A write that timed out may land later. Therefore no tag is written twice, and a tag that another process may have
 * replaced is used only if the store confirmed it. A version tag that the store did not accept is written again until
 * it is; until then this process uses no stored render that depends on it. All caches of a process that use one store
 * share one of these objects, since an action through one of them counts for all.
 */
export class VersionTags {
  readonly keys: RenderKeys;
  readonly #deps: VersionTagsDependencies;
  /** The longest lifetime of a render. */
  #maxAgeMs = 0;
  readonly #creations = new SingleFlight<VersionTag>();
  /** Tags of actions that the store has not accepted, and until when they matter. */
  readonly #pending = new LruMap<{ readonly until: number }>({ maxEntries: MAX_PENDING });
  /** Until then the tags of some actions are missing in `#pending` and in the store. */
  #lostUntil = 0;
  /** Numbers of this process's last actions, by version tag, the oldest first. */
  readonly #acted = new Map<string, number>();
  #actions = 0;
  /** Actions up to this one may be missing in `#acted`. */
  #dropped = 0;
  #isRepairing = false;
  /** The version tags of a later configuration. */
  #successor: VersionTags | undefined;

  constructor(dependencies: VersionTagsDependencies) {
    this.#deps = dependencies;
    this.keys = dependencies.keys;
  }

  /** Called by each cache with the lifetime of its renders in milliseconds: tags and pending actions outlive all of them. */
  cover(maxAgeMs: number): void {
    this.#maxAgeMs = Math.max(this.#maxAgeMs, maxAgeMs);
  }

  /** From now on, actions that still run here invalidate renders of a later configuration too. */
  replaceBy(successor: VersionTags): void {
    // It may be an earlier one, which is used again.
    successor.#successor = undefined;
    this.#successor = successor;
    successor.cover(this.#maxAgeMs);
    successor.#lostUntil = Math.max(successor.#lostUntil, this.#lostUntil);
    for (const [key, pending] of this.#pending) {
      // Until it is written there too, no earlier render is used.
      successor.#pending.set(key, pending);
      void successor.#drop(key);
    }
  }

  /**
   * The version tag of a render started now; `undefined` while it is unknown, since an action of this process is not in
   * the store, or the store did not confirm a new tag. `caller` and `surface` are the store's values of both tags. A
   * promise only if one of them is missing, and rejects if the store fails.
   */
  current(
    { callerTag, surfaceTag }: RenderVersionTags,
    [caller, surface]: readonly VersionTag[],
  ): VersionTag | Promise<VersionTag> {
    const isBehind = this.#pending.size > 0 || this.#lostUntil > 0;
    if (isBehind && (this.#isPending(callerTag) || this.#isPending(surfaceTag))) return undefined;
    if (caller !== undefined && surface !== undefined) return `${caller} ${surface}`;
    return this.#created([this.#found(callerTag, caller), this.#found(surfaceTag, surface)]);
  }

  /** The last action of this process that invalidated renders with these tags: a higher number after each one. */
  lastAction({ callerTag, surfaceTag }: RenderVersionTags): number {
    return Math.max(this.#acted.get(callerTag) ?? 0, this.#acted.get(surfaceTag) ?? 0, this.#dropped);
  }

  /**
   * Invalidates all renders of a surface, under its id and its name; if only one of them is known, all renders of the
   * caller. Waits until the store has it, for a second at most.
   */
  async bump(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    const { store, keys } = this.#deps;
    const told = aliases(ref, names) ?? [];
    const remembered = parseAliases(await store.get(keys.aliases(scope, ref)).catch(() => undefined)) ?? [];
    const known = [...told, ...remembered].map((alias) => keys.surfaceTag(scope, alias));
    const tags = known.length === 0 ? [keys.callerTag(scope)] : [...new Set(known)];
    await Promise.all(tags.map((tag) => this.#drop(tag)));
  }

  /**
   * Stores that an id and a name belong to one surface.
   *
   * @throws what the store throws.
   */
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
        try {
          await store.set(key, text, clock.now() + this.#lifeMs());
        } finally {
          // The surface had another name: later actions would not find the renders stored under it. Dropped last, since
          // other processes may have stored some while this one was slow or suspended.
          if (earlier !== undefined) await this.#drop(keys.callerTag(scope));
        }
      }),
    );
  }

  async #created(pair: readonly Promise<VersionTag>[]): Promise<VersionTag> {
    const tags = await Promise.all(pair);
    return tags.includes(undefined) ? undefined : tags.join(' ');
  }

  #found(key: string, tag: VersionTag): Promise<VersionTag> {
    return tag === undefined ? this.#creations.run(key, () => this.#create(key)) : Promise.resolve(tag);
  }

  async #create(key: string): Promise<VersionTag> {
    const { store, clock, newVersionTag } = this.#deps;
    const tag = newVersionTag();
    const expiresAt = clock.now() + this.#lifeMs();
    if (store.setIfAbsent === undefined) {
      // It may have been created since the caller found it absent: renders under the first one would be lost.
      const earlier = await store.get(key);
      if (earlier !== undefined) return earlier;
      await store.set(key, tag, expiresAt);
    } else if (await store.setIfAbsent(key, tag, expiresAt)) return tag;
    // If two processes start together, both use the tag that is in the store.
    return store.get(key);
  }

  get #latest(): VersionTags {
    return this.#successor === undefined ? this : this.#successor.#latest;
  }

  /** Invalidates all renders that depend on this version tag. */
  async #drop(key: string): Promise<void> {
    const latest = this.#latest;
    await Promise.all([...new Set([this, latest])].map((tags) => tags.#write(key)));
    // The configuration was replaced meanwhile.
    if (this.#latest !== latest) await this.#latest.#drop(key);
  }

  async #write(key: string): Promise<void> {
    const { clock, sleep } = this.#deps;
    this.#countAction(key);
    const startedAt = clock.now();
    while (!(await this.#replace(key))) {
      const until = clock.now() + this.#maxAgeMs;
      this.#pending.set(key, { until });
      if (this.#pending.size === MAX_PENDING) this.#lostUntil = until;
      if (clock.now() - startedAt < WAIT_MS) await sleep(RETRY_MS);
      else {
        if (!this.#isRepairing) void this.#repair();
        return;
      }
    }
  }

  #countAction(key: string): void {
    this.#actions += 1;
    this.#acted.delete(key);
    this.#acted.set(key, this.#actions);
    if (this.#acted.size <= MAX_ACTED) return;
    for (const [oldest, action] of this.#acted) {
      this.#acted.delete(oldest);
      this.#dropped = action;
      break;
    }
  }

  /** True if the store accepted a new version tag, or at least the loss of the old one. */
  async #replace(key: string): Promise<boolean> {
    const { store, clock, newVersionTag } = this.#deps;
    const tag = newVersionTag();
    let isAccepted: boolean;
    try {
      await store.set(key, tag, clock.now() + this.#lifeMs());
      isAccepted = (await store.get(key)) === tag;
    } catch {
      // A full store rejects writes but may still delete: without their version tag, renders are not served either.
      isAccepted = await store.delete(key).then(
        () => true,
        () => false,
      );
    }
    if (isAccepted) this.#pending.delete(key);
    return isAccepted;
  }

  /** Writes pending version tags one after the other, until the store has all of them. */
  async #repair(): Promise<void> {
    const { clock, sleep } = this.#deps;
    this.#isRepairing = true;
    while (this.#pending.size > 0) {
      await sleep(REPAIR_MS);
      for (const [key, pending] of this.#pending) {
        this.#pending.delete(key);
        if (pending.until <= clock.now()) continue;
        this.#pending.set(key, pending); // Moved to the end, so that one tag cannot block the others.
        if (!(await this.#replace(key))) break;
      }
    }
    this.#isRepairing = false;
  }

  #isPending(key: string): boolean {
    return this.#deps.clock.now() < Math.max(this.#pending.get(key)?.until ?? 0, this.#lostUntil);
  }

  #lifeMs(): number {
    return this.#maxAgeMs + MARGIN_MS;
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
