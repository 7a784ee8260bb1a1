import type { Memory, MemoryMap } from '../../ports/memory.js';
import { delimited } from '../shared/json.js';
import type { Clock } from '../../ports/clock.js';
import type { SurfaceRef } from './surface-ref.js';

/** Identifies the owner of renders: the platform, the project and the caller. */
export type RenderScope = string;

/** Prefix of every key, including in a store the site passes: the name of the package, and the version of the stored format. */
export const STORE_PREFIX = 'agent-bff:2:';

/** One render: its owner, its surface, and its inputs. */
export interface RenderSubject {
  readonly scope: RenderScope;
  readonly ref: SurfaceRef;
  /** The inputs of a render besides its body. */
  readonly input: readonly unknown[];
  /** A JSON text in UTF-8; null if there is none. */
  readonly body: Uint8Array | null;
}

/** The key of a render, and of the two generations it depends on. */
export interface RenderKeySet {
  readonly render: string;
  readonly owner: string;
  readonly address: string;
}

/** Characters of a request whose keys are remembered: pages send the same short bodies repeatedly. */
const MAX_SHORT = 2_048;
/** Bytes of an entry: three keys. */
const ENTRY_BYTES = 512;
/** Milliseconds for which an entry is remembered. */
const KNOWN_MS = 600_000;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export interface RenderKeysDependencies {
  /** A collision-resistant one-way hash. */
  readonly hash: (data: string | Uint8Array) => string;
  readonly memory: Memory;
  readonly clock: Clock;
}

/** Computes the keys of renders. Remembers recent ones, since a hit costs little besides its key. */
export class RenderKeys {
  readonly #deps: RenderKeysDependencies;
  readonly #known: MemoryMap<RenderKeySet>;

  constructor(dependencies: RenderKeysDependencies) {
    this.#deps = dependencies;
    this.#known = dependencies.memory.map();
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
    if (text.length <= MAX_SHORT) this.#known.set(text, keys, ENTRY_BYTES, this.#deps.clock.now() + KNOWN_MS);
    return keys;
  }

  #made({ scope, ref, input, body }: RenderSubject): RenderKeySet {
    const { hash } = this.#deps;
    const sent = body === null ? 'none' : `bytes ${hash(body)}`;
    const render = `${STORE_PREFIX}render:${hash(JSON.stringify([scope, ref.by, ref.value, input, sent]))}`;
    return { render, owner: this.owner(scope), address: this.address(scope, ref) };
  }

  /** The key of the generation of everything an owner sees. */
  owner(scope: RenderScope): string {
    return this.#generation([scope]);
  }

  /** The key of the generation of one surface, by one way to address it. */
  address(scope: RenderScope, { by, value }: SurfaceRef): string {
    return this.#generation([scope, by, value]);
  }

  #generation(parts: readonly string[]): string {
    return `${STORE_PREFIX}generation:${this.#deps.hash(JSON.stringify(parts))}`;
  }
}
