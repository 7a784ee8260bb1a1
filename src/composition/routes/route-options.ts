// `any` is the request of an unknown framework; each entry sets its own type.
/* oxlint-disable typescript/no-explicit-any */

import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { MessageFacts } from '../../domain/credentials/route-auth.js';
import type { SessionUser } from '../../ports/session-token-source.js';
import type { OwnName } from '../config/own-providers.js';
import type { ServiceAuthStrategy } from '../config/server-config.js';

/**
 * Header fields from the site: an object, a `Headers`, or a list of pairs of name and value. A list of values is sent
 * as one field, a field that is `undefined` or `null` is left out, and `undefined` instead of an object means no
 * fields.
 *
 * @public
 */
export type HeadersLike =
  | Headers
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | readonly (readonly string[])[]
  | null
  | undefined;

/**
 * Returns header fields for calls to the platform, from the framework's request. As `getHeaders` and
 * `configGetHeaders` they are the credential: if it throws an error of this package, that is the response; any other
 * error becomes a 401 whose reason is only in the server's log.
 *
 * @public
 */
export type GetHeaders<NativeRequest = any> = {
  // A method, so that a site can declare its own request type: a request with a session, Next's own request.
  // oxlint-disable-next-line typescript/method-signature-style
  call(request: NativeRequest, about: FieldsContext): HeadersLike | Promise<HeadersLike>;
}['call'];

/**
 * The call for which the function in `headers` makes header fields.
 *
 * @public
 */
export interface FieldsContext {
  /** The signed-in user of a route with `auth`; `null` without a session. */
  readonly session: SessionUser | null;
  /** The route that the call serves. */
  readonly route: 'chat' | 'surface' | 'conversation';
  /** The message of a chat. Absent for look-ups, such as the agent card: what depends on it is not cached. */
  readonly message?: MessageFacts | undefined;
}

/**
 * Names of additional header fields to forward. Credentials, cookies, hop-by-hop, framing and CORS fields, and those
 * this package sets itself, are rejected.
 *
 * @public
 */
export interface ForwardOptions {
  /**
   * Fields of the browser's request to forward to the platform, such as `prefer` or `baggage`. Visitors choose their
   * values. Default: none.
   */
  readonly request?: readonly string[] | undefined;
  /** Fields of the platform's response to forward to the browser, such as `x-agent-trace`. Default: none. */
  readonly response?: readonly string[] | undefined;
}

/**
 * Header fields of the site's own, for every route. They are part of the key of every cached render, card, project and
 * brand, except `traceparent`, `tracestate` and `baggage`; a field that differs in each request prevents caching.
 *
 * @public
 */
export interface SiteFieldOptions<NativeRequest = any> {
  /**
   * Returns additional header fields for the platform, such as a tenant, from the framework's request. If it throws,
   * the response is a 500 whose reason is only in the server's log, or that error if it is one of this package.
   * Default: none.
   */
  readonly headers?: GetHeaders<NativeRequest> | undefined;
  /** Names of additional header fields to forward. Default: none. */
  readonly forward?: ForwardOptions | undefined;
}

/**
 * The service credential for calls to the platform (docs/authentication.md).
 *
 * @public
 */
export interface AuthHeadersOptions {
  /** Service strategy. Default: the configured one. */
  readonly strategy?: ServiceAuthStrategy | OwnName | undefined;
  /** API key. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
}

/**
 * Handling of the signed-in user's token.
 *
 * @public
 */
export interface SessionOptions {
  /** Audience of the user's token. Default: that of the session. */
  readonly audience?: string | undefined;
  /** API key. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Exchanges the user's token even if `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
}

/**
 * Access to the conversations of a chat route, and the site's word in their messages.
 *
 * @public
 */
export interface ConversationOptions<NativeRequest = any> {
  /**
   * `visitor` lets each visitor read, continue and cancel their own conversations only; `open` lets in anyone who
   * knows an id. Default: the configured `conversations`.
   */
  readonly conversations?: 'open' | 'visitor' | undefined;
  /**
   * Returns the site's own name of the signed-in user, from the framework's request; `null` or an empty string without
   * a sign-in. It must never change and never be given to someone else. Needs `cacheKeys`. Default: the user of
   * `auth`, otherwise a random cookie.
   */
  readonly visitor?: VisitorName<NativeRequest> | undefined;
  /** Seconds that the visitor's cookie lives after the last message, renewed after half of them. Default 2 592 000, 30 days. */
  readonly visitorMaxAge?: number | undefined;
  /**
   * Admits a visitor to a conversation that was not minted for them, such as one in the site's own records. Default: none.
   */
  readonly ownsContext?: OwnsContext<NativeRequest> | undefined;
  /** The one A2A tenant that requests may name. Default: those that the agent's card declares. */
  readonly tenant?: string | undefined;
  /**
   * Members for each message that is sent: JSON values, or functions that return them. A visitor's own members of these
   * names never cross. Agents repeat metadata in their responses, so nothing here may be secret. If a function throws,
   * the response is a 500 whose reason is only in the server's log. Default: none.
   */
  readonly metadata?: Readonly<Record<string, MetadataFunction<NativeRequest> | JsonLike>> | undefined;
  /**
   * The members of a visitor's own metadata that cross: all, none, or those listed. Default: `drop` where
   * conversations belong to visitors, otherwise `pass`.
   */
  readonly visitorMetadata?: 'pass' | 'drop' | readonly string[] | undefined;
}

/**
 * A value that JSON can hold.
 *
 * @public
 */
export type JsonLike = string | number | boolean | null | readonly unknown[] | { readonly [name: string]: unknown };

/**
 * Returns one member of `metadata`, from the framework's request; `undefined` leaves it out. `visitor` is the user that
 * the option `visitor` or the session names, otherwise `null`.
 *
 * @public
 */
export type MetadataFunction<NativeRequest = any> = {
  // oxlint-disable-next-line typescript/method-signature-style
  call(
    request: NativeRequest,
    about: { readonly session: SessionUser | null; readonly visitor: string | null },
  ): unknown;
}['call'];

/**
 * Options of `createGetHeadersForSession` and `toolkit.sessionHeaders`: the session source is `auth`, as on every
 * route; `authClient` is the same.
 *
 * @public
 */
export type SessionHeadersOptions = SessionOptions &
  (
    | { readonly auth: SessionTokenLike; readonly authClient?: undefined }
    | { readonly authClient: SessionTokenLike; readonly auth?: undefined }
  );

/**
 * Options of the chat routes.
 *
 * @public
 */
export interface ChatHandlerOptions<NativeRequest = any>
  extends AuthHeadersOptions, SessionOptions, SiteFieldOptions<NativeRequest>, ConversationOptions<NativeRequest> {
  /** Provides the signed-in user's token. The route then requires a session, and `strategy` is not allowed. */
  readonly auth?: SessionTokenLike<NativeRequest> | undefined;
  /** The same as `auth`, which is the name on every route. */
  readonly getSessionToken?: SessionTokenLike<NativeRequest> | undefined;
  /** Returns the headers for the config route's look-ups, from the framework's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders<NativeRequest> | undefined;
}

/**
 * Names the signed-in user of a request, for the option `visitor`.
 *
 * @public
 */
export type VisitorName<NativeRequest = any> = {
  // oxlint-disable-next-line typescript/method-signature-style
  call(request: NativeRequest): string | null | undefined | Promise<string | null | undefined>;
}['call'];

/**
 * Admits a visitor to a conversation, for the option `ownsContext`. `visitor` is the signed-in user, or `null`.
 *
 * @public
 */
export type OwnsContext<NativeRequest = any> = {
  // oxlint-disable-next-line typescript/method-signature-style
  call(
    contextId: string,
    caller: { readonly request: NativeRequest; readonly visitor: string | null },
  ): boolean | Promise<boolean>;
}['call'];

/**
 * Caching of widget renders (docs/caching.md). Actions are never cached.
 *
 * @public
 */
export interface RenderCacheOptions {
  /** Default false; the other options need it. */
  readonly enabled?: boolean | undefined;
  /** Milliseconds for which a render is served without checking if the widget changed. Default 3 000. */
  readonly freshMs?: number | undefined;
  /** Maximum lifetime of a render in milliseconds, even if every check finds its widget unchanged. Default 300 000. */
  readonly maxAgeMs?: number | undefined;
  /** Maximum size of a cached render, in bytes. Default 1 048 576. */
  readonly maxEntryBytes?: number | undefined;
}

/**
 * Options of `createSurfaceHandler`.
 *
 * @public
 */
export interface SurfaceHandlerOptions<NativeRequest = any> extends SessionOptions, SiteFieldOptions<NativeRequest> {
  /** Provides the signed-in user's token; without a sign-in, the API key is sent alone. Default: no sign-in. */
  readonly auth?: SessionTokenLike<NativeRequest> | undefined;
  /** Rejects visitors who are not signed in: without `auth`, all of them. Default false. */
  readonly requireSession?: boolean | undefined;
  /** Caching of renders. Default: no caching. */
  readonly cache?: RenderCacheOptions | undefined;
}

/**
 * Options of `createServiceSurfaceRouter`. At most one of `getHeaders`, `strategy` and `auth` may be set; it selects
 * the credential.
 *
 * @public
 */
export interface SurfaceRouterOptions<NativeRequest = any> extends SurfaceHandlerOptions<NativeRequest> {
  /**
   * Returns additional headers for the platform from the framework's request. Default: the API key alone, or the
   * configured strategy if there is no key.
   */
  readonly getHeaders?: GetHeaders<NativeRequest> | undefined;
  /** Service strategy of this route. Default: none, the API key is sent alone. */
  readonly strategy?: ServiceAuthStrategy | OwnName | undefined;
}

/**
 * Options of `createSurfaceHandlerWithServiceAuth`.
 *
 * @public
 */
export interface ServiceSurfaceHandlerOptions<NativeRequest = any>
  extends AuthHeadersOptions, SiteFieldOptions<NativeRequest> {
  /** Caching of renders. Default: no caching. */
  readonly cache?: RenderCacheOptions | undefined;
}

/**
 * Options of `createServiceProxyHandler` and `createServiceProxyRouter`.
 *
 * @public
 */
export interface ServiceProxyOptions<NativeRequest = any> extends SessionOptions, SiteFieldOptions<NativeRequest> {
  /** Provides the signed-in user's token; requests without one are rejected. */
  readonly auth: SessionTokenLike<NativeRequest>;
}
