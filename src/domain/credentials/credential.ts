import { ServiceAuthError, SessionError } from '../errors.js';
import type { HeaderFields } from '../../ports/http.js';
import type { IssueFailure } from '../../ports/identity-provider.js';
import type { SiteFields } from './site-fields.js';

/** Whose authority a credential carries. */
export type CredentialKind = 'service' | 'session' | 'api-key';

/** Whose a credential is, for caches. Two texts of digests and names, without a secret. */
export interface CredentialOwner {
  /** A stable name of the caller, alike in every process; absent when there is none. */
  readonly principal: string | undefined;
  /** Tells apart all whom the platform may show different things: the principal, or the token where neither user nor tenant is known otherwise. */
  readonly reader: string;
}

interface CredentialFacts {
  readonly kind: CredentialKind;
  readonly headers: HeaderFields;
  /** Called when a cache first asks. */
  readonly owner: () => CredentialOwner;
  readonly block: string;
  readonly cacheKey: string | undefined;
  readonly token: string | undefined;
  readonly fields?: SiteFields | undefined;
}

/**
 * What is put on one request to the platform: the header fields, and whose they are.
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

  /** Where the token is cached; absent for credentials that are no cached service token. */
  get cacheKey(): string | undefined {
    return this.#facts.cacheKey;
  }

  get token(): string | undefined {
    return this.#facts.token;
  }
}

/** Whether something can be a bearer token: visible ASCII, without the blank that another scheme would bring (RFC 6750 §2.1). */
export function isTokenText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

/** A token as sites take it from an `authorization` field of their own, without the scheme (RFC 6750 §2.1). */
export function withoutScheme(value: string): string {
  return /^bearer /i.test(value) ? value.slice('bearer '.length).trimStart() : value;
}

/** What the user has to do before the session can be used again; `log` is for the server alone. */
export function sessionError(reason: 'expired' | 'interaction', log: string): SessionError {
  return reason === 'expired'
    ? new SessionError('session_expired', { detail: 'The session has expired.', hint: 'Sign in again.', log })
    : new SessionError('interaction_required', {
        detail: 'The identity provider asks for consent or a second factor.',
        hint: 'Sign in again and complete what the identity provider asks for.',
        log,
      });
}

/** Why there is no token, in the words of the token that was asked for; a provider that is down is told alike for all. */
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
