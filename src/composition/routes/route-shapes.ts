import { sessionHint as source } from '../../adapters/sessions/session-like.js';
import { nameHint } from '../../domain/shared/nearest.js';
import {
  callback,
  flag,
  headerKey,
  members,
  text,
  texts,
  wholeNumber,
  type OptionCheck,
  type OptionShape,
  type ShapeOf,
} from '../../domain/shared/options.js';
import { STRATEGIES } from '../config/server-config.js';
import type {
  AuthHeadersOptions,
  ChatHandlerOptions,
  ConversationOptions,
  ForwardOptions,
  RenderCacheOptions,
  ServiceProxyOptions,
  ServiceSurfaceHandlerOptions,
  SessionOptions,
  SiteFieldOptions,
  SurfaceHandlerOptions,
  SurfaceRouterOptions,
} from './route-options.js';

// The checks of the options of routes; functions that read them add their own name to errors.

type Checks<Options> = OptionShape<keyof Options & string>['options'];

/** The part of a route's toolkit that its options depend on. */
interface Known {
  readonly toolkit?:
    | { readonly customProviders: ReadonlySet<string>; forwardHint(names: readonly string[]): string | undefined }
    | undefined;
}

/** The names of the site's own providers are those of its toolkit; without a toolkit there are none. */
const strategy: OptionCheck = (value, { toolkit }: Known) =>
  nameHint(value, [...STRATEGIES, ...(toolkit?.customProviders ?? [])]);

/** The toolkit knows the fields that may be forwarded: with the list here, every entry would include it. */
const fieldNames: OptionCheck = (value, all: Known) =>
  texts(value, all) ?? all.toolkit?.forwardHint(value as readonly string[]);

const forward: OptionShape<keyof ForwardOptions> = { options: { request: fieldNames, response: fieldNames } };

export const siteFields: Checks<SiteFieldOptions> = { headers: callback, forward };

export const service: Checks<AuthHeadersOptions> = { apiKey: headerKey, strategy };

const exchange: OptionCheck = (value) => nameHint(value, ['on_behalf_of']);

export const session: Checks<SessionOptions> = { audience: text, apiKey: headerKey, exchange };

/** The options of every chat route besides its credential. */
export const chatFields: Checks<ConversationOptions & SiteFieldOptions & Pick<ChatHandlerOptions, 'configGetHeaders'>> =
  {
    configGetHeaders: callback,
    conversations: (value) => nameHint(value, ['open', 'visitor']),
    visitor: callback,
    visitorMaxAge: wholeNumber,
    ownsContext: callback,
    tenant: text,
    // The toolkit checks their members.
    metadata: members,
    visitorMetadata: (value) => (Array.isArray(value) ? undefined : nameHint(value, ['pass', 'drop'])),
    ...siteFields,
  };

const cache: OptionShape<keyof RenderCacheOptions> = {
  options: {
    enabled: flag,
    freshMs: wholeNumber,
    maxAgeMs: wholeNumber,
    maxEntryBytes: wholeNumber,
  },
};

export const CHAT: OptionShape<keyof ChatHandlerOptions> = {
  options: {
    strategy,
    auth: source,
    getSessionToken: source,
    ...session,
    ...chatFields,
  },
  aliases: { auth: 'getSessionToken' },
  exclusive: [['strategy', 'auth']],
  needs: { audience: 'auth', exchange: 'auth' },
};

export const SERVICE_HEADERS: OptionShape<keyof AuthHeadersOptions> = { options: service };

export const SESSION_HEADERS: OptionShape<keyof SessionOptions | 'auth' | 'authClient'> = {
  options: { auth: source, authClient: source, ...session },
  aliases: { auth: 'authClient' },
  required: ['auth'],
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

export const PROXY: ShapeOf<ServiceProxyOptions> = {
  options: { auth: source, ...session, ...siteFields },
  required: ['auth'],
};

/** The options of the functions that serve all routes, by route. */
export const ALL_ROUTES: OptionShape<'a2a' | 'surfaces' | 'service'> = {
  options: { a2a: CHAT, surfaces: SURFACE_ROUTER, service: PROXY },
};
