import type { ChatWatch } from '../../domain/chat/chat-watch.js';
import { UpstreamError } from '../../domain/shared/errors.js';
import { discard, isBodiless, isStream, isEventStream } from '../../domain/shared/body.js';
import {
  browserFields,
  type BrowserFieldRules,
  type LeftOutField,
  type LeftOutReason,
} from '../../domain/upstream/browser-fields.js';
import type { Clock } from '../../ports/clock.js';
import type { HeaderFields, HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { HostPolicy, OriginPolicy, VisitorPolicy } from './admission.js';
import {
  type ErrorContext,
  errorEventData,
  type ErrorForm,
  errorResponse,
  type ErrorSite,
  PROBLEMS,
} from './error-response.js';
import type { BodyLimits } from './request-body.js';
import { type BodyObserver, EventStream, type EventStreamOptions, ObservedBody } from './response-body.js';

/** A route, as operators and clients know it. */
export interface ServedRoute {
  readonly site: SiteSettings;
  readonly route: string;
  /** The format of its errors. Default: problem documents. */
  readonly errors?: ErrorForm;
  /** The cookie that the response sets, written after the agent's fields, none of which may be a cookie. */
  cookie?: string | undefined;
  /** Learns the facts of a chat call; absent if no listener asks for them. */
  chat?: ChatWatch | undefined;
}

/** Serves one request: exceptions become responses, operators get an event, and a stream is observed until it ends. */
export async function serveRoute(
  served: ServedRoute,
  request: Pick<HttpRequest, 'method' | 'signal'>,
  respond: (context: ErrorContext) => Promise<HttpResponse> | HttpResponse,
): Promise<HttpResponse> {
  const { site, route, errors = PROBLEMS } = served;
  const startedAt = site.clock.now();
  const context = errorContext(site, route);
  let response: HttpResponse;
  try {
    response = withBrowserFields(await respond(context), site);
    const { cookie } = served;
    // The agent sets no cookie: `browserFields` drops it.
    if (cookie !== undefined) response = { ...response, headers: { 'set-cookie': cookie, ...response.headers } };
  } catch (error) {
    response = withBrowserFields(errorResponse(error, errors, context), site);
  }
  if (isBodiless(request.method, response.status)) response = withoutBody(response);
  const { body } = response;
  const coming = isStream(body) ? body : undefined;
  const streams = coming !== undefined && isEventStream(response.headers);
  const { chat } = served;
  chat?.begin(streams, isPlain(response.headers));
  if (chat !== undefined && coming === undefined) {
    if (body !== null && !isStream(body)) chat.push(typeof body === 'string' ? encoder.encode(body) : body);
    site.telemetry.emit(chat.end('complete', context.requestId, route));
  }
  site.telemetry.emit({
    type: 'request',
    requestId: context.requestId,
    route,
    method: request.method,
    status: response.status,
    durationMs: site.clock.now() - startedAt,
    ...(streams && { streams }),
    ...(chat !== undefined && coming !== undefined && { continues: true }),
  });
  if (coming === undefined) return response;
  const watch = new StreamWatch({
    context,
    errors,
    site,
    signal: request.signal,
    startedAt: streams ? startedAt : undefined,
    chat,
  });
  // An event cannot be added to compressed bytes: they pass unchanged, and break where they break.
  const isWritable = errors.endsStreams && streams && isPlain(response.headers);
  return { ...response, body: isWritable ? new EventStream(coming, watch) : new ObservedBody(coming, watch) };
}

function withBrowserFields(response: HttpResponse, { fields }: SiteSettings): HttpResponse {
  const headers = browserFields(response.headers, fields);
  return headers === response.headers ? response : { ...response, headers };
}

/**
 * Some hosts wait for the bytes of a declared length; only a response to HEAD and a 304 may declare that of a body they
 * do not have (RFC 9110 §8.6).
 */
function withoutBody({ status, headers, body }: HttpResponse): HttpResponse {
  discard(body);
  const isEmpty = status === 204 || status === 205;
  return { status, headers: isEmpty ? { ...headers, 'content-length': undefined } : headers, body: null };
}

/** An open body, and the request it belongs to. */
interface OpenBody {
  readonly context: ErrorContext;
  readonly errors: ErrorForm;
  readonly site: SiteSettings;
  readonly signal: HttpRequest['signal'];
  /** Absent if the body is not an event stream. */
  readonly startedAt: number | undefined;
  readonly chat: ChatWatch | undefined;
}

/** An object instead of closures, since there is one per open stream, which must not keep its request message alive. */
class StreamWatch implements EventStreamOptions {
  readonly #body: OpenBody;
  #outcome: 'complete' | 'upstream' | 'browser' | 'site' = 'complete';

  /** Absent if the chunks are not read. */
  readonly onChunk: BodyObserver['onChunk'];

  constructor(body: OpenBody) {
    this.#body = body;
    const { chat } = body;
    this.onChunk = chat && ((chunk) => chat.push(chunk));
  }

  get keepAliveMs(): number {
    return this.#body.site.keepAliveMs;
  }

  brokenEvent(): string {
    return `event: error\ndata: ${errorEventData(interrupted(), this.#body.errors, this.#body.context.requestId)}\n\n`;
  }

  onBroken(error: unknown, side?: 'browser'): void {
    const { site, requestId, route } = this.#body.context;
    // Requests aborted by this process fail with an AbortError.
    const own = error instanceof Error && error.name === 'AbortError' ? 'site' : 'upstream';
    this.#outcome = side ?? (this.#body.signal.aborted ? 'browser' : own);
    site.telemetry.emit({
      type: 'stream_broken',
      requestId,
      route,
      side: this.#outcome,
      detail: error instanceof Error ? error.message : 'unknown',
    });
  }

  onOver(): void {
    const { site, startedAt, chat } = this.#body;
    const { requestId, route } = this.#body.context;
    // A browser that leaves between two chunks breaks nothing.
    const outcome = this.#outcome === 'complete' && this.#body.signal.aborted ? 'browser' : this.#outcome;
    if (chat !== undefined) site.telemetry.emit(chat.end(outcome, requestId, route));
    if (startedAt === undefined) return;
    site.telemetry.emit({
      type: 'stream_ended',
      requestId,
      route,
      outcome,
      durationMs: site.clock.now() - startedAt,
    });
  }
}

function interrupted(): UpstreamError {
  return new UpstreamError('upstream_unreachable', {
    detail: 'The connection to the agent was lost before the response was complete.',
    // Sending the message again would repeat its work.
    hint: 'Subscribe to the task again: the agent may still be working on it.',
  });
}

const encoder = new TextEncoder();

function isPlain({ 'content-encoding': coding }: HeaderFields): boolean {
  return coding === undefined || coding === 'identity';
}

/** Settings shared by all routes of a site; complete, so that routes need no defaults. */
export interface SiteSettings extends BodyLimits, VisitorPolicy, ErrorSite {
  readonly origins: OriginPolicy;
  /** The host names of the routes; absent if any name is valid. */
  readonly hosts?: HostPolicy | undefined;
  /** The rules for writing response fields. */
  readonly fields: BrowserFieldRules;
  readonly keepAliveMs: number;
  /** Digests the names in `chat` events; absent if no listener asks for them. */
  readonly digest?: ((text: string) => string) | undefined;
  readonly clock: Clock;
}

/** The context of one request's errors. */
export function errorContext(site: ErrorSite, route: string): ErrorContext {
  return { site, route, requestId: site.newRequestId() };
}

const REASONS: Readonly<Record<LeftOutReason, string>> = {
  characters: 'characters other than printable ASCII',
  length: 'too long',
  name: 'a name that is not allowed',
  number: 'too many or too long together',
  repeated: 'sent several times; the first is used',
  syntax: 'could not be read',
};

/** Maximum number of reported faults: sites forward few fields, but an odd store may hold many. */
const MAX_KNOWN = 100;

/** Warns once about each field that is left out, by its name and never by its value. */
export function leftOutReporter(telemetry: Telemetry): BrowserFieldRules['leftOut'] {
  const known = new Set<string>();
  const isNew = ({ name, reason }: LeftOutField): boolean => {
    const fault = `${name} ${reason}`;
    if (known.has(fault) || known.size === MAX_KNOWN) return false;
    known.add(fault);
    return true;
  };
  return (fields) => {
    const list = fields.filter(isNew).map(({ name, reason }) => `${name} (${REASONS[reason]})`);
    if (list.length === 0) return;
    const detail = `The platform sent response fields that were left out: ${list.join(', ')}.`;
    telemetry.emit({ type: 'warning', code: 'field_left_out', detail });
  };
}
