import { ContainerModule } from 'inversify';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { pause } from '../../adapters/system/pause.js';
import { ObservedUpstream } from '../../adapters/telemetry/observed-upstream.js';
import { ErrorExcerpts, type ErrorExcerptsDependencies } from '../../domain/upstream/error-excerpts.js';
import { RetryingUpstream } from '../../domain/upstream/retrying-upstream.js';
import { provide } from './provide.js';
import { newRequestId } from './request-id.js';
import { TOKENS } from './tokens.js';

/** Parts that outlive a change of configuration: connections, tokens, the clock. */
export interface PlatformParts {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Makes texts of others fit for that telemetry. */
  readonly conceal: ErrorExcerptsDependencies['conceal'];
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
    provide(
      bind,
      TOKENS.Upstream,
      [TOKENS.Telemetry],
      (telemetry) => new RetryingUpstream({ upstream: observed(parts), telemetry, pause }),
    );
    provide(
      bind,
      TOKENS.Excerpts,
      [],
      () => new ErrorExcerpts({ deadline: (ms) => AbortSignal.timeout(ms), conceal: parts.conceal }),
    );
    provide(bind, TOKENS.TokenCache, [], () => parts.tokens);
  });
}

/** Calls are told of only where somebody listens. */
function observed({ upstream, telemetry, clock }: PlatformParts): HttpUpstream {
  if (telemetry.callStarted === undefined) return upstream;
  return new ObservedUpstream({ upstream, telemetry, clock, newCallId: newRequestId });
}
