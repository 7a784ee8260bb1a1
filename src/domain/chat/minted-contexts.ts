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
const RANDOM_DIGITS = RANDOM_BYTES * 2;
/** The digits of 128 bits. */
const DIGITS = 32;

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
    const [choice = 0, ...bytes] = this.#primitives.random(RANDOM_BYTES + 1);
    const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
    // An id of some agents must start with a letter.
    return this.#written('abcdef'.charAt(choice % 6) + digits.slice(1), key, scope);
  }

  /** True if one of these keys minted the id in this scope. Every key is tried, so that the time does not depend on which one. */
  verify(contextId: string, keys: readonly VisitorKey[], scope: ContextScope): boolean {
    if (!MINTED.test(contextId)) return false;
    const digits = contextId.replace('-', '').slice(0, RANDOM_DIGITS);
    return keys
      .map((key) => this.#primitives.equal(this.#written(digits, key, scope), contextId))
      .some((isEqual) => isEqual);
  }

  /** The random digits, followed by as many digits of the MAC as fit. */
  #written(random: string, { kind, user, key }: VisitorKey, { agent, tenant, account }: ContextScope): string {
    const fields = ['agent-bff context 1', kind, user, agent, tenant, account, random];
    // With their lengths, so that no two lists give the same text.
    const text = fields.map((field) => `${String(field.length)}:${field}`).join();
    const hex = random + this.#primitives.mac(key, text).slice(0, DIGITS - RANDOM_DIGITS);
    const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
