import { sessionKind, type SessionTokenLike } from '../../adapters/sessions/session-like.js';
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
import { nameHint, STRATEGIES } from '../config/strategy-names.js';
import type { Toolkit } from '../toolkit/toolkit-type.js';
import type {
  AuthHeadersOptions,
  ChatHandlerOptions,
  ForwardOptions,
  RenderCacheOptions,
  ServiceProxyOptions,
  ServiceSurfaceHandlerOptions,
  SessionOptions,
  SiteFieldOptions,
  SurfaceHandlerOptions,
  SurfaceRouterOptions,
} from './route-options.js';

// What each option of a route may be stands here once; the functions that take it name themselves when they read it.

type Checks<Options> = OptionShape<keyof Options & string>['options'];

/** What is known of the toolkit a route will run on, when its options are read. */
interface Known {
  readonly toolkit?: Pick<Toolkit, 'customProviders' | 'forwardHint'> | undefined;
}

/** The names of the site's own providers come with its toolkit; without one there are none. */
const strategy: OptionCheck = (value, { toolkit }: Known) =>
  nameHint(value, [...STRATEGIES, ...(toolkit?.customProviders ?? [])]);

/** Which fields may cross is known to the toolkit: here, every entry would carry the list. */
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

export const siteFields: Checks<SiteFieldOptions> = {
  headers: callback,
  forward,
};

export const service: Checks<AuthHeadersOptions> = { apiKey: headerKey, strategy };

const exchange: OptionCheck = accept((value) => value === 'on_behalf_of', '"on_behalf_of"');

export const session: Checks<SessionOptions> = {
  audience: text,
  apiKey: headerKey,
  exchange,
};

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
  options: { authClient: source, audience: text, apiKey: headerKey, exchange },
  required: ['authClient'],
};

export const SURFACES: OptionShape<keyof SurfaceHandlerOptions> = {
  options: { auth: source, requireSession: flag, cache, ...session, ...siteFields },
  needs: { audience: 'auth', exchange: 'auth' },
};

export const SURFACE_ROUTER: OptionShape<keyof SurfaceRouterOptions> = {
  ...SURFACES,
  options: { getHeaders: callback, strategy, ...SURFACES.options },
  exclusive: [
    ['getHeaders', 'strategy', 'auth'],
    ['getHeaders', 'requireSession'],
    ['strategy', 'requireSession'],
  ],
};

export const SERVICE_SURFACES: OptionShape<keyof ServiceSurfaceHandlerOptions> = {
  options: { cache, strategy, apiKey: headerKey, headers: callback, forward },
};

export const PROXY: OptionShape<keyof ServiceProxyOptions> = {
  options: { auth: source, ...session, ...siteFields },
  required: ['auth'],
};
