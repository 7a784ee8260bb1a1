import type { HeaderFields, RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import type { Secret } from '../shared/secret.js';
import type { Credential } from './credential.js';
import type { ExchangedTokens } from './exchanged-tokens.js';

type AnyAuth = { readonly fields?: RouteFields | undefined } & (
  | {
      readonly kind: 'service';
      /** Replaces the configured strategy; an empty string leaves it. */
      readonly strategy: string;
      /** Replaces the configured API key. */
      readonly apiKey: Secret | undefined;
    }
  | {
      readonly kind: 'session';
      readonly apiKey: Secret | undefined;
      /** True if a request without a session is refused; otherwise it carries the API key alone. */
      readonly required: boolean;
      readonly source: SessionTokenSource;
      /** A stable name of the user a token of that source is for; `undefined` when there is none. */
      readonly nameOf: (token: FoundToken) => readonly string[] | undefined;
      /** The API the token is for; an empty string leaves it to the session. */
      readonly audience: string;
      /** Exchanges the session's token for one the platform accepts; absent when the platform takes it as it is. */
      readonly exchange: ExchangedTokens | undefined;
    }
  | { readonly kind: 'api-key'; readonly apiKey: Secret | undefined }
  /** Headers the site makes itself for each request. */
  | { readonly kind: 'headers'; readonly obtain: (request: RequestContext) => Promise<Credential> }
);

/** The credential a route attaches, of one kind or any. */
export type RouteAuth<Kind extends AnyAuth['kind'] = AnyAuth['kind']> = Extract<AnyAuth, { readonly kind: Kind }>;

/** A token as a session source gives it. */
export type FoundToken = Extract<SessionToken, { readonly kind: 'token' }>;

/** Header fields of the site's own on one route, besides those that always cross (decision 91). Names are in lower case. */
export interface RouteFields {
  /** Fields of the browser that go upstream too. */
  readonly request: readonly string[];
  /** Fields of the platform that go to the browser too. */
  readonly response: readonly string[];
  /** Fields the site makes for each request; absent when it makes none. */
  readonly make?: (request: Pick<RequestContext, 'native'>) => Promise<HeaderFields>;
}

/** True if what a route sends may come from a visitor's session: pages of other sites must not even read by it. */
export function mayHoldSession({ kind, fields }: RouteAuth): boolean {
  return kind === 'session' || kind === 'headers' || fields?.make !== undefined;
}
