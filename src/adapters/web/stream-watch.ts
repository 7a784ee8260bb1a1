import type { ChatWatch } from '../../domain/chat/chat-watch.js';
import { UpstreamError } from '../../domain/shared/errors.js';
import type { HeaderFields, HttpRequest } from '../../ports/http.js';
import type { SiteSettings } from './site-settings.js';
import { errorEventData, type ErrorForm } from './error-response.js';
import type { BodyObserver, EventStreamOptions } from './response-body.js';

/** An open body, and the request it belongs to. */
export interface OpenBody {
  readonly site: SiteSettings;
  readonly route: string;
  readonly requestId: string;
  readonly errors: ErrorForm;
  readonly signal: HttpRequest['signal'];
  /** True for an event stream. */
  readonly isEvents: boolean;
  readonly startedAt: number;
  readonly chat: ChatWatch | undefined;
}

/** Observes one open body. An object instead of closures, since it must not keep the request message alive. */
export class StreamWatch implements EventStreamOptions {
  readonly #body: OpenBody;
  #outcome: 'complete' | 'upstream' | 'browser' | 'site' = 'complete';

  /** Absent if the chunks are not read. */
  readonly onChunk: BodyObserver['onChunk'];

  constructor(body: OpenBody) {
    this.#body = body;
    const { chat, site, isEvents } = body;
    this.onChunk = chat && ((chunk) => chat.push(chunk));
    site.gate.bodyOpened(isEvents);
  }

  get keepAliveMs(): number {
    return this.#body.site.keepAliveMs;
  }

  brokenEvent(): string {
    const { errors, requestId } = this.#body;
    return `event: error\ndata: ${errorEventData(interrupted(), errors, requestId)}\n\n`;
  }

  onBroken(error: unknown, side?: 'browser'): void {
    const { site, requestId, route, signal } = this.#body;
    // Requests aborted by this process fail with an AbortError.
    const own = error instanceof Error && error.name === 'AbortError' ? 'site' : 'upstream';
    this.#outcome = side ?? (signal.aborted ? 'browser' : own);
    site.telemetry.emit({
      type: 'stream_broken',
      requestId,
      route,
      side: this.#outcome,
      detail: error instanceof Error ? error.message : 'unknown',
    });
  }

  onOver(): void {
    const { site, requestId, route, signal, isEvents, startedAt, chat } = this.#body;
    site.gate.bodyEnded(isEvents);
    // A browser that leaves between two chunks breaks nothing.
    const outcome = this.#outcome === 'complete' && signal.aborted ? 'browser' : this.#outcome;
    if (chat !== undefined) site.telemetry.emit(chat.end(outcome, requestId, route));
    if (!isEvents) return;
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
export function isPlain({ 'content-encoding': coding }: HeaderFields): boolean {
  return coding === undefined || coding === 'identity';
}
