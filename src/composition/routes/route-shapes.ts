import { sessionHint as source } from '../../adapters/sessions/session-like.js';
import { isWithheld } from '../../domain/shared/header-policy.js';
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

type Checks<Options> = RouteShape<keyof Options & string>['options'];

/** The facts of a toolkit's configuration that decide which values are valid. */
export interface RouteFacts {
  /** Names of the site's own identity providers, which are strategies. */
  readonly customProviders: ReadonlySet<string>;
  /** Header fields that the site chose in `upstream.headers`: visitors must not choose the API key. */
  readonly ownFields: readonly string[];
}

/** The options of a route, whose checks depend on its toolkit. */
export type RouteShape<Names extends string = string> = OptionShape<Names, RouteFacts>;

const strategy: OptionCheck<RouteFacts> = (value, { customProviders }) =>
  nameHint(value, [...STRATEGIES, ...customProviders]);

const fieldNames: OptionCheck<RouteFacts> = (value, facts) =>
  texts(value, facts) ?? forwardHint(value as readonly string[], facts.ownFields);

function forwardHint(names: readonly string[], ownFields: readonly string[]): string | undefined {
  if (!names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name))) return 'Set it to a list of names of header fields.';
  const withheld = names.map((name) => name.toLowerCase()).find((name) => isWithheld(name) || ownFields.includes(name));
  return withheld && `Set it to fields that may be forwarded: "${withheld}" never is.`;
}

const forward: RouteShape<keyof ForwardOptions> = { options: { request: fieldNames, response: fieldNames } };

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
  // Without it nothing is cached, which no error would show.
  needs: { freshMs: 'enabled', maxAgeMs: 'enabled', maxEntryBytes: 'enabled' },
};

export const CHAT: RouteShape<keyof ChatHandlerOptions> = {
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

export const SERVICE_HEADERS: RouteShape<keyof AuthHeadersOptions> = { options: service };

export const SESSION_HEADERS: RouteShape<keyof SessionOptions | 'auth' | 'authClient'> = {
  options: { auth: source, authClient: source, ...session },
  aliases: { auth: 'authClient' },
  required: ['auth'],
};

export const SESSION_SURFACES: RouteShape<keyof SurfaceHandlerOptions> = {
  options: { auth: source, requireSession: flag, cache, ...session, ...siteFields },
  needs: { audience: 'auth', exchange: 'auth' },
};

export const SURFACE_ROUTER: RouteShape<keyof SurfaceRouterOptions> = {
  ...SESSION_SURFACES,
  options: { getHeaders: callback, strategy, ...SESSION_SURFACES.options },
  exclusive: [
    ['getHeaders', 'strategy', 'auth'],
    ['getHeaders', 'requireSession'],
    ['strategy', 'requireSession'],
  ],
};

export const SERVICE_SURFACES: RouteShape<keyof ServiceSurfaceHandlerOptions> = {
  options: { cache, ...service, ...siteFields },
};

export const PROXY: ShapeOf<ServiceProxyOptions, RouteFacts> = {
  options: { auth: source, ...session, ...siteFields },
  required: ['auth'],
};

/** The options of the functions that serve all routes, by route. */
export const ALL_ROUTES: RouteShape<'a2a' | 'surfaces' | 'service'> = {
  options: { a2a: CHAT, surfaces: SURFACE_ROUTER, service: PROXY },
};
