import type { ChatWatch } from '../../domain/chat/chat-watch.js';
import { discard, isBodiless, isEventStream, isStream } from '../../domain/shared/body.js';
import { UpstreamError } from '../../domain/shared/errors.js';
import type { Clock } from '../../ports/clock.js';
import type { HeaderFields, HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { type ErrorContext, errorEventData, type ErrorForm } from './error-response.js';
import type { RequestGate } from './request-gate.js';
import { type BodyObserver, type EventAdditions, ObservedBody } from './response-body.js';

/** Settings of a site for responses and their bodies. */
export interface WatchSettings {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Counts open response bodies. */
  readonly gate: Pick<RequestGate, 'bodyOpened' | 'bodyEnded'>;
  readonly keepAliveMs: number;
}

/** A request that has a response. */
export interface Answered {
  readonly site: WatchSettings;
  readonly context: ErrorContext;
  readonly request: Pick<HttpRequest, 'method' | 'signal'>;
  readonly errors: ErrorForm;
  readonly startedAt: number;
  readonly chat: ChatWatch | undefined;
}

/** Reports a response to operators, and then its body until it ends. */
export function observed(response: HttpResponse, answered: Answered): HttpResponse {
  const { site, context, request, errors, startedAt, chat } = answered;
  const { requestId, route } = context;
  if (isBodiless(request.method, response.status)) response = withoutBody(response);
  const { body } = response;
  const coming = isStream(body) ? body : undefined;
  const isEvents = coming !== undefined && isEventStream(response.headers);
  chat?.begin(isEvents, isPlain(response.headers));
  if (chat !== undefined && !isStream(body)) {
    if (body !== null) chat.push(typeof body === 'string' ? encoder.encode(body) : body);
    site.telemetry.emit(chat.end('complete', requestId, route));
  }
  site.telemetry.emit({
    type: 'request',
    requestId,
    route,
    method: request.method,
    status: response.status,
    durationMs: site.clock.now() - startedAt,
    ...(isEvents && { streams: true }),
    ...(chat !== undefined && coming !== undefined && { continues: true }),
  });
  if (coming === undefined) return response;
  const watch = new StreamWatch(answered, isEvents);
  // An event cannot be added to compressed bytes: they pass unchanged, and break where they break.
  const isWritable = errors.endsStreams && isEvents && isPlain(response.headers);
  return { ...response, body: new ObservedBody(coming, watch, isWritable ? watch : undefined) };
}

const encoder = new TextEncoder();

/**
 * Some hosts wait for the bytes of a declared length; only a response to HEAD and a 304 may declare that of a body they
 * do not have (RFC 9110 §8.6).
 */
function withoutBody({ status, headers, body }: HttpResponse): HttpResponse {
  discard(body);
  const isEmpty = status === 204 || status === 205;
  return { status, headers: isEmpty ? { ...headers, 'content-length': undefined } : headers, body: null };
}

/** Observes one open body. An object instead of closures, since it must not keep the request message alive. */
class StreamWatch implements BodyObserver, EventAdditions {
  readonly #answered: Omit<Answered, 'request'>;
  readonly #signal: HttpRequest['signal'];
  /** True for an event stream. */
  readonly #isEvents: boolean;
  #outcome: 'complete' | 'upstream' | 'browser' | 'site' = 'complete';

  /** Absent if the chunks are not read. */
  readonly onChunk: BodyObserver['onChunk'];

  constructor({ request, ...answered }: Answered, isEvents: boolean) {
    const { chat, site } = answered;
    const { route, requestId, id } = answered.context;
    this.#answered = { ...answered, context: { site: answered.context.site, route, requestId, id } };
    this.#signal = request.signal;
    this.#isEvents = isEvents;
    this.onChunk = chat && ((chunk) => chat.push(chunk));
    site.gate.bodyOpened(isEvents);
  }

  get keepAliveMs(): number {
    return this.#answered.site.keepAliveMs;
  }

  brokenEvent(): string {
    const { errors, context } = this.#answered;
    return `event: error\ndata: ${errorEventData(interrupted(), errors, context)}\n\n`;
  }

  onBroken(error: unknown, side?: 'browser'): void {
    const { site, context } = this.#answered;
    const { requestId, route } = context;
    // Requests aborted by this process fail with an AbortError.
    const own = error instanceof Error && error.name === 'AbortError' ? 'site' : 'upstream';
    this.#outcome = side ?? (this.#signal.aborted ? 'browser' : own);
    site.telemetry.emit({
      type: 'stream_broken',
      requestId,
      route,
      side: this.#outcome,
      detail: error instanceof Error ? error.message : 'unknown',
    });
  }

  onOver(isEmpty: boolean): void {
    const { site, context, startedAt, chat } = this.#answered;
    const { requestId, route } = context;
    site.gate.bodyEnded(this.#isEvents);
    // A browser that leaves between two chunks breaks nothing.
    const outcome = this.#outcome === 'complete' && this.#signal.aborted ? 'browser' : this.#outcome;
    if (chat !== undefined) site.telemetry.emit(chat.end(outcome, requestId, route));
    if (!this.#isEvents) return;
    if (isEmpty && outcome === 'complete' && this.#answered.errors.endsStreams) {
      const detail = 'The agent sent an empty event stream. Look at its log.';
      site.telemetry.emit({ type: 'warning', code: 'agent_failed', detail });
    }
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

/** True if the bytes of a body can be read and added to. */
function isPlain({ 'content-encoding': coding }: HeaderFields): boolean {
  return coding === undefined || coding === 'identity';
}
