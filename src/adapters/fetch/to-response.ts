import type { BodySink, Flow, FlowingBody } from '../../ports/flow.js';
import type { HttpBody, HttpResponse } from '../../ports/http.js';
import type { FetchRequest } from './to-http-request.js';

/** Statuses that a `Response` refuses a body with (Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const encoder = new TextEncoder();

/**
 * Writes our response as a Web `Response`, with what session libraries wrote for it. Its body is pulled as the reader asks, and let go when
 * the reader cancels. A body that breaks errors the stream: a clean end would claim that the answer was complete.
 */
export function toResponse(answer: HttpResponse, request: FetchRequest): Response {
  const { status, body } = answer;
  const headers = headersOf(answer, request);
  if (request.method === 'HEAD' || WITHOUT_BODY.has(status)) {
    cancel(body);
    return new Response(null, { status, headers });
  }
  return new Response(bodyInit(body), { status, headers });
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

function bodyInit(body: HttpBody): BodyInit | null {
  if (body === null) return null;
  // As bytes: for a text, `Response` would add a content type.
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  return pulled(body);
}

function pulled(body: AsyncIterable<Uint8Array>): ReadableStream {
  return new ReadableStream<Uint8Array>(
    'flowTo' in body ? new FlowingSource(body as FlowingBody) : new IteratedSource(body),
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
  readonly start = sendHead;
  readonly #source: AsyncIterator<Uint8Array>;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#source = body[Symbol.asyncIterator]();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) controller.close();
    else controller.enqueue(value);
  }

  async cancel(): Promise<void> {
    await this.#source.return?.();
  }
}

/** Takes the chunks of a body that hands them on, one for each that is asked for. */
class FlowingSource implements UnderlyingDefaultSource<Uint8Array>, BodySink {
  readonly #body: FlowingBody;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #flow: Flow | undefined;
  /** Whether the stream asked for a chunk it has not got. */
  #isWanted = false;
  #isWriting = false;

  constructor(body: FlowingBody) {
    this.#body = body;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    sendHead(controller);
  }

  pull(): void {
    this.#isWanted = true;
    if (this.#isWriting) return; // `write` tells.
    if (this.#flow === undefined) this.#flow = this.#body.flowTo(this);
    else this.#flow.resume();
  }

  cancel(): void {
    if (this.#flow === undefined) cancel(this.#body);
    else this.#flow.cancel();
  }

  write(chunk: Uint8Array): boolean {
    this.#isWanted = false;
    this.#isWriting = true;
    this.#controller?.enqueue(chunk);
    this.#isWriting = false;
    return this.#isWanted;
  }

  end(): void {
    this.#controller?.close();
  }

  fail(error: unknown): void {
    this.#controller?.error(error);
  }
}

function cancel(body: HttpBody): void {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
