import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import { gathered } from '../gathered.js';
import { parsedJson } from '../shared/parsed-json.js';
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
  /** Runs a task once, after so many milliseconds; the process need not stay for it. */
  readonly later: (ms: number, task: () => void) => void;
}

/** The names of one surface in a reply of the platform. */
export interface SurfaceNames {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

/** Absent while it is not known whether other processes have another one. */
type Mark = string | undefined;

/** An absent generation costs a render and is never wrong, so they need not live long. */
const LIFE_MS = 3_600_000;
/** How often a store that lost marks is tried again, in milliseconds. */
const REPAIR_MS = 1_000;
const MOST_LOST = 10_000;

/**
 * Knows which renders are from before an action, in every process that shares the store.
 *
 * A render depends on two marks in the store: one of its surface, one of everything the caller sees. An action replaces a mark by a new one,
 * and whatever was rendered under the old one is no longer served. Marks are unique texts and no counters, because a store
 * that only reads and writes cannot count: of two processes that add one at once, one would be lost.
 *
 * A mark that the store did not take is written again until it does. Until then other processes may not know of the action,
 * so a process that saw the store fail does not believe renders from before.
 */
export class RenderGenerations {
  readonly #deps: RenderGenerationsDependencies;
  readonly #creating = new Map<string, Promise<string>>();
  /** Marks the store did not take, and until when that matters. */
  readonly #lost = new Map<string, number>();
  #isRepairing = false;
  /** When the store was last seen to fail: from before, marks may be missing, those of other processes too. */
  #doubtedAt = -Infinity;

  constructor(dependencies: RenderGenerationsDependencies) {
    this.#deps = dependencies;
  }

  /** What a render started now depends on; `undefined` while an action of this process could not be marked. */
  current({ everything, surface }: RenderMarks): Mark | Promise<Mark> {
    const marks = gathered(this.#mark(everything), this.#mark(surface));
    return marks instanceof Promise ? marks.then(generationOf) : generationOf(marks);
  }

  /** Whether a render from this time, in milliseconds since the epoch, may be older than an action of which the store knows nothing. */
  isDoubtful(renderedAt: number): boolean {
    return renderedAt < this.#doubtedAt;
  }

  /** Everything kept of a surface is from before now, under its id and its name; when only one of them is known, everything the caller sees. */
  async advance(scope: RenderScope, ref: SurfaceRef, names: SurfaceNames): Promise<void> {
    const { store, keys } = this.#deps;
    const told = aliases(ref, names) ?? [];
    const remembered = parseAliases(await store.get(keys.links(scope, ref))) ?? [];
    const known = [...told, ...remembered].map((alias) => keys.surface(scope, alias));
    const marks = known.length === 0 ? [keys.everything(scope)] : [...new Set(known)];
    await Promise.all(marks.map((mark) => this.#drop(mark)));
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
        if (earlier !== undefined) await this.#drop(keys.everything(scope));
        await store.set(key, text, clock.now() + LIFE_MS);
      }),
    );
  }

  #mark(key: string): Mark | Promise<Mark> {
    if (this.#lost.has(key)) return this.#foundMark(key);
    const known = this.#deps.store.get(key);
    return typeof known === 'string' ? known : this.#markOf(key, known);
  }

  async #foundMark(key: string): Promise<Mark> {
    const until = this.#lost.get(key);
    if (until !== undefined && this.#deps.clock.now() < until && !(await this.#replace(key))) return undefined;
    return this.#markOf(key, this.#deps.store.get(key));
  }

  async #markOf(key: string, found: Mark | Promise<Mark>): Promise<Mark> {
    const known = await found;
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
    // Of two processes that begin at once, the later one's mark is what both go by.
    const taken = await store.get(key);
    if (taken === undefined) this.#doubt();
    return taken ?? mark;
  }

  /** What depends on this mark is no longer served, in this process at once. */
  async #drop(key: string): Promise<void> {
    if (await this.#replace(key)) return;
    // A store that is down loses the mark and may keep the renders. Until they are too old, this process does not believe it.
    this.#lost.set(key, this.#deps.clock.now() + this.#deps.maxAgeMs);
    const [oldest] = this.#lost.keys();
    // It would only be told to others: renders from before are doubtful here.
    if (this.#lost.size > MOST_LOST && oldest !== undefined) this.#lost.delete(oldest);
    this.#repairLater();
  }

  /** Whether the store took a new mark. */
  async #replace(key: string): Promise<boolean> {
    const { store, clock, newGeneration } = this.#deps;
    const earlier = await store.get(key);
    await store.set(key, newGeneration(), clock.now() + this.#lifeMs());
    const now = await store.get(key);
    const isTaken = now !== undefined && now !== earlier;
    if (isTaken) this.#lost.delete(key);
    else this.#doubt();
    return isTaken;
  }

  #doubt(): void {
    this.#doubtedAt = this.#deps.clock.now();
  }

  #repairLater(): void {
    if (this.#isRepairing) return;
    this.#isRepairing = true;
    this.#deps.later(REPAIR_MS, () => void this.#repair());
  }

  /** Writes lost marks one after the other, until the store fails again. */
  async #repair(): Promise<void> {
    const { store, clock } = this.#deps;
    for (const [key, until] of this.#lost) {
      this.#lost.delete(key);
      if (until <= clock.now()) continue;
      this.#lost.set(key, until); // Behind the others: no mark keeps them waiting.
      // A store that is full takes nothing, and may still remove: without their mark, renders are not served either.
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

function generationOf([everything, surface]: readonly [Mark, Mark]): string | undefined {
  return everything === undefined || surface === undefined ? undefined : `${everything} ${surface}`;
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
