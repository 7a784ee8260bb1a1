import type { BrowserFieldRules } from '../../domain/upstream/browser-fields.js';
import type { Clock } from '../../ports/clock.js';
import type { HostPolicy, OriginPolicy, VisitorPolicy } from './admission.js';
import type { ErrorSite } from './error-response.js';
import type { BodyLimits } from './request-body.js';
import type { RequestGate } from './request-gate.js';

/** Settings shared by all routes of a site; complete, so that routes need no defaults. */
export interface SiteSettings extends BodyLimits, VisitorPolicy, ErrorSite {
  readonly origins: OriginPolicy;
  /** The host names of the routes; absent if any name is valid. */
  readonly hosts?: HostPolicy | undefined;
  /** The rules for writing response fields. */
  readonly fields: BrowserFieldRules;
  /** Counts open response bodies. */
  readonly gate: Pick<RequestGate, 'bodyOpened' | 'bodyEnded'>;
  readonly keepAliveMs: number;
  /** Digests the names in `chat` events; absent if no listener asks for them. */
  readonly digest?: ((text: string) => string) | undefined;
  readonly clock: Clock;
}
