import { anything, callback, headerKey } from '../../domain/shared/option-checks.js';
import type { OptionShape } from '../../domain/shared/options.js';
import type {
  A2AConfigWebOptions,
  A2AProxyHandlerOptions,
  A2AServiceHandlerOptions,
  A2AWebOptions,
} from './next-options.js';
import type { ServiceSurfaceHandlerOptions } from './surfaces.js';
import { cache, siteFields, source, strategy, user } from './route-options.js';

/** Options of the handlers for Next that no router has. */
export const NEXT_SERVICE_CHAT: OptionShape<Exclude<keyof A2AServiceHandlerOptions, 'toolkit'>> = {
  options: { apiKey: headerKey, strategy, configGetHeaders: callback, ...siteFields },
};

export const NEXT_SESSION_CHAT: OptionShape<Exclude<keyof A2AProxyHandlerOptions, 'toolkit'>> = {
  options: { idp: source, configGetHeaders: callback, ...user },
  required: ['idp'],
};

export const NEXT_CONFIG: OptionShape<Exclude<keyof A2AConfigWebOptions, 'toolkit'>> = {
  options: { getHeaders: callback, params: anything, ...siteFields },
};

export const NEXT_MESSAGE: OptionShape<Exclude<keyof A2AWebOptions, 'toolkit'>> = {
  options: { params: anything, ...siteFields },
};

export const SERVICE_SURFACES: OptionShape<keyof ServiceSurfaceHandlerOptions> = {
  options: { apiKey: headerKey, cache, strategy, ...siteFields },
};
