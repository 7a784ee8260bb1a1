import {
  type BodySink,
  discard,
  flowing,
  type FlowingBody,
  type HttpBody,
  isStream,
} from '../../domain/shared/body.js';
import type { HttpResponse } from '../../ports/http.js';
import type { FetchRequest } from './to-http-request.js';

/** Statuses that a `Response` refuses a body with (Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const encoder = new TextEncoder();

/**
 * Writes our response as a Web `Response`, with what session libraries wrote for it. Its body is pulled as the reader asks, and let go when
 * the reader cancels. A body that breaks errors the stream: a clean end would claim that the response was complete.
 */
export function toResponse(given: HttpResponse, request: FetchRequest): Response {
  const { status, body, sendIdleMs = 0 } = given;
  const headers = headersOf(given, request);
  if (request.method === 'HEAD' || WITHOUT_BODY.has(status)) {
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

/** Looks in one span: the more, the nearer to the last chunk taken it is counted. */
const LOOKS = 4;

/**
 * The source of a Web stream: takes one chunk of a body for each that is asked for.
 *
 * A reader that has a chunk and asks for no more is cut: a server asks again when the browser took what it was given (decision 84).
 * It is looked at four times in a span instead of timing each chunk, so a stream that flows pays for four timers a minute.
 */
class WebSource implements UnderlyingDefaultSource<Uint8Array>, BodySink {
  readonly #body: FlowingBody;
  readonly #idleMs: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Whether the stream asked for a chunk it has not got. */
  #isWanted = false;
  #isWriting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether it asked since the last look. */
  #hasAsked = false;
  #still = 0;

  /** Milliseconds without a pull; 0 allows any. */
  constructor(body: FlowingBody, idleMs: number) {
    this.#body = body;
    this.#idleMs = idleMs;
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
    clearTimeout(this.#timer);
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
    clearTimeout(this.#timer);
    this.#controller?.close();
  }

  fail(error: unknown): void {
    clearTimeout(this.#timer);
    this.#controller?.error(error);
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#idleMs === 0) return;
    this.#still = 0;
    this.#hasAsked = false;
    this.#wait();
  }

  #wait(): void {
    this.#timer = setTimeout(this.#look, this.#idleMs / LOOKS);
    // Not every host's timers know it.
    this.#timer.unref?.();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.#isWanted) return;
    this.#still = this.#hasAsked ? 0 : this.#still + 1;
    this.#hasAsked = false;
    if (this.#still < LOOKS) {
      this.#wait();
      return;
    }
    const reason = new Error('the browser took nothing: see "timeouts.sendIdleMs"');
    this.#controller?.error(reason);
    this.#controller = undefined;
    this.#body.cancel(reason);
  };
}
