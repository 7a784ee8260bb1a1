import type { HeaderFields } from '../../ports/http.js';
import type { SiteFields } from './site-fields.js';

/** Whose authority a credential carries. */
export type CredentialKind = 'service' | 'session' | 'api-key';

interface CredentialFacts {
  readonly kind: CredentialKind;
  readonly headers: HeaderFields;
  readonly identity: string | undefined;
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
  /** A stable name of the caller for caches, such as `service:service_account`; absent when there is none. */
  readonly identity: string | undefined;
  /** The configuration block to check when the platform refuses it. */
  readonly block: string;
  readonly #facts: CredentialFacts;
  readonly #headers: HeaderFields;

  constructor(facts: CredentialFacts) {
    this.kind = facts.kind;
    this.identity = facts.identity;
    this.block = facts.block;
    this.#facts = facts;
    const { fields, headers } = facts;
    this.#headers = fields === undefined ? headers : { ...fields.forwarded, ...fields.added, ...headers };
  }

  /** The same, sent with fields of the site's own. */
  withFields(fields: SiteFields | undefined): Credential {
    return fields === undefined ? this : new Credential({ ...this.#facts, fields });
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
