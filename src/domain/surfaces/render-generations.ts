import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { RenderKeyBook, RenderMarks, RenderScope } from './render-keys.js';
import type { SurfaceRef } from './surface-ref.js';

/** What generations are kept with. */
export interface RenderGenerationsDependencies {
  /** Shared by all processes whose visitors must see each other's actions. */
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly keys: RenderKeyBook;
  /** A text that nobody ever makes twice, here or elsewhere. */
  readonly newGeneration: () => string;
  /** How long a render may be kept, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The names of one surface in a reply of the platform. */
export interface SurfaceNames {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

/** An absent generation costs a render and is never wrong, so they need not live long. */
const LIFE_MS = 3_600_000;

/**
 * Knows which renders are from before an action, in every process that shares the store.
 *
 * A render depends on two marks in the store: one of its surface, one of everything the caller sees. An action replaces a mark by a new one,
 * and whatever was rendered under the old one is no longer served. Marks are unique texts and no counters, because a store
 * that only reads and writes cannot count: of two processes that add one at once, one would be lost.
 */
export class RenderGenerations {
  readonly #deps: RenderGenerationsDependencies;
  readonly #creating = new Map<string, Promise<string>>();
  /** Marks the store did not take, and until when that matters. */
  readonly #lost = new Map<string, number>();

  constructor(dependencies: RenderGenerationsDependencies) {
    this.#deps = dependencies;
  }

  /** What a render started now depends on; `undefined` while an action of this process could not be marked. */
  async current({ everything, surface }: RenderMarks): Promise<string | undefined> {
    const marks = await Promise.all([this.#mark(everything), this.#mark(surface)]);
    return marks.every((mark) => mark !== undefined) ? marks.join(' ') : undefined;
  }

  /** Everything kept of a surface is from before now, under its id and its name; when only one of them is known, everything the caller sees. */
  async advance(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    const { store, keys } = this.#deps;
    const told = aliases(ref, names) ?? [];
    const remembered = parseAliases(await store.get(keys.links(scope, ref))) ?? [];
    const known = [...told, ...remembered].map((alias) => keys.surface(scope, alias));
    const marks = known.length === 0 ? [keys.everything(scope)] : [...new Set(known)];
    await Promise.all(marks.map((mark) => this.#replace(mark)));
  }

  /** Remembers that an id and a name are one surface. */
  async link(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    const known = aliases(ref, names);
    if (known === undefined) return;
    const { store, clock, keys } = this.#deps;
    const text = JSON.stringify(known);
    await Promise.all(
      known.map(async (alias) => {
        const key = keys.links(scope, alias);
        const earlier = await store.get(key);
        if (earlier === text) return;
        // The surface had another name: what is kept under that one would be found by no later action.
        if (earlier !== undefined) await this.#replace(keys.everything(scope));
        await store.set(key, text, clock.now() + LIFE_MS);
      }),
    );
  }

  async #mark(key: string): Promise<string | undefined> {
    const until = this.#lost.get(key);
    if (until !== undefined && this.#deps.clock.now() < until) {
      await this.#replace(key);
      if (this.#lost.has(key)) return undefined;
    }
    const known = await this.#deps.store.get(key);
    if (known !== undefined) return known;
    let creating = this.#creating.get(key);
    if (creating === undefined) {
      creating = this.#create(key).finally(() => this.#creating.delete(key));
      this.#creating.set(key, creating);
    }
    return creating;
  }

  async #create(key: string): Promise<string> {
    const { store, clock, newGeneration } = this.#deps;
    const mark = newGeneration();
    await store.set(key, mark, clock.now() + this.#lifeMs());
    return mark;
  }

  async #replace(key: string): Promise<void> {
    const { store, clock, newGeneration, maxAgeMs } = this.#deps;
    const earlier = await store.get(key);
    await store.set(key, newGeneration(), clock.now() + this.#lifeMs());
    const now = await store.get(key);
    if (now !== undefined && now !== earlier) {
      this.#lost.delete(key);
      return;
    }
    // A store that is down loses the mark and may keep the renders. Until they are too old, this process does not believe it.
    for (const [lost, until] of this.#lost) if (until <= clock.now()) this.#lost.delete(lost);
    this.#lost.set(key, clock.now() + maxAgeMs);
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
  let parsed: unknown;
  try {
    parsed = text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(parsed) && parsed.every(isSurfaceRef) ? parsed : undefined;
}

function isSurfaceRef(value: unknown): value is SurfaceRef {
  if (typeof value !== 'object' || value === null) return false;
  const { by, value: word } = value as Partial<SurfaceRef>;
  return (by === 'id' || by === 'name') && typeof word === 'string';
}
