import type { HeaderFields, RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenSource, SessionUser } from '../../ports/session-token-source.js';
import type { Secret } from '../shared/secret.js';
import type { Credential } from './credential.js';
import type { ExchangedTokens } from './exchanged-tokens.js';

interface AnyRoute {
  readonly fields?: RouteFields | undefined;
  /** A name of this route, if agent card, project and brand are the same for all its users. */
  readonly sharesLookups?: string | undefined;
}

type AnyAuth = AnyRoute &
  (
    | {
        readonly kind: 'service';
        /** Replaces the configured strategy, unless empty. */
        readonly strategy: string;
        /** Replaces the configured API key. */
        readonly apiKey: Secret | undefined;
      }
    | {
        readonly kind: 'session';
        readonly apiKey: Secret | undefined;
        /** True to reject a request without a session; otherwise it carries the API key alone. */
        readonly required: boolean;
        readonly source: SessionTokenSource;
        /** A stable name for the user of a token from that source; `undefined` if there is none. */
        readonly nameOf: (token: FoundToken) => readonly string[] | undefined;
        /** The API the token is for; if empty, the session decides. */
        readonly audience: string;
        /** Exchanges the session's token for one the platform accepts; absent if the platform accepts it directly. */
        readonly exchange: ExchangedTokens | undefined;
      }
    | { readonly kind: 'api-key'; readonly apiKey: Secret | undefined }
    /** Headers the site creates itself for each request. */
    | { readonly kind: 'headers'; readonly obtain: (request: RequestContext) => Promise<Credential> }
  );

/** The credential a route attaches: of one kind, or of any. */
export type RouteAuth<Kind extends AnyAuth['kind'] = AnyAuth['kind']> = Extract<AnyAuth, { readonly kind: Kind }>;

/** A token as returned by a session source. */
export type FoundToken = Extract<SessionToken, { readonly kind: 'token' }>;

/** Additional header fields of one route, besides the default ones (decision 91). Names are in lower case. */
export interface RouteFields {
  /** Fields of the browser that are forwarded too. */
  readonly request: readonly string[];
  /** Fields of the platform that are sent to the browser too. */
  readonly response: readonly string[];
  /** Creates the site's own fields for each call; absent if there are none. */
  readonly make?: (
    request: Pick<RequestContext, 'native'>,
    session: SessionUser | null,
    message: MessageFacts | undefined,
  ) => Promise<HeaderFields>;
}

/**
 * The call of a chat, for the functions in `headers`.
 *
 * @public
 */
export interface MessageFacts {
  /** The A2A method under its name in v1.0, such as `SendMessage`. */
  readonly method: string;
  /** The conversation. Absent if the call names none: with `conversations: 'visitor'` every message has one. */
  readonly contextId?: string | undefined;
  /** The task that is continued, read or cancelled. Absent if there is none. */
  readonly taskId?: string | undefined;
}

/** True if a route may send a visitor's session: then pages of other sites must not even read through it. */
export function mayHoldSession({ kind, fields }: RouteAuth): boolean {
  return kind === 'session' || kind === 'headers' || fields?.make !== undefined;
}
