import type { VisitorCrypto } from '../../ports/visitor-crypto.js';

/** A key under which conversations of one visitor are minted. */
export interface VisitorKey {
  readonly kind: 'cookie' | 'user';
  /** The user; empty for a cookie, which is a key of its own. */
  readonly user: string;
  readonly key: Uint8Array;
}

/** The place a conversation belongs to besides its visitor. */
export interface ContextScope {
  readonly agent: string;
  /** The A2A tenant; empty if there is none. */
  readonly tenant: string;
  /** The A2A user the site is, without its API key, which is rotated. */
  readonly account: string;
}

const MINTED = /^[a-f][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const RANDOM_BYTES = 5;
const encoder = new TextEncoder();

/**
 * Mints ids of conversations that prove their visitor: UUIDs of version 8 (RFC 9562 §5.8) with a first digit from a to
 * f, which every known agent accepts. 38 bits are random, and 82 bits are an HMAC-SHA256 of the scope, the visitor and
 * the random bits.
 */
export class MintedContexts {
  readonly #primitives: VisitorCrypto;

  constructor(primitives: VisitorCrypto) {
    this.#primitives = primitives;
  }

  mint(key: VisitorKey, scope: ContextScope): string {
    const random = this.#primitives.random(RANDOM_BYTES + 1);
    // An id of some agents must start with a letter.
    random[0] = ((10 + ((random[RANDOM_BYTES] ?? 0) % 6)) << 4) | ((random[0] ?? 0) & 0x0f);
    return this.#written(random.subarray(0, RANDOM_BYTES), key, scope);
  }

  /** True if one of these keys minted the id in this scope. Every key is tried, so that the time does not depend on which one. */
  verify(contextId: string, keys: readonly VisitorKey[], scope: ContextScope): boolean {
    if (!MINTED.test(contextId)) return false;
    const digits = contextId.replace('-', '').slice(0, RANDOM_BYTES * 2);
    const random = Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    return keys
      .map((key) => this.#primitives.equal(this.#written(random, key, scope), contextId))
      .some((isEqual) => isEqual);
  }

  /** The random bits, followed by as many bits of the MAC as fit. */
  #written(random: Uint8Array, { kind, user, key }: VisitorKey, { agent, tenant, account }: ContextScope): string {
    const fields = ['agent-bff context 1', kind, user, agent, tenant, account].map((text) => encoder.encode(text));
    const mac = this.#primitives.mac(key, lengthPrefixed([...fields, random]));
    const bytes = Uint8Array.of(...random, ...mac.subarray(0, 16 - RANDOM_BYTES));
    bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }
}

/** The fields with their lengths, so that no two lists give the same bytes. */
function lengthPrefixed(fields: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, { length }) => sum + 4 + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const field of fields) {
    view.setUint32(at, field.length);
    bytes.set(field, at + 4);
    at += 4 + field.length;
  }
  return bytes;
}
