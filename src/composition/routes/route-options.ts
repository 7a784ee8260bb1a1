// `any` stands for the request of a framework that is not known; each entry gives the type of its own.
/* oxlint-disable typescript/no-explicit-any */

import { sessionKind, type SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { nameHint } from '../../domain/shared/nearest.js';
import {
  accept,
  callback,
  flag,
  headerKey,
  text,
  texts,
  wholeNumber,
  type OptionCheck,
  type OptionShape,
} from '../../domain/shared/options.js';
import { type ServiceAuthStrategy, STRATEGIES } from '../config/server-config.js';

/**
 * Header fields as the site makes them: an object, a `Headers`, or a list of pairs of name and value. A list of values is sent as one,
 * a field that is `undefined` or `null` is left out, and nothing at all means no fields.
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
 * Makes header fields for calls to the platform, from the framework's request (spec §4.2).
 * As `getHeaders` and `configGetHeaders` they are the credential: an error of this package it throws is answered as such; any other becomes a 401 whose text stays in the server's log.
 *
 * @public
 */
export type GetHeaders<NativeRequest = any> = {
  // A method, so that a site may name what it knows to be there: a request with a session, Next's own request.
  // oxlint-disable-next-line typescript/method-signature-style
  call(request: NativeRequest): HeadersLike | Promise<HeadersLike>;
}['call'];

/**
 * Names of further header fields that cross. Credentials, cookies, hop-by-hop, framing and CORS fields, and those this package sets itself, are refused.
 *
 * @public
 */
export interface ForwardOptions {
  /** Fields of the browser's request that the platform is sent too, such as `prefer` or `baggage`. Visitors choose their values. Default: none. */
  readonly request?: readonly string[] | undefined;
  /** Fields of the platform's response that the browser is sent too, such as `x-agent-trace`. Default: none. */
  readonly response?: readonly string[] | undefined;
}

/**
 * Header fields of the site's own, which every route takes. What is sent to the platform is part of all cache keys, but for `traceparent`, `tracestate` and `baggage`.
 *
 * @public
 */
export interface SiteFieldOptions<NativeRequest = any> {
  /** Makes further header fields for the platform, such as a tenant, from the framework's request. What it throws is a 500 whose reason stays in the server's log; an error of this package is answered as such. Default: none. */
  readonly headers?: GetHeaders<NativeRequest> | undefined;
  /** Names further header fields that cross. Default: none. */
  readonly forward?: ForwardOptions | undefined;
}

/**
 * Which service credential calls to the platform carry (spec §4.4).
 *
 * @public
 */
export interface AuthHeadersOptions {
  /** Service strategy. Default: the configured one. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
  /** API key. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
}

/**
 * How the signed-in user's token goes to the platform.
 *
 * @public
 */
export interface SessionOptions {
  /** Audience of the user's token. Default: that of the session. */
  readonly audience?: string | undefined;
  /** API key. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
}

/**
 * Which credential the chat route attaches.
 *
 * @public
 */
export interface ChatHandlerOptions<NativeRequest = any>
  extends AuthHeadersOptions, SessionOptions, SiteFieldOptions<NativeRequest> {
  /** Gives the signed-in user's token; with it the route requires a session, and `strategy` is not allowed. */
  readonly getSessionToken?: SessionTokenLike | undefined;
  /** Makes the headers of the config route's look-ups, from the framework's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders<NativeRequest> | undefined;
}

/**
 * How renders of widgets are kept (spec §2.4). Actions are never kept.
 *
 * @public
 */
export interface RenderCacheOptions {
  /** Default false. */
  readonly enabled?: boolean | undefined;
  /** How long a render is given out without asking whether the widget changed, in milliseconds. Default 3 000. */
  readonly freshMs?: number | undefined;
  /** How long a render may live at all, however often its widget is found unchanged; milliseconds. Default 300 000. */
  readonly maxAgeMs?: number | undefined;
  /** Most renders one handler leaves in the store. Default 500. */
  readonly maxEntries?: number | undefined;
  /** Longer renders are not kept. Default 1 048 576. */
  readonly maxEntryBytes?: number | undefined;
}

/**
 * Options of `createSurfaceHandler` (spec §4.2).
 *
 * @public
 */
export interface SurfaceHandlerOptions<NativeRequest = any> extends SessionOptions, SiteFieldOptions<NativeRequest> {
  /** Gives the signed-in user's token; visitors who are not signed in get the API key alone. Default: nobody can sign in. */
  readonly auth?: SessionTokenLike | undefined;
  /** Refuses visitors who are not signed in: all of them without `auth`. Default false. */
  readonly requireSession?: boolean | undefined;
  /** How renders are kept. Default: not at all. */
  readonly cache?: RenderCacheOptions | undefined;
}

/**
 * Options of `createServiceSurfaceRouter` (spec §4.3). At most one of `getHeaders`, `strategy` and `auth` says whose credential it is.
 *
 * @public
 */
export interface SurfaceRouterOptions<NativeRequest = any> extends SurfaceHandlerOptions<NativeRequest> {
  /** Makes further headers for the platform from the framework's request. Default: the API key alone, or the configured strategy where there is none. */
  readonly getHeaders?: GetHeaders<NativeRequest> | undefined;
  /** Service strategy of this route. Default: none, the API key goes alone. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
}

/**
 * Options of `createSurfaceHandlerWithServiceAuth` (spec §4.2).
 *
 * @public
 */
export interface ServiceSurfaceHandlerOptions<NativeRequest = any>
  extends AuthHeadersOptions, SiteFieldOptions<NativeRequest> {
  /** How renders are kept. Default: not at all. */
  readonly cache?: RenderCacheOptions | undefined;
}

/**
 * Options of `createServiceProxyHandler` and `createServiceProxyRouter` (spec §4.2).
 *
 * @public
 */
export interface ServiceProxyOptions<NativeRequest = any> extends SessionOptions, SiteFieldOptions<NativeRequest> {
  /** Gives the signed-in user's token; without one, nothing is passed on. */
  readonly auth: SessionTokenLike;
}

// The checks of these options; the functions that take them name themselves when they read them.

type Checks<Options> = OptionShape<keyof Options & string>['options'];

/** The toolkit a route will run on, as far as it decides about options. */
interface Known {
  readonly toolkit?:
    | { readonly customProviders: ReadonlySet<string>; forwardHint(names: readonly string[]): string | undefined }
    | undefined;
}

/** The names of the site's own providers come with its toolkit; without one there are none. */
const strategy: OptionCheck = (value, { toolkit }: Known) =>
  nameHint(value, [...STRATEGIES, ...(toolkit?.customProviders ?? [])]);

/** The toolkit knows the fields that may cross: here, every entry would carry the list. */
const fieldNames: OptionCheck = (value, all: Known) =>
  texts(value, all) ?? all.toolkit?.forwardHint(value as readonly string[]);

export const source: OptionCheck = (value) => {
  try {
    sessionKind(value as SessionTokenLike);
    return undefined;
  } catch (error) {
    return `Set it to a session source: ${(error as Error).message}.`;
  }
};

const forward: OptionShape<keyof ForwardOptions> = { options: { request: fieldNames, response: fieldNames } };

export const siteFields: Checks<SiteFieldOptions> = { headers: callback, forward };

export const service: Checks<AuthHeadersOptions> = { apiKey: headerKey, strategy };

const exchange: OptionCheck = accept((value) => value === 'on_behalf_of', '"on_behalf_of"');

export const session: Checks<SessionOptions> = { audience: text, apiKey: headerKey, exchange };

const cache: OptionShape<keyof RenderCacheOptions> = {
  options: {
    enabled: flag,
    freshMs: wholeNumber,
    maxAgeMs: wholeNumber,
    maxEntries: wholeNumber,
    maxEntryBytes: wholeNumber,
  },
};

export const CHAT: OptionShape<keyof ChatHandlerOptions> = {
  options: { strategy, getSessionToken: source, configGetHeaders: callback, ...session, ...siteFields },
  exclusive: [['strategy', 'getSessionToken']],
  needs: { audience: 'getSessionToken', exchange: 'getSessionToken' },
};

export const SERVICE_HEADERS: OptionShape<keyof AuthHeadersOptions> = { options: service };

export const SESSION_HEADERS: OptionShape<keyof SessionOptions | 'authClient'> = {
  options: { authClient: source, ...session },
  required: ['authClient'],
};

export const SESSION_SURFACES: OptionShape<keyof SurfaceHandlerOptions> = {
  options: { auth: source, requireSession: flag, cache, ...session, ...siteFields },
  needs: { audience: 'auth', exchange: 'auth' },
};

export const SURFACE_ROUTER: OptionShape<keyof SurfaceRouterOptions> = {
  ...SESSION_SURFACES,
  options: { getHeaders: callback, strategy, ...SESSION_SURFACES.options },
  exclusive: [
    ['getHeaders', 'strategy', 'auth'],
    ['getHeaders', 'requireSession'],
    ['strategy', 'requireSession'],
  ],
};

export const SERVICE_SURFACES: OptionShape<keyof ServiceSurfaceHandlerOptions> = {
  options: { cache, ...service, ...siteFields },
};

export const PROXY: OptionShape<keyof ServiceProxyOptions> = {
  options: { auth: source, ...session, ...siteFields },
  required: ['auth'],
};
