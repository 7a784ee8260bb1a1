import { sessionKind, type SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { accept, callback, flag, hasMethods, text, texts, wholeNumber } from '../../domain/shared/option-checks.js';
import type { OptionCheck, OptionShape } from '../../domain/shared/options.js';
import type { ChatHandlerOptions } from './chat.js';
import { HEADER_KEY, isHeaderKey } from '../config/header-secret.js';
import type { RenderCacheOptions } from './render-cache-options.js';
import type { SiteFieldOptions } from './site-fields.js';
import { serverState } from '../server-state.js';
import { nameHint, STRATEGIES } from '../config/strategy-names.js';
import type { ServiceProxyOptions, SurfaceHandlerOptions } from './surfaces.js';
import type { SurfaceRouterOptions } from './surface-router-options.js';
import type { AuthHeadersOptions, SessionHeadersOptions, Toolkit } from '../toolkit/toolkit-type.js';

// What each option of a route may be stands here once; the functions that take it name themselves when they read it.

/** The names of the site's own providers come with its toolkit; without one there are none. */
export const strategy: OptionCheck = (value, all) => {
  const { toolkit } = all as { readonly toolkit?: Pick<Toolkit, 'customProviders'> };
  return nameHint(value, [...STRATEGIES, ...(toolkit?.customProviders ?? [])]);
};

export const source: OptionCheck = (value) => {
  try {
    sessionKind(value as SessionTokenLike);
    return undefined;
  } catch (error) {
    return `Set it to a session source: ${(error as Error).message}.`;
  }
};

export const apiKey: OptionCheck = accept(isHeaderKey, HEADER_KEY);

const exchange: OptionCheck = accept((value) => value === 'on_behalf_of', '"on_behalf_of"');

const toolkit: OptionCheck = accept((value) => hasMethods(value, ['authHeaders']), 'a toolkit');

export const cache: OptionShape<keyof RenderCacheOptions> = {
  options: {
    enabled: flag,
    freshMs: wholeNumber,
    maxAgeMs: wholeNumber,
    maxEntries: wholeNumber,
    maxEntryBytes: wholeNumber,
  },
};

/** Which fields may cross is known to the toolkit: here, every entry would carry the list. */
const fieldNames: OptionCheck = (value, all) => {
  const { toolkit = serverState().toolkit } = all as { readonly toolkit?: Pick<Toolkit, 'forwardHint'> };
  return texts(value, all) ?? toolkit?.forwardHint(value as readonly string[]);
};

export const siteFields: OptionShape<keyof SiteFieldOptions>['options'] = {
  headers: callback,
  forward: { options: { request: fieldNames, response: fieldNames } },
};

export const user: OptionShape<keyof SiteFieldOptions | 'audience' | 'apiKey' | 'exchange'>['options'] = {
  audience: text,
  apiKey,
  exchange,
  ...siteFields,
};

/** Options that mean nothing without a session. */
const userOfAuth = { audience: 'auth', exchange: 'auth' } as const;

export const CHAT: OptionShape<keyof ChatHandlerOptions> = {
  options: { strategy, getSessionToken: source, configGetHeaders: callback, ...user },
  exclusive: [['strategy', 'getSessionToken']],
  needs: { audience: 'getSessionToken', exchange: 'getSessionToken' },
};

export const SERVICE_HEADERS: OptionShape<keyof AuthHeadersOptions> = { options: { apiKey, strategy } };

export const SESSION_HEADERS: OptionShape<Exclude<keyof SessionHeadersOptions, 'toolkit'>> = {
  options: { authClient: source, audience: text, apiKey, exchange },
  required: ['authClient'],
};

export const SURFACES: OptionShape<keyof SurfaceHandlerOptions> = {
  options: { auth: source, requireSession: flag, cache, ...user },
  needs: userOfAuth,
};

export const SURFACE_ROUTER: OptionShape<keyof SurfaceRouterOptions> = {
  options: { getHeaders: callback, strategy, ...SURFACES.options },
  exclusive: [
    ['getHeaders', 'strategy', 'auth'],
    ['getHeaders', 'requireSession'],
    ['strategy', 'requireSession'],
  ],
  needs: userOfAuth,
};

export const PROXY: OptionShape<keyof ServiceProxyOptions> = { options: { auth: source, ...user }, required: ['auth'] };

/** The same options of a function that may be given a toolkit, which is looked at first: it knows further strategies. */
export function withToolkit<Names extends string>(shape: OptionShape<Names>): OptionShape<Names | 'toolkit'> {
  return { ...shape, options: { toolkit, ...shape.options } } as OptionShape<Names | 'toolkit'>;
}
