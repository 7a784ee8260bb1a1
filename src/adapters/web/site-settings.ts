import type { Telemetry } from '../../ports/telemetry.js';
import type { ErrorContext } from './error-response.js';
import type { OriginPolicy } from './origin-check.js';

/** What all routes of a site share; complete, so that no route knows a default. */
export interface SiteSettings {
  readonly telemetry: Telemetry;
  readonly origins: OriginPolicy;
  readonly bodyLimitBytes: number;
  readonly keepAliveMs: number;
  readonly authUnavailableStatus: number;
  /** A name for one request, for logs and error answers. */
  readonly newRequestId: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The context of one request's errors. */
export function errorContext(site: SiteSettings, route: string): ErrorContext {
  return {
    requestId: site.newRequestId(),
    route,
    telemetry: site.telemetry,
    authUnavailableStatus: site.authUnavailableStatus,
  };
}
