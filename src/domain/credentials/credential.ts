import { type AgentBffError, ServiceAuthError, SessionError, siteFailed } from '../shared/errors.js';
import { claimsRequest } from './claims-request.js';
import type { HeaderFields } from '../../ports/http.js';
import type { IssueFailure, Identity } from '../../ports/identity-provider.js';
import type { SessionUser } from '../../ports/session-token-source.js';
import { choosingFields } from '../shared/header-policy.js';

/** The owner of a credential with which every caller is shown the same. */
export function ownerOf(principal: string): CredentialOwner {
  return { principal, reader: principal };
}

/** The kind of authority a credential carries. */
export type CredentialKind = 'service' | 'session' | 'api-key';

/** The owner of a credential, for caches: two texts of digests and names, without secrets. */
export interface CredentialOwner {
  /** A stable name of the caller, the same in every process; absent if there is none. */
  readonly principal: string | undefined;
  /**
   * Distinguishes all callers to whom the platform may show different things: the principal, or the token if user or
   * tenant is not known otherwise.
   */
  readonly reader: string;
  /** The principal without the API key, which is rotated; absent if nothing else names it. */
  readonly account?: string;
}

interface CredentialFacts {
  readonly kind: CredentialKind;
  readonly headers: HeaderFields;
  /** Called when a cache first needs it. */
  readonly owner: () => CredentialOwner;
  readonly block: string;
  readonly cacheKey?: string | undefined;
  readonly token?: string | undefined;
  readonly fields?: SiteFields | undefined;
  readonly user?: SessionUser | undefined;
  /** The credential for the platform's API, if the agent gets another one. Default: the same. */
  readonly forPlatform?: Credential | undefined;
}

/**
 * The header fields that authorize one request to the platform, and their owner. The values are private fields, which
 * are never printed.
 */
export class Credential {
  readonly kind: CredentialKind;
  /** The configuration block to check if the platform rejects it. */
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

  /** The same credential, sent with additional fields of the site. */
  withFields(fields: SiteFields | undefined): Credential {
    return fields === undefined ? this : new Credential({ ...this.#facts, owner: () => this.owner, fields });
  }

  get owner(): CredentialOwner {
    return (this.#owner ??= this.#facts.owner());
  }

  /** The fields to set on the upstream request; they replace fields with the same name. */
  get headers(): HeaderFields {
    return this.#headers;
  }

  /** The fields that are the credential itself. */
  get own(): HeaderFields {
    return this.#facts.headers;
  }

  /** The site's own fields; absent if the route has none. */
  get fields(): SiteFields | undefined {
    return this.#facts.fields;
  }

  /** The cache key of the token; absent if the credential is not a cached service token. */
  get cacheKey(): string | undefined {
    return this.#facts.cacheKey;
  }

  get token(): string | undefined {
    return this.#facts.token;
  }

  /** The signed-in user; null without a session. */
  get user(): SessionUser | null {
    return this.#facts.user ?? null;
  }

  /** The credential to send to the platform's API instead of to the agent. */
  get forPlatform(): Credential {
    return this.#facts.forPlatform?.withFields(this.fields) ?? this;
  }
}

/** The block of an empty credential. */
export const NO_CREDENTIAL = 'serviceAuthStrategy';

/** True for a text that can be a bearer token: visible ASCII without blanks, since a blank would mean another scheme (RFC 6750 §2.1). */
export function isTokenText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

/** A token without its scheme, for sites that copy the whole `authorization` field (RFC 6750 §2.1). */
export function withoutScheme(value: string): string {
  return /^bearer /i.test(value) ? value.slice('bearer '.length).trimStart() : value;
}

/** The error for a session that the user must renew; `log` is for the server only, `claims` are as the provider wrote them. */
export function sessionError(reason: 'expired' | 'interaction', log: string, claims?: string): SessionError {
  return reason === 'expired'
    ? new SessionError('session_expired', { detail: 'The session has expired.', hint: 'Sign in again.', log })
    : new SessionError('interaction_required', {
        detail: 'The identity provider requires consent or a second factor.',
        hint: 'Sign in again and complete the steps of the identity provider.',
        claims: claimsRequest(claims),
        log,
      });
}

/** The error of a call that needs a field missing from `configureServer`. */
export function notSet(detail: string, hint: string, ...fields: readonly string[]): ServiceAuthError {
  return new ServiceAuthError('service_auth_failed', { detail, hint, block: 'configureServer', fields });
}

/** The error for a missing token, in the words of the failed provider; the same for all tokens if the provider is down. */
export function serviceAuthError(
  { reason, advice, block, fields, retryAfterMs, log, option }: IssueFailure & { readonly option?: string },
  words: Readonly<Record<Exclude<IssueFailure['reason'], 'unavailable'>, string>>,
): AgentBffError {
  if (option !== undefined) return siteFailed(option, 'The credential for the platform could not be obtained.')(log);
  const isUnavailable = reason === 'unavailable';
  return new ServiceAuthError(isUnavailable ? 'identity_provider_unavailable' : 'service_auth_failed', {
    detail: isUnavailable ? 'The identity provider cannot be reached or is out of order.' : words[reason],
    hint: advice,
    block,
    fields,
    retryable: isUnavailable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    log,
  });
}

/** Header fields the site adds to one request, by the options of its route (decision 91). Names are in lower case. */
export interface SiteFields {
  /** Fields the site created. */
  readonly added: HeaderFields;
  /** The browser's fields that are forwarded too: visitors choose these values. */
  readonly forwarded: HeaderFields;
  readonly response: readonly string[];
}

/**
 * The identity that a provider or an exchange states.
 *
 * @throws TypeError when it states none: with an empty principal, strangers would share cached data.
 */
export async function statedIdentity(stating: { identity(): Identity | Promise<Identity> }): Promise<Identity> {
  const stated: unknown = await stating.identity();
  const { principal, proof } = (stated ?? {}) as Partial<Record<keyof Identity, unknown>>;
  if (typeof principal === 'string' && principal !== '' && typeof proof === 'string') return { principal, proof };
  throw new TypeError('"identity" must return a non-empty "principal" and a "proof", both strings');
}

/**
 * Identifies callers who see each other's actions, as a text to be hashed; `undefined` if the caller has no stable
 * name, so nothing may be cached. It outlives tokens: an action must invalidate renders made with the previous one.
 */
export function credentialScope({ owner, fields }: Credential): string | undefined {
  return owner.principal === undefined ? undefined : scopeText(owner.principal, choosingFields(fields?.added));
}

/**
 * Identifies callers to whom the platform shows the same agent card, project and brand; includes the site's own fields.
 * `route` replaces their names where all users of a route are shown the same.
 */
export function readerScope({ owner, fields }: Credential, route?: string): string {
  return scopeText(route ?? owner.reader, [...choosingFields(fields?.added), ...choosingFields(fields?.forwarded)]);
}

/** True if visitors can create cache keys at will, through their own input or what the site makes of it. */
export function isVaried({ fields }: Credential): boolean {
  return choosingFields({ ...fields?.forwarded, ...fields?.added }).length > 0;
}

function scopeText(owner: string, chosen: readonly unknown[]): string {
  return chosen.length === 0 ? owner : JSON.stringify([owner, ...chosen]);
}
