import type { BodySink, Flow, FlowingBody } from '../../domain/shared/flow.js';
import type { HttpBody, HttpResponse } from '../../ports/http.js';
import { PullWatch } from './pull-watch.js';
import type { FetchRequest } from './to-http-request.js';

/** Statuses that a `Response` refuses a body with (Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const encoder = new TextEncoder();

/**
 * Writes our response as a Web `Response`, with what session libraries wrote for it. Its body is pulled as the reader asks, and let go when
 * the reader cancels. A body that breaks errors the stream: a clean end would claim that the answer was complete.
 */
export function toResponse(answer: HttpResponse, request: FetchRequest): Response {
  const { status, body, sendIdleMs = 0 } = answer;
  const headers = headersOf(answer, request);
  if (request.method === 'HEAD' || WITHOUT_BODY.has(status)) {
    cancel(body);
    return new Response(null, { status, headers });
  }
  return new Response(bodyInit(body, sendIdleMs), { status, headers });
}

function headersOf(answer: HttpResponse, { native: { response: written } }: FetchRequest): Headers {
  const { headers } = written;
  written.headersSent = true;
  for (const name in answer.headers) {
    const value = answer.headers[name];
    if (value === undefined) continue;
    if (name !== 'set-cookie') headers.delete(name);
    // One by one: cookies in one field would be one broken cookie.
    for (const single of typeof value === 'string' ? [value] : value) headers.append(name, single);
  }
  return headers;
}

function bodyInit(body: HttpBody, sendIdleMs: number): BodyInit | null {
  if (body === null) return null;
  // As bytes: for a text, `Response` would add a content type.
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  return pulled(body, sendIdleMs);
}

function pulled(body: AsyncIterable<Uint8Array>, sendIdleMs: number): ReadableStream {
  return new ReadableStream<Uint8Array>(
    'flowTo' in body ? new FlowingSource(body as FlowingBody, sendIdleMs) : new IteratedSource(body, sendIdleMs),
    // Nothing is read ahead: a slow browser slows the platform down.
    { highWaterMark: 0 },
  );
}

/** Sends the head: servers keep it back until the first chunk of a stream, which may be long in coming. An empty one changes no byte of the body. */
function sendHead(controller: ReadableStreamDefaultController<Uint8Array>): void {
  controller.enqueue(new Uint8Array(0));
}

/** Reads a body step by step. */
class IteratedSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #watch: PullWatch;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(body: AsyncIterable<Uint8Array>, sendIdleMs: number) {
    this.#source = body[Symbol.asyncIterator]();
    this.#watch = new PullWatch(sendIdleMs, (reason) => {
      this.#controller?.error(reason);
      this.#source.return?.(reason).catch(() => undefined);
    });
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    sendHead(controller);
    this.#watch.served();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#watch.asked();
    const { done, value } = await this.#source.next();
    if (done === true) {
      this.#watch.stop();
      controller.close();
    } else {
      this.#watch.served();
      controller.enqueue(value);
    }
  }

  async cancel(): Promise<void> {
    this.#watch.stop();
    await this.#source.return?.();
  }
}

/** Takes the chunks of a body that hands them on, one for each that is asked for. */
class FlowingSource implements UnderlyingDefaultSource<Uint8Array>, BodySink {
  readonly #body: FlowingBody;
  readonly #watch: PullWatch;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #flow: Flow | undefined;
  /** Whether the stream asked for a chunk it has not got. */
  #isWanted = false;
  #isWriting = false;

  constructor(body: FlowingBody, sendIdleMs: number) {
    this.#body = body;
    this.#watch = new PullWatch(sendIdleMs, (reason) => {
      this.#controller?.error(reason);
      this.#controller = undefined;
      this.#flow?.cancel(reason);
    });
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    sendHead(controller);
    this.#watch.served();
  }

  pull(): void {
    this.#isWanted = true;
    this.#watch.asked();
    if (this.#isWriting) return; // `write` tells.
    if (this.#flow === undefined) this.#flow = this.#body.flowTo(this);
    else this.#flow.resume();
  }

  cancel(): void {
    this.#watch.stop();
    if (this.#flow === undefined) cancel(this.#body);
    else this.#flow.cancel();
  }

  write(chunk: Uint8Array): boolean {
    this.#isWanted = false;
    this.#isWriting = true;
    this.#watch.served();
    this.#controller?.enqueue(chunk);
    this.#isWriting = false;
    return this.#isWanted;
  }

  end(): void {
    this.#watch.stop();
    this.#controller?.close();
  }

  fail(error: unknown): void {
    this.#watch.stop();
    this.#controller?.error(error);
  }
}

function cancel(body: HttpBody): void {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
