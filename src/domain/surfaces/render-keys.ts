import { delimited } from '../shared/json.js';
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
  /** The input of a render besides its body. */
  readonly input: readonly unknown[];
  /** A JSON text in UTF-8; null when there is none. */
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

/**
 * Bytes of a short body, which has one key whatever the order of its fields; pages send such again and again, so the keys are remembered.
 * A longer body is its bytes: to find its one spelling costs more than to forward it, and another spelling costs one render (decision 100).
 */
const MAX_SHORT = 2_048;
/** Bytes of all that is remembered. */
const KNOWN_BYTES = 8_388_608;
/** Bytes of an entry besides its text, which takes two a character at most: three keys and their places. */
const ENTRY_BYTES = 1_024;

const decoder = new TextDecoder();

/** Works out the keys of renders. Those that were worked out lately are known, since a hit costs little else. */
export class RenderKeys {
  readonly #hash: (data: string | Uint8Array) => string;
  readonly #known: LruMap<RenderKeySet>;

  /** `hash` is a one-way function without collisions; the keys of at most `most` renders are known. */
  constructor(hash: (data: string | Uint8Array) => string, most: number) {
    this.#hash = hash;
    this.#known = new LruMap({ maxEntries: most, maxBytes: KNOWN_BYTES });
  }

  /** The keys of a render; `undefined` when two readers may take its body for two different values. */
  keys(subject: RenderSubject): RenderKeySet | undefined {
    const { scope, ref, input, body } = subject;
    if (body !== null && body.length > MAX_SHORT) return this.#made(subject, `bytes ${this.#hash(body)}`);
    const bodyText = body && decoder.decode(body);
    let text = `${delimited(scope)}${ref.by}${delimited(ref.value)}`;
    for (const part of input) text += delimited(part);
    // The last part needs no end of its own.
    if (bodyText !== null) text += ` ${bodyText}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const spelling = bodyText === null ? 'none' : canonicalJson(bodyText);
    if (spelling === undefined) return undefined;
    const keys = this.#made(subject, spelling);
    if (text.length <= MAX_SHORT) this.#known.set(text, keys, 2 * text.length + ENTRY_BYTES);
    return keys;
  }

  #made({ scope, ref, input }: RenderSubject, spelling: string): RenderKeySet {
    const render = `${PREFIX}render:${this.#hash(JSON.stringify([scope, ref.by, ref.value, input, spelling]))}`;
    return { render, callerTag: this.callerTag(scope), surfaceTag: this.surfaceTag(scope, ref) };
  }

  /** The version tag of everything a caller sees. */
  callerTag(scope: RenderScope): string {
    return this.#versionTagKey(['everything', scope]);
  }

  /** The version tag of one surface, by one way to address it. */
  surfaceTag(scope: RenderScope, { by, value }: SurfaceRef): string {
    return this.#versionTagKey(['surface', scope, by, value]);
  }

  /** The key of the other ways to address a surface. */
  aliases(scope: RenderScope, { by, value }: SurfaceRef): string {
    return this.#versionTagKey(['links', scope, by, value]);
  }

  #versionTagKey(parts: readonly unknown[]): string {
    return `${PREFIX}tag:${this.#hash(JSON.stringify(parts))}`;
  }
}
