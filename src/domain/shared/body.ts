import type { HttpBody } from '../../ports/http.js';

/** Receives the chunks of a flowing body. */
export interface BodySink {
  /** Always takes the chunk; returns `false` to pause until the sink calls `flowTo` again. */
  write(chunk: Uint8Array): boolean;
  /** The body is complete. */
  end(): void;
  /** The body broke; no further calls follow. */
  fail(error: unknown): void;
}

/**
 * A body that pushes its chunks without a promise for each, which makes streams of short events cheap (decision 78).
 * Read it once, by its iterator or by `flowTo`.
 */
export interface FlowingBody extends AsyncIterable<Uint8Array> {
  /** Starts, or resumes after `write` returned `false`. Buffered chunks are passed to the sink before this returns. */
  flowTo(sink: BodySink): void;
  /** Aborts the rest; `reason` is set unless the browser left. */
  cancel(reason?: Error): void;
}

/** True if a body is a stream, which can be read or sent only once. */
export function isStream(body: HttpBody): body is AsyncIterable<Uint8Array> {
  return body !== null && typeof body !== 'string' && !(body instanceof Uint8Array);
}

/** Statuses whose responses have no body, whatever the platform sends (RFC 9110 §6.4.1, §15.3.6). */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** True if a response has no body, whatever its handler returns. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || BODILESS.has(status);
}

/** Wraps a body as a flowing one; one that already flows is returned unchanged. */
export function flowing(body: AsyncIterable<Uint8Array>): FlowingBody {
  // Checked by its members, because bundlers copy modules and `instanceof` fails between copies.
  return 'flowTo' in body ? (body as FlowingBody) : new PulledBody(body);
}

/** Cancels an unread body, so that its connection is free. */
export function discard(body: HttpBody): void {
  if (isStream(body)) flowing(body).cancel();
}

/** Cancels the reading of a body; exceptions are ignored. */
export async function cancel(source: AsyncIterator<Uint8Array>, reason?: Error): Promise<void> {
  try {
    await source.return?.(reason);
  } catch {
    // Cancelled all the same.
  }
}

/** Pulls a body chunk by chunk for a sink, as far as the sink accepts chunks. */
class PulledBody implements FlowingBody {
  readonly #body: AsyncIterable<Uint8Array>;
  #source: AsyncIterator<Uint8Array> | undefined;
  #sink: BodySink | undefined;
  #isAsked = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return (this.#source ??= this.#body[Symbol.asyncIterator]());
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    if (!this.#isAsked) void this.#pull();
  }

  cancel(reason?: Error): void {
    this.#over();
    void cancel(this[Symbol.asyncIterator](), reason);
  }

  async #pull(): Promise<void> {
    this.#isAsked = true;
    try {
      const { done, value } = await this[Symbol.asyncIterator]().next();
      this.#isAsked = false;
      if (done === true) this.#over()?.end();
      else if (this.#sink?.write(value) === true) void this.#pull();
    } catch (error) {
      this.#over()?.fail(error);
    }
  }

  #over(): BodySink | undefined {
    const sink = this.#sink;
    this.#sink = undefined;
    return sink;
  }
}

type Step = IteratorResult<Uint8Array>;
interface Waiting {
  resolve(step: Step): void;
  reject(error: unknown): void;
}

const DONE: Step = { done: true, value: undefined };

/** A flowing body that can also be read by its iterator, as sites and the domain do. */
export abstract class ReadableFlow implements FlowingBody {
  #reader: FlowReader | undefined;

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    this.#reader ??= new FlowReader(this);
    return this.#reader;
  }

  abstract flowTo(sink: BodySink): void;
  abstract cancel(reason?: Error): void;
}

/** Reads a flowing body as an iterator: chunks flow on demand. */
class FlowReader implements AsyncIterableIterator<Uint8Array>, BodySink {
  readonly #body: FlowingBody;
  #isOver = false;
  #waiting: Waiting | undefined;
  /** Steps that arrived before `next` was called. */
  readonly #early: (() => Promise<Step>)[] = [];

  constructor(body: FlowingBody) {
    this.#body = body;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const early = this.#early.shift();
    if (early !== undefined) return early();
    if (this.#isOver) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#body.flowTo(this);
    });
  }

  return(reason?: Error): Promise<Step> {
    this.#isOver = true;
    this.#early.length = 0;
    this.#body.cancel(reason);
    this.#taken()?.resolve(DONE);
    return Promise.resolve(DONE);
  }

  write(chunk: Uint8Array): boolean {
    const waiting = this.#taken();
    if (waiting === undefined) this.#early.push(() => Promise.resolve({ done: false, value: chunk }));
    else waiting.resolve({ done: false, value: chunk });
    return false;
  }

  end(): void {
    this.#isOver = true;
    this.#taken()?.resolve(DONE);
  }

  fail(error: unknown): void {
    this.#isOver = true;
    const waiting = this.#taken();
    if (waiting === undefined) this.#early.push(() => Promise.reject(error as Error));
    else waiting.reject(error);
  }

  /** Removes and returns the pending `next` call. */
  #taken(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

/** Header fields of a message, by lower-case name. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The media type of a message in lower case, without parameters; empty if it has none. */
export function mediaType(headers: Fields): string {
  const field = headers['content-type'];
  const text = typeof field === 'string' ? field : (field?.[0] ?? '');
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
}

/** True if a message is JSON by its media type (RFC 6839 §3.1), which browsers do not interpret as active content. */
export function isJson(headers: Fields): boolean {
  if (typeof headers['content-type'] !== 'string') return false;
  const type = mediaType(headers);
  return type === 'application/json' || (type.endsWith('+json') && !type.includes(','));
}

/** True for a stream of server-sent events. */
export function isEventStream(headers: Fields): boolean {
  return mediaType(headers) === 'text/event-stream';
}
