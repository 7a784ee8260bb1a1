import { UpstreamError } from '../../domain/shared/errors.js';
import { isStream } from '../../domain/shared/body.js';
import { browserFields, type BrowserFieldRules } from '../../domain/upstream/browser-fields.js';
import { isEventStream } from '../../domain/upstream/header-policy.js';
import type { HeaderFields, HttpRequest, HttpResponse } from '../../ports/http.js';
import { type ErrorContext, type ErrorForm, PROBLEMS } from './error-response.js';
import { EventStream, type EventStreamOptions } from './event-stream.js';
import { type BodyObserver, ObservedBody } from './observed-body.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import type { BodyBudget } from './body-budget.js';
import type { HostPolicy } from './host-check.js';
import type { OriginPolicy } from './origin-check.js';

/** A route, as operators and clients know it. */
export interface ServedRoute {
  readonly site: SiteSettings;
  readonly route: string;
  /** How its errors are written. Default: as problem documents. */
  readonly errors?: ErrorForm;
}

/** Serves one request: what is thrown becomes a response, operators are told of it, and a stream is watched to its end. */
export async function serveRoute(
  { site, route, errors = PROBLEMS }: ServedRoute,
  request: Pick<HttpRequest, 'method' | 'signal'>,
  respond: (context: ErrorContext) => Promise<HttpResponse> | HttpResponse,
): Promise<HttpResponse> {
  const startedAt = site.now();
  const context = errorContext(site, route);
  let response: HttpResponse;
  try {
    response = withBrowserFields(await respond(context), site);
  } catch (error) {
    response = withBrowserFields(errors.response(error, context), site);
  }
  const { body } = response;
  const coming = isStream(body) ? body : undefined;
  const streams = coming !== undefined && isEventStream(response.headers);
  site.telemetry.emit({
    type: 'request',
    requestId: context.requestId,
    route,
    method: request.method,
    status: response.status,
    durationMs: site.now() - startedAt,
    ...(streams && { streams }),
  });
  if (coming === undefined) return response;
  const watch = new StreamWatch(context, errors, site, request.signal, streams ? startedAt : undefined);
  // Into compressed bytes nothing can be added: they pass as they are, and break as they break.
  const isWritable = errors.eventData !== undefined && isPlainEventStream(response.headers);
  return { ...response, body: isWritable ? new EventStream(coming, watch) : new ObservedBody(coming, watch) };
}

function withBrowserFields(response: HttpResponse, { fields }: SiteSettings): HttpResponse {
  const headers = browserFields(response.headers, fields);
  return headers === response.headers ? response : { ...response, headers };
}

/** Its own object and no functions, since there is one for each open stream, which must not keep the message that began it. */
class StreamWatch implements EventStreamOptions, BodyObserver {
  readonly #context: ErrorContext;
  readonly #errors: ErrorForm;
  readonly #site: SiteSettings;
  readonly #signal: HttpRequest['signal'];
  /** Absent where the body is no stream of events. */
  readonly #startedAt: number | undefined;
  #outcome: 'complete' | 'upstream' | 'browser' | 'site' = 'complete';

  constructor(
    context: ErrorContext,
    errors: ErrorForm,
    site: SiteSettings,
    signal: HttpRequest['signal'],
    startedAt: number | undefined,
  ) {
    this.#context = context;
    this.#errors = errors;
    this.#site = site;
    this.#signal = signal;
    this.#startedAt = startedAt;
  }

  get keepAliveMs(): number {
    return this.#site.keepAliveMs;
  }

  brokenEvent(): string {
    return `event: error\ndata: ${this.#errors.eventData?.(interrupted(), this.#context.requestId) ?? ''}\n\n`;
  }

  onBroken(error: unknown, side?: 'browser'): void {
    const { telemetry, requestId, route } = this.#context;
    // What this process ends by itself is an AbortError.
    const own = error instanceof Error && error.name === 'AbortError' ? 'site' : 'upstream';
    this.#outcome = side ?? (this.#signal.aborted ? 'browser' : own);
    telemetry.emit({
      type: 'stream_broken',
      requestId,
      route,
      side: this.#outcome,
      detail: error instanceof Error ? error.message : 'unknown',
    });
  }

  onOver(): void {
    if (this.#startedAt === undefined) return;
    const { telemetry, requestId, route } = this.#context;
    // A browser that leaves between two chunks breaks nothing.
    const outcome = this.#outcome === 'complete' && this.#signal.aborted ? 'browser' : this.#outcome;
    telemetry.emit({
      type: 'stream_ended',
      requestId,
      route,
      outcome,
      durationMs: this.#site.now() - this.#startedAt,
    });
  }
}

function interrupted(): UpstreamError {
  return new UpstreamError('upstream_unreachable', {
    detail: 'The connection to the agent was lost before the response was complete.',
    // Sent again, the message would have its work done twice.
    hint: 'Subscribe to the task again: the agent may still be working on it.',
  });
}

function isPlainEventStream(headers: HeaderFields): boolean {
  const coding = headers['content-encoding'];
  return isEventStream(headers) && (coding === undefined || coding === 'identity');
}

/** What all routes of a site share; complete, so that no route knows a default. */
export interface SiteSettings {
  readonly telemetry: Telemetry;
  readonly origins: OriginPolicy;
  /** By which names the routes may be called; absent where any will do. */
  readonly hosts?: HostPolicy;
  /** The rules by which response fields are written. */
  readonly fields: BrowserFieldRules;
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
  /** A name for one request, for logs and error responses. */
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
