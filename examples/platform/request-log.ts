import type { Request, RequestHandler } from 'express';

/** What is remembered of a request: enough to test what was forwarded, and nothing that could be replayed. */
export interface RecordedRequest {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** Lower case, in the order they came. */
  readonly headerNames: readonly string[];
  /** The service account that a verified token names; null when there was none. */
  readonly subject: string | null;
}

const LONGEST_LOG = 10_000;
const STREAMING_METHODS = new Set(['SendStreamingMessage', 'SubscribeToTask', 'message/stream', 'tasks/resubscribe']);

const entries = new WeakMap<Request, { subject: string | null }>();

/** Adds the verified caller to the request's entry in the log. */
export function recordSubject(request: Request, subject: string): void {
  const entry = entries.get(request);
  if (entry !== undefined) entry.subject = subject;
}

export class RequestLog {
  readonly #requests: RecordedRequest[] = [];
  #openStreams = 0;

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  get openStreams(): number {
    return this.#openStreams;
  }

  readonly record: RequestHandler = (request, _response, next) => {
    const entry = {
      method: request.method,
      path: request.path,
      headerNames: request.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()),
      subject: null,
    };
    entries.set(request, entry);
    this.#requests.push(entry);
    if (this.#requests.length > LONGEST_LOG) this.#requests.shift();
    next();
  };

  /** Counts a streaming call from its start until its connection or its answer ends. */
  readonly countStreams: RequestHandler = (request, response, next) => {
    const { method } = (request.body ?? {}) as { method?: unknown };
    if (typeof method === 'string' && STREAMING_METHODS.has(method)) {
      this.#openStreams += 1;
      response.once('close', () => {
        this.#openStreams -= 1;
      });
    }
    next();
  };
}
