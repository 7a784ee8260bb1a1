import {
  type BodySink,
  discard,
  flowing,
  type FlowingBody,
  type HttpBody,
  isBodiless,
  isStream,
} from '../../domain/shared/body.js';
import { StallCounter, type StallWatched } from '../../domain/shared/stall-counter.js';
import type { HttpResponse } from '../../ports/http.js';
import type { FetchRequest } from './request.js';

const encoder = new TextEncoder();

/**
 * Writes our response as a Web `Response`, with what session libraries wrote for it. Its body is pulled as the reader asks, and let go when
 * the reader cancels. A body that breaks errors the stream: a clean end would claim that the response was complete.
 */
export function toResponse(given: HttpResponse, request: FetchRequest): Response {
  const { status, body, sendIdleMs = 0 } = given;
  const headers = headersOf(given, request);
  if (isBodiless(request.method, status)) {
    discard(body);
    return new Response(null, { status, headers });
  }
  return new Response(bodyInit(body, sendIdleMs), { status, headers });
}

function headersOf(given: HttpResponse, { native: { response: written } }: FetchRequest): Headers {
  const { headers } = written;
  written.headersSent = true;
  for (const name in given.headers) {
    const value = given.headers[name];
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
  if (!isStream(body)) return body as Uint8Array<ArrayBuffer>;
  // Nothing is read ahead: a slow browser slows the platform down.
  return new ReadableStream<Uint8Array>(new WebSource(flowing(body), sendIdleMs), { highWaterMark: 0 });
}

/**
 * The source of a Web stream: takes one chunk of a body for each that the reader requests.
 * A reader that has a chunk and requests no more is cut: a server requests the next one when the browser took the last (decision 84).
 */
class WebSource implements UnderlyingDefaultSource<Uint8Array>, BodySink, StallWatched {
  readonly #body: FlowingBody;
  readonly #stalls: StallCounter | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** True while the stream waits for a chunk it requested. */
  #isWanted = false;
  #isWriting = false;
  /** True after a request for a chunk since the last look. */
  #hasAsked = false;

  /** Milliseconds without a pull; 0 allows any. */
  constructor(body: FlowingBody, idleMs: number) {
    this.#body = body;
    if (idleMs > 0) this.#stalls = new StallCounter(this, idleMs, startTimer);
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    // Sends the head: servers keep it back until the first chunk of a stream, which may be long in coming. An empty one changes no byte of the body.
    controller.enqueue(new Uint8Array(0));
    this.#watch();
  }

  pull(): void {
    this.#isWanted = true;
    this.#hasAsked = true;
    if (!this.#isWriting) this.#body.flowTo(this); // Else `write` tells.
  }

  cancel(): void {
    this.#stalls?.end();
    this.#body.cancel();
  }

  write(chunk: Uint8Array): boolean {
    this.#isWanted = false;
    this.#isWriting = true;
    this.#watch();
    this.#controller?.enqueue(chunk);
    this.#isWriting = false;
    return this.#isWanted;
  }

  end(): void {
    this.#stalls?.end();
    this.#controller?.close();
  }

  fail(error: unknown): void {
    this.#stalls?.end();
    this.#controller?.error(error);
  }

  look(): 'moved' | 'still' | 'done' {
    const hasMoved = this.#hasAsked;
    this.#hasAsked = false;
    if (this.#isWanted) return 'done';
    return hasMoved ? 'moved' : 'still';
  }

  onStalled(): void {
    const reason = new Error('the browser took nothing: see "timeouts.sendIdleMs"');
    this.#controller?.error(reason);
    this.#controller = undefined;
    this.#body.cancel(reason);
  }

  #watch(): void {
    if (this.#stalls === undefined || this.#stalls.isRunning) return;
    this.#hasAsked = false;
    this.#stalls.begin();
  }
}

/** The wait never keeps the process alive; not every host's timers know that. */
function startTimer(task: () => void, ms: number): () => void {
  const timer = setTimeout(task, ms);
  timer.unref?.();
  return () => {
    clearTimeout(timer);
  };
}
