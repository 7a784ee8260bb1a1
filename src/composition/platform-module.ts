import { ContainerModule } from 'inversify';
import type { TokenCache } from '../domain/credentials/token-cache.js';
import type { Clock } from '../ports/clock.js';
import type { HttpUpstream } from '../ports/http.js';
import type { Telemetry } from '../ports/telemetry.js';
import { provide } from './provide.js';
import { TOKENS } from './tokens.js';

/** Parts that outlive a change of configuration: connections, tokens, the clock. */
export interface PlatformParts {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly upstream: HttpUpstream;
  readonly tokens: TokenCache;
  /** Tells two credentials apart without revealing either. */
  readonly fingerprintKey: Uint8Array;
}

/** Binds what the site runs on. */
export function platformModule(parts: PlatformParts): ContainerModule {
  return new ContainerModule(({ bind }) => {
    provide(bind, TOKENS.Clock, [], () => parts.clock);
    provide(bind, TOKENS.Telemetry, [], () => parts.telemetry);
    provide(bind, TOKENS.Upstream, [], () => parts.upstream);
    provide(bind, TOKENS.TokenCache, [], () => parts.tokens);
  });
}
