import type { Telemetry } from '../../ports/telemetry.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import type { BodyBudget } from './body-budget.js';
import type { ErrorContext } from './error-response.js';
import type { HostPolicy } from './host-check.js';
import type { OriginPolicy } from './origin-check.js';

/** What all routes of a site share; complete, so that no route knows a default. */
export interface SiteSettings {
  readonly telemetry: Telemetry;
  readonly origins: OriginPolicy;
  /** By which names the routes may be called; absent where any will do. */
  readonly hosts?: HostPolicy;
  readonly bodyLimitBytes: number;
  /** The memory of request bodies, which all sites of a process share. */
  readonly bodies: BodyBudget;
  /** Milliseconds for a request body that is read here; 0 is any time. */
  readonly requestBodyMs: number;
  /** Milliseconds for each pause in a request body; 0 is any time. */
  readonly requestIdleMs: number;
  readonly keepAliveMs: number;
  readonly authUnavailableStatus: number;
  /** Counts the messages of visitors who are not signed in; absent where they are not limited. */
  readonly chatLimit?: VisitorLimit;
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
