import { ServiceAuthError, SessionError } from '../shared/errors.js';
import type { HeaderFields } from '../../ports/http.js';
import type { IssueFailure, Identity } from '../../ports/identity-provider.js';
import { choosingFields } from '../upstream/header-policy.js';

/** Whose authority a credential carries. */
export type CredentialKind = 'service' | 'session' | 'api-key';

/** Whose a credential is, for caches. Two texts of digests and names, without a secret. */
export interface CredentialOwner {
  /** A stable name of the caller, alike in every process; absent when there is none. */
  readonly principal: string | undefined;
  /** Distinguishes all callers to whom the platform may show different things: the principal, or the token where neither user nor tenant is known otherwise. */
  readonly reader: string;
}

interface CredentialFacts {
  readonly kind: CredentialKind;
  readonly headers: HeaderFields;
  /** Called when a cache first asks. */
  readonly owner: () => CredentialOwner;
  readonly block: string;
  readonly cacheKey?: string | undefined;
  readonly token?: string | undefined;
  readonly fields?: SiteFields | undefined;
}

/**
 * The header fields that authorize one request to the platform, and their owner.
 * The values are private fields, which nothing prints.
 */
export class Credential {
  readonly kind: CredentialKind;
  /** The configuration block to check when the platform refuses it. */
  readonly block: string;
  readonly #facts: CredentialFacts;
  readonly #headers: HeaderFields;
  #owner: CredentialOwner | undefined;

  constructor(facts: CredentialFacts) {
    this.kind = facts.kind;
    this.block = facts.block;
    this.#facts = facts;
    const { fields, headers } = facts;
    this.#headers = fields === undefined ? headers : { ...fields.forwarded, ...fields.added, ...headers };
  }

  /** The same, sent with fields of the site's own. */
  withFields(fields: SiteFields | undefined): Credential {
    return fields === undefined ? this : new Credential({ ...this.#facts, owner: () => this.owner, fields });
  }

  get owner(): CredentialOwner {
    return (this.#owner ??= this.#facts.owner());
  }

  /** The fields to set upstream; they replace any of the same name. */
  get headers(): HeaderFields {
    return this.#headers;
  }

  /** Those of them that are the credential itself. */
  get own(): HeaderFields {
    return this.#facts.headers;
  }

  /** The site's own fields; absent where the route has none. */
  get fields(): SiteFields | undefined {
    return this.#facts.fields;
  }

  /** The cache key of the token; absent for credentials that are no cached service token. */
  get cacheKey(): string | undefined {
    return this.#facts.cacheKey;
  }

  get token(): string | undefined {
    return this.#facts.token;
  }
}

/** True for a text that can be a bearer token: visible ASCII, without the blank that another scheme would bring (RFC 6750 §2.1). */
export function isTokenText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

/** A token as sites take it from an `authorization` field of their own, without the scheme (RFC 6750 §2.1). */
export function withoutScheme(value: string): string {
  return /^bearer /i.test(value) ? value.slice('bearer '.length).trimStart() : value;
}

/** The error for a session that the user must renew first; `log` is for the server alone. */
export function sessionError(reason: 'expired' | 'interaction', log: string): SessionError {
  return reason === 'expired'
    ? new SessionError('session_expired', { detail: 'The session has expired.', hint: 'Sign in again.', log })
    : new SessionError('interaction_required', {
        detail: 'The identity provider asks for consent or a second factor.',
        hint: 'Sign in again and complete what the identity provider asks for.',
        log,
      });
}

/** The error for want of a token, in the words of that token; for a provider that is down, the same for all. */
export function serviceAuthError(
  { reason, advice, block, fields, retryAfterMs, detail }: IssueFailure,
  words: Readonly<Record<Exclude<IssueFailure['reason'], 'unavailable'>, string>>,
): ServiceAuthError {
  const isUnavailable = reason === 'unavailable';
  return new ServiceAuthError(isUnavailable ? 'identity_provider_unavailable' : 'service_auth_failed', {
    detail: isUnavailable ? 'The identity provider cannot be reached or is out of order.' : words[reason],
    hint: advice,
    block,
    fields,
    retryable: isUnavailable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    log: detail,
  });
}

/** Header fields of the site's own on one request, by the options of its route (decision 91). Names are in lower case. */
export interface SiteFields {
  /** Fields the site made. */
  readonly added: HeaderFields;
  /** The browser's fields that go upstream too: visitors choose these values. */
  readonly forwarded: HeaderFields;
  readonly response: readonly string[];
}

/**
 * The identity a provider or an exchange states.
 *
 * @throws TypeError when it states none: under an empty principal, strangers would share what is cached.
 */
export async function statedIdentity(stating: { identity(): Identity | Promise<Identity> }): Promise<Identity> {
  const stated: unknown = await stating.identity();
  const { principal, proof } = (stated ?? {}) as Partial<Record<keyof Identity, unknown>>;
  if (typeof principal === 'string' && principal !== '' && typeof proof === 'string') return { principal, proof };
  throw new TypeError('"identity" has to give a "principal" that is not empty and a "proof", both strings');
}

/**
 * Names the callers who see each other's actions, as a text to be hashed; `undefined` when the caller has no stable name, and nothing may be kept.
 * It outlives tokens: an action must invalidate what was rendered under the last one.
 */
export function credentialScope({ owner, fields }: Credential): string | undefined {
  return owner.principal === undefined ? undefined : scopeText(owner.principal, choosingFields(fields?.added));
}

/** Names those to whom the platform may show one agent card, project and brand; the site's own fields are part of it. */
export function readerScope({ owner, fields }: Credential): string {
  return scopeText(owner.reader, [...choosingFields(fields?.added), ...choosingFields(fields?.forwarded)]);
}

/** True if visitors can create cache keys at will, by what they send or what the site makes of it: such entries are kept apart (decision 83). */
export function isVaried({ fields }: Credential): boolean {
  return choosingFields({ ...fields?.forwarded, ...fields?.added }).length > 0;
}

function scopeText(owner: string, chosen: readonly unknown[]): string {
  return chosen.length === 0 ? owner : JSON.stringify([owner, ...chosen]);
}
