import { delimited } from '../shared/delimited.js';
import { canonicalJson } from './canonical-json.js';
import { LruMap } from '../shared/lru-map.js';
import type { SurfaceRef } from './surface-ref.js';

/** Whose renders: the platform, the project and the caller, as a text. */
export type RenderScope = string;

/** Begins every key, also in a store of the site's own: the name of the package, and the format of what it stores. */
const PREFIX = 'agent-bff:1:';

/** One render: whose, of which surface, and made of what. */
export interface RenderSubject {
  readonly scope: RenderScope;
  readonly ref: SurfaceRef;
  /** What the platform may choose a render by besides its body. */
  readonly input: readonly unknown[];
  /** The JSON text of the body; null when there is none. */
  readonly body: string | null;
}

/** The version tags a render depends on. */
export interface RenderVersionTags {
  readonly callerTag: string;
  readonly surfaceTag: string;
}

/** Where a render is kept, and what it depends on. */
export interface RenderKeySet extends RenderVersionTags {
  readonly render: string;
}

/** Longer ones are worked out each time: a page sends short bodies again and again, and long ones once. */
const MAX_KNOWN = 2_048;

/** Works out the keys of renders. Those that were worked out lately are known, since a hit costs little else. */
export class RenderKeys {
  readonly #hash: (text: string) => string;
  readonly #known: LruMap<RenderKeySet>;

  /** `hash` is a one-way function without collisions; the keys of at most `most` renders are known. */
  constructor(hash: (text: string) => string, most: number) {
    this.#hash = hash;
    this.#known = new LruMap({ maxEntries: most });
  }

  /** The keys of a render; `undefined` when two readers may take its body for two different values. */
  keys(subject: RenderSubject): RenderKeySet | undefined {
    const { scope, ref, input, body } = subject;
    let text = `${delimited(scope)}${ref.by}${delimited(ref.value)}`;
    for (const part of input) text += delimited(part);
    text += delimited(body);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const spelling = body === null ? 'none' : canonicalJson(body);
    if (spelling === undefined) return undefined;
    const render = `${PREFIX}render:${this.#hash(JSON.stringify([scope, ref.by, ref.value, input, spelling]))}`;
    const keys = { render, callerTag: this.callerTag(scope), surfaceTag: this.surfaceTag(scope, ref) };
    if (text.length <= MAX_KNOWN) this.#known.set(text, keys);
    return keys;
  }

  /** The version tag of everything a caller sees. */
  callerTag(scope: RenderScope): string {
    return this.#versionTagKey(['everything', scope]);
  }

  /** The version tag of one surface, by one way to address it. */
  surfaceTag(scope: RenderScope, { by, value }: SurfaceRef): string {
    return this.#versionTagKey(['surface', scope, by, value]);
  }

  /** Where the other ways to address a surface are kept. */
  aliases(scope: RenderScope, { by, value }: SurfaceRef): string {
    return this.#versionTagKey(['links', scope, by, value]);
  }

  #versionTagKey(parts: readonly unknown[]): string {
    return `${PREFIX}tag:${this.#hash(JSON.stringify(parts))}`;
  }
}
