import { type AgentBffError, UpstreamError } from '../../domain/errors.js';
import { isStream } from '../../domain/upstream/body-kind.js';
import { isEventStream } from '../../domain/upstream/header-policy.js';
import type { HeaderFields, HttpRequest, HttpResponse } from '../../ports/http.js';
import { EventStream, type EventStreamOptions } from './event-stream.js';
import type { SiteSettings } from './site-settings.js';

/** How a route watches the streams it passes on. */
export interface StreamWatch {
  readonly site: SiteSettings;
  readonly route: string;
  /** The name of the request in logs. */
  readonly requestId: string;
  readonly signal: HttpRequest['signal'];
  /** The data of the event that tells the client that the stream broke, on one line. */
  readonly errorText: (error: AgentBffError) => string;
}

/** The answer, with comments in its silences and an error event when it breaks; answers that are no event streams stay as they are. */
export function watchedStream(response: HttpResponse, watch: StreamWatch): HttpResponse {
  const { body } = response;
  if (!isStream(body) || !isReadableEventStream(response.headers)) return response;
  return { ...response, body: new EventStream(body, new SiteWatch(watch)) };
}

/** An object and no functions of its own, since there is one for each open stream. */
class SiteWatch implements EventStreamOptions {
  readonly keepAliveMs: number;
  readonly #watch: StreamWatch;

  constructor(watch: StreamWatch) {
    this.keepAliveMs = watch.site.keepAliveMs;
    this.#watch = watch;
  }

  brokenEvent(): string {
    return `event: error\ndata: ${this.#watch.errorText(interrupted())}\n\n`;
  }

  onBroken(error: unknown, side?: 'browser'): void {
    const { site, route, requestId, signal } = this.#watch;
    site.telemetry.emit({
      type: 'stream_broken',
      requestId,
      route,
      side: side ?? (signal.aborted ? 'browser' : 'upstream'),
      detail: error instanceof Error ? error.message : 'unknown',
    });
  }
}

function interrupted(): UpstreamError {
  return new UpstreamError('upstream_unreachable', {
    detail: 'The connection to the agent was lost before the answer was complete.',
    // Sent again, the message would have its work done twice.
    hint: 'Subscribe to the task again: the agent may still be working on it.',
  });
}

/** Into compressed bytes nothing can be added: they pass as they are, and break as they break. */
function isReadableEventStream(headers: HeaderFields): boolean {
  const coding = headers['content-encoding'];
  return isEventStream(headers) && (coding === undefined || coding === 'identity');
}
