import type { VisitorCrypto } from '../../ports/visitor-crypto.js';
import { delimited } from '../shared/json.js';
import { LruMap } from '../shared/lru-map.js';

/** A key under which conversations of one visitor are minted. */
export interface VisitorKey {
  readonly kind: 'cookie' | 'user';
  /** The user; empty for a cookie, whose secret is a key of its own. */
  readonly user: string;
  readonly key: Uint8Array | string;
}

/** The owners of a conversation besides its visitor. */
export interface ContextScope {
  readonly agent: string;
  /** The A2A tenant; empty if there is none. */
  readonly tenant: string;
  /** The user that the site is to the agent, without its API key, which is rotated. */
  readonly account: string;
}

const MINTED = /^[a-f][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MAX_VERIFIED = 10_000;
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
  /** The key and scope of ids that verified before, by visitor and id. */
  readonly #verified = new LruMap<VisitorKey & ContextScope>({ maxEntries: MAX_VERIFIED });

  constructor(primitives: VisitorCrypto) {
    this.#primitives = primitives;
  }

  mint(key: VisitorKey, scope: ContextScope): string {
    const digits = this.#primitives.random(RANDOM_BYTES + 1, 'hex');
    // An id of some agents must start with a letter.
    const letter = 'abcdef'.charAt(Number.parseInt(digits.slice(0, 2), 16) % 6);
    return this.#written(letter + digits.slice(3), key, ownersOf(key, scope));
  }

  /**
   * True if one of these keys minted the id in this scope, which costs a MAC only the first time. A key that did not is
   * tried like one that did, in the same time.
   */
  verify(contextId: string, keys: readonly VisitorKey[], scope: ContextScope): boolean {
    if (!MINTED.test(contextId)) return false;
    for (const key of keys) if (this.#isKnown(contextId, key, scope)) return true;
    const digits = contextId.slice(0, 8) + contextId.slice(9, 11);
    let isOwn = false;
    for (const key of keys) {
      if (!this.#primitives.equal(this.#written(digits, key, ownersOf(key, scope)), contextId)) continue;
      this.#verified.set(nameOf(key) + contextId, { ...key, ...scope });
      isOwn = true;
    }
    return isOwn;
  }

  #isKnown(contextId: string, key: VisitorKey, { agent, tenant, account }: ContextScope): boolean {
    const known = this.#verified.get(nameOf(key) + contextId);
    if (known?.kind !== key.kind || known.key !== key.key) return false;
    return known.agent === agent && known.tenant === tenant && known.account === account;
  }

  /** The random digits, followed by as many digits of the MAC as fit. */
  #written(random: string, { key }: VisitorKey, owners: string): string {
    const hex = random + this.#primitives.mac(key, owners + random).slice(0, DIGITS - RANDOM_DIGITS);
    const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

/** Everything a conversation belongs to but its key; with lengths, so that no two have the same text. */
function ownersOf({ kind, user }: VisitorKey, { agent, tenant, account }: ContextScope): string {
  return `agent-bff context 1 ${kind}${delimited(user)}${delimited(agent)}${delimited(tenant)}${delimited(account)}`;
}

/** The secret is looked up and not compared: the table's hash is seeded per process, so its time says nothing about it. */
function nameOf({ user, key }: VisitorKey): string {
  return user === '' ? String(key) : user;
}
