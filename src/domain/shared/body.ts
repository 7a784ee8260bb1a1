/**
 * A message body: a stream of chunks, bytes, text (UTF-8) or nothing.
 * A Web `ReadableStream` and a Node `Readable` are streams of chunks as they are.
 *
 * @public
 */
export type HttpBody = AsyncIterable<Uint8Array> | Uint8Array | string | null;

/** The receiver of a flowing body's chunks. */
export interface BodySink {
  /** Takes the chunk in any case; `false` asks for no more until the sink calls `flowTo` again. */
  write(chunk: Uint8Array): boolean;
  /** Nothing more comes. */
  end(): void;
  /** The body broke, and nothing more comes. */
  fail(error: unknown): void;
}

/**
 * A body that hands its chunks on as they come, without a promise for each: a stream of short events costs little else (decision 78).
 * To be read once, by its iterator or by `flowTo`.
 */
export interface FlowingBody extends AsyncIterable<Uint8Array> {
  /** Begins, or goes on after the sink had no room. What has come already goes to the sink before this returns. */
  flowTo(sink: BodySink): void;
  /** Aborts the rest; `reason` where the browser did not leave by itself. */
  cancel(reason?: Error): void;
}

/** True if a body comes in pieces: once read or sent, it is gone. */
export function isStream(body: HttpBody): body is AsyncIterable<Uint8Array> {
  return body !== null && typeof body !== 'string' && !(body instanceof Uint8Array);
}

/** Statuses whose responses have no body, whatever the platform sends (RFC 9110 §6.4.1, §15.3.6). */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** True for a response that has no body, whatever its handler returns. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || BODILESS.has(status);
}

/** The same body as one that flows. */
export function flowing(body: AsyncIterable<Uint8Array>): FlowingBody {
  // By its members: bundlers copy modules, and a class is another one in each copy.
  return 'flowTo' in body ? (body as FlowingBody) : new PulledBody(body);
}

/** Ends an unread body, so that its connection is free. */
export function discard(body: HttpBody): void {
  if (isStream(body)) flowing(body).cancel();
}

/** Ends the reading of a body; exceptions are ignored. */
export async function cancel(source: AsyncIterator<Uint8Array>, reason?: Error): Promise<void> {
  try {
    await source.return?.(reason);
  } catch {
    // It is over all the same.
  }
}

/** Reads a body chunk by chunk for a sink, and no further than the sink wants. */
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

/** A flowing body that can be read by its iterator too, as sites and the domain do. */
export abstract class ReadableFlow implements FlowingBody {
  #reader: FlowReader | undefined;

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    this.#reader ??= new FlowReader(this);
    return this.#reader;
  }

  abstract flowTo(sink: BodySink): void;
  abstract cancel(reason?: Error): void;
}

/** Reads a flowing body by the steps of an iterator: a chunk flows when it is asked for. */
class FlowReader implements AsyncIterableIterator<Uint8Array>, BodySink {
  readonly #body: FlowingBody;
  #isOver = false;
  #waiting: Waiting | undefined;
  /** Steps that came before anyone waited. */
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

  /** The one who waits for a step, which is given now. */
  #taken(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

/** Header fields of a message, by lower-case name. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The media type of a message in lower case, without parameters; empty when it has none. */
export function mediaType(headers: Fields): string {
  const field = headers['content-type'];
  const text = typeof field === 'string' ? field : (field?.[0] ?? '');
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
}

/** True for a message that is JSON by its media type (RFC 6839 §3.1), which no browser reads as something else. */
export function isJson(headers: Fields): boolean {
  if (typeof headers['content-type'] !== 'string') return false;
  const type = mediaType(headers);
  return type === 'application/json' || (type.endsWith('+json') && !type.includes(','));
}

/** True for a stream of server-sent events. */
export function isEventStream(headers: Fields): boolean {
  return mediaType(headers) === 'text/event-stream';
}
