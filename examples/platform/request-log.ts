import type { Request, RequestHandler } from 'express';

/** The recorded part of a request: enough to test what was forwarded, but nothing that could be replayed. */
export interface RecordedRequest {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** In lower case and their original order. */
  readonly headerNames: readonly string[];
  /** The subject of a verified token: a service account, or `user:` and the user's id; null if there was none. */
  readonly subject: string | null;
}

/** The number of identical requests. */
export interface RequestCount {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly count: number;
}

const MAX_LOG = 10_000;
const MAX_COUNTS = 200;
const STREAMING_METHODS = new Set(['SendStreamingMessage', 'SubscribeToTask', 'message/stream', 'tasks/resubscribe']);

const entries = new WeakMap<Request, { subject: string | null }>();

/** Adds the verified caller to the request's entry in the log. */
export function recordSubject(request: Request, subject: string): void {
  const entry = entries.get(request);
  if (entry !== undefined) entry.subject = subject;
}

export class RequestLog {
  readonly #requests: RecordedRequest[] = [];
  readonly #counts = new Map<string, RequestCount>();
  #total = 0;
  #openStreams = 0;

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** The latest requests first; at most the last 200 different ones. */
  get counts(): readonly RequestCount[] {
    return [...this.#counts.values()].reverse();
  }

  /** Requests since the start. */
  get total(): number {
    return this.#total;
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
    if (this.#requests.length > MAX_LOG) this.#requests.shift();
    this.#count(entry);
    next();
  };

  /** Counts a streaming call from its start until its connection or its response ends. */
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

  #count({ method, path }: RecordedRequest): void {
    this.#total += 1;
    const key = `${method} ${path}`;
    const { count = 0 } = this.#counts.get(key) ?? {};
    // The last entry of the map is the latest.
    this.#counts.delete(key);
    this.#counts.set(key, { method, path, count: count + 1 });
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_COUNTS && oldest !== undefined) this.#counts.delete(oldest);
  }
}
