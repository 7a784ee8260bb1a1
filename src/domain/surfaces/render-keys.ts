import { delimited } from '../shared/json.js';
import { LruMap } from '../shared/lru-map.js';
import type { MemoryShare } from '../shared/memory-budget.js';
import type { SurfaceRef } from './surface-ref.js';

/** Identifies the owner of renders: the platform, the project and the caller. */
export type RenderScope = string;

/** Prefix of every key, including in a store the site passes: the name of the package, and the version of the stored format. */
export const STORE_PREFIX = 'agent-bff:1:';

/** One render: its owner, its surface, and its inputs. */
export interface RenderSubject {
  readonly scope: RenderScope;
  readonly ref: SurfaceRef;
  /** The inputs of a render besides its body. */
  readonly input: readonly unknown[];
  /** A JSON text in UTF-8; null if there is none. */
  readonly body: Uint8Array | null;
}

/** The version tags a render depends on. */
export interface RenderVersionTags {
  readonly callerTag: string;
  readonly surfaceTag: string;
}

/** The key of a render, and the tags it depends on. */
export interface RenderKeySet extends RenderVersionTags {
  readonly render: string;
}

/** Characters of a request whose keys are remembered: pages send the same short bodies repeatedly. */
const MAX_SHORT = 2_048;
/** Bytes of an entry: three keys and their places. */
const ENTRY_BYTES = 768;
/** Milliseconds for which an entry is remembered. */
const KNOWN_MS = 600_000;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Computes the keys of renders. Remembers recent ones, since a hit costs little besides its key. */
export class RenderKeys {
  readonly #hash: (data: string | Uint8Array) => string;
  readonly #memory: MemoryShare;
  readonly #known: LruMap<RenderKeySet>;

  /** `hash` is a collision-resistant one-way hash. */
  constructor(hash: (data: string | Uint8Array) => string, memory: MemoryShare) {
    this.#hash = hash;
    this.#memory = memory;
    this.#known = new LruMap({ share: memory });
  }

  /**
   * The keys of a render. The body counts by its bytes: if two texts had one key because one parser reads them alike, a
   * platform that reads them apart would let one visitor choose what another sees.
   */
  keys(subject: RenderSubject): RenderKeySet {
    const { scope, ref, input, body } = subject;
    if (body !== null && body.length > MAX_SHORT) return this.#made(subject);
    let text = `${delimited(scope)}${ref.by}${delimited(ref.value)}`;
    for (const part of input) text += delimited(part);
    // The last part needs no delimiter.
    if (body !== null) text += ` ${decoder.decode(body)}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const keys = this.#made(subject);
    if (text.length <= MAX_SHORT) this.#known.set(text, keys, ENTRY_BYTES, this.#memory.now() + KNOWN_MS);
    return keys;
  }

  #made({ scope, ref, input, body }: RenderSubject): RenderKeySet {
    const sent = body === null ? 'none' : `bytes ${this.#hash(body)}`;
    const render = `${STORE_PREFIX}render:${this.#hash(JSON.stringify([scope, ref.by, ref.value, input, sent]))}`;
    return { render, callerTag: this.callerTag(scope), surfaceTag: this.surfaceTag(scope, ref) };
  }

  /** The key of the version tag of everything a caller sees. */
  callerTag(scope: RenderScope): string {
    return this.#versionTagKey(['everything', scope]);
  }

  /** The key of the version tag of one surface, by one way to address it. */
  surfaceTag(scope: RenderScope, { by, value }: SurfaceRef): string {
    return this.#versionTagKey(['surface', scope, by, value]);
  }

  /** The key of the entry that lists the other ways to address a surface. */
  aliases(scope: RenderScope, { by, value }: SurfaceRef): string {
    return this.#versionTagKey(['links', scope, by, value]);
  }

  #versionTagKey(parts: readonly unknown[]): string {
    return `${STORE_PREFIX}tag:${this.#hash(JSON.stringify(parts))}`;
  }
}
