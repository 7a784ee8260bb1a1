import { callback, methods, type OptionShape } from '../../domain/shared/options.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { providers } from '../config/schema.js';

/**
 * Parts of the outside world a site may replace: its own providers, or the fakes of `agent-bff/testing`.
 *
 * @public
 */
export interface ToolkitPorts {
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Default: undici. */
  readonly upstream?: HttpUpstream | undefined;
  /** Default: the configuration's `telemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Further identity providers, beside those of the configuration. */
  readonly identityProviders?: Readonly<Record<string, IdentityProvider>> | undefined;
  /** Exchanges users' tokens. Default: the provider the `onBehalfOf` block names. */
  readonly tokenExchange?: TokenExchange | undefined;
  /** Calls identity providers, for a proxy or a private certificate authority. Default: the global `fetch`. */
  readonly identityFetch?: typeof fetch | undefined;
  /** A number from 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

export const PORTS: OptionShape<keyof ToolkitPorts> = {
  options: {
    clock: methods('now'),
    upstream: methods('send', 'close'),
    telemetry: methods('emit'),
    identityProviders: providers,
    tokenExchange: methods('identity', 'exchange'),
    identityFetch: callback,
    random: callback,
  },
};
