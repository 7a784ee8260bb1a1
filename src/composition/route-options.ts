import { sessionKind, type SessionTokenLike } from '../adapters/sessions/session-like.js';
import { accept, anything, callback, flag, hasMethods, text, wholeNumber } from '../domain/shared/option-checks.js';
import type { OptionCheck, OptionShape } from '../domain/shared/options.js';
import type { ChatHandlerOptions } from './chat-options.js';
import type { SessionHeadersOptions } from './get-headers.js';
import { HEADER_KEY, isHeaderKey } from './header-secret.js';
import type { A2AConfigWebOptions, A2AProxyHandlerOptions, A2AServiceHandlerOptions } from './next-options.js';
import type { RenderCacheOptions } from './render-cache-options.js';
import type { SiteRoutesOptions } from './site-routes.js';
import { nameHint, STRATEGIES } from './strategy-names.js';
import type { ServiceProxyOptions, ServiceSurfaceHandlerOptions, SurfaceHandlerOptions } from './surface-options.js';
import type { SurfaceRouterOptions } from './surface-router-options.js';
import type { AuthHeadersOptions, Toolkit } from './toolkit-type.js';

// What each option of a route may be stands here once; the functions that take it name themselves when they read it.

/** The names of the site's own providers come with its toolkit; without one there are none. */
const strategy: OptionCheck = (value, all) => {
  const { toolkit } = all as { readonly toolkit?: Pick<Toolkit, 'customProviders'> };
  return nameHint(value, [...STRATEGIES, ...(toolkit?.customProviders ?? [])]);
};

const source: OptionCheck = (value) => {
  try {
    sessionKind(value as SessionTokenLike);
    return undefined;
  } catch (error) {
    return `Set it to a session source of this package: ${(error as Error).message}.`;
  }
};

const apiKey: OptionCheck = accept(isHeaderKey, HEADER_KEY);

const exchange: OptionCheck = accept((value) => value === 'on_behalf_of', '"on_behalf_of"');

const toolkit: OptionCheck = accept(
  (value) => hasMethods(value, ['chatHandler', 'surfaceRouter', 'conversationHandler', 'authHeaders']),
  'a toolkit',
);

const cache: OptionShape<keyof RenderCacheOptions> = {
  options: {
    enabled: flag,
    freshMs: wholeNumber,
    maxAgeMs: wholeNumber,
    maxEntries: wholeNumber,
    maxEntryBytes: wholeNumber,
  },
};

const user = { audience: text, apiKey, exchange };

export const CHAT: OptionShape<keyof ChatHandlerOptions> = {
  options: { strategy, getSessionToken: source, configGetHeaders: callback, ...user },
  exclusive: [['strategy', 'getSessionToken']],
  needs: { audience: 'getSessionToken', exchange: 'getSessionToken' },
};

export const SERVICE_HEADERS: OptionShape<keyof AuthHeadersOptions> = { options: { apiKey, strategy } };

export const SESSION_HEADERS: OptionShape<Exclude<keyof SessionHeadersOptions, 'toolkit'>> = {
  options: { authClient: source, ...user },
  required: ['authClient'],
};

export const SURFACES: OptionShape<keyof SurfaceHandlerOptions> = {
  options: { auth: source, requireSession: flag, cache, ...user },
  needs: { audience: 'auth', exchange: 'auth' },
};

export const SERVICE_SURFACES: OptionShape<keyof ServiceSurfaceHandlerOptions> = {
  options: { apiKey, cache, strategy },
};

export const SURFACE_ROUTER: OptionShape<keyof SurfaceRouterOptions> = {
  options: { getHeaders: callback, strategy, ...SURFACES.options },
  exclusive: [
    ['getHeaders', 'strategy', 'auth'],
    ['getHeaders', 'requireSession'],
    ['strategy', 'requireSession'],
  ],
  needs: { audience: 'auth', exchange: 'auth' },
};

export const PROXY: OptionShape<keyof ServiceProxyOptions> = { options: { auth: source, ...user }, required: ['auth'] };

/** Options of the handlers for Next that no router has. */
export const NEXT_SERVICE_CHAT: OptionShape<Exclude<keyof A2AServiceHandlerOptions, 'toolkit'>> = {
  options: { apiKey, strategy, configGetHeaders: callback },
};

export const NEXT_SESSION_CHAT: OptionShape<Exclude<keyof A2AProxyHandlerOptions, 'toolkit'>> = {
  options: { idp: source, configGetHeaders: callback, ...user },
  required: ['idp'],
};

export const NEXT_CONFIG: OptionShape<Exclude<keyof A2AConfigWebOptions, 'toolkit'>> = {
  options: { getHeaders: callback, params: anything },
};

export const NEXT_MESSAGE: OptionShape<'params'> = { options: { params: anything } };

export const SITE: OptionShape<Exclude<keyof SiteRoutesOptions, 'toolkit'>> = {
  options: {
    basePath: accept((value) => typeof value === 'string' && value.startsWith('/'), 'a path that starts with "/"'),
    a2a: CHAT,
    surfaces: SURFACE_ROUTER,
    service: PROXY,
  },
};

/** The same options of a function that may be given a toolkit, which is looked at first: it knows further strategies. */
export function withToolkit<Names extends string>(shape: OptionShape<Names>): OptionShape<Names | 'toolkit'> {
  return { ...shape, options: { toolkit, ...shape.options } } as OptionShape<Names | 'toolkit'>;
}
