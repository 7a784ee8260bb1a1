import { type BodySink, flowing, type FlowingBody } from '../../domain/shared/body.js';

/**
 * A streaming body as a Web stream. It is pulled on demand and cancelled with the reader. A body that breaks errors the
 * stream, since a clean end would claim that the response is complete.
 */
export function webStream(body: AsyncIterable<Uint8Array>, sendIdleMs: number): ReadableStream<Uint8Array> {
  // Does not read ahead, so that a slow browser slows the platform down.
  return new ReadableStream<Uint8Array>(new BodySource(flowing(body), sendIdleMs), { highWaterMark: 0 });
}

/**
 * The source of a Web stream: takes one chunk of a body for each that the reader requests. A reader that requests no
 * further chunk is cut off: servers request the next one when the browser took the last (decision 84).
 */
class BodySource implements UnderlyingDefaultSource<Uint8Array>, BodySink {
  readonly #body: FlowingBody;
  readonly #idleMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Absent once the stream is over. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** True while the stream waits for a requested chunk. */
  #isWanted = false;
  #isWriting = false;
  /** True if a chunk was requested since the timer was started. */
  #hasAsked = false;

  /** Takes the milliseconds allowed without a pull; 0 means no limit. */
  constructor(body: FlowingBody, idleMs: number) {
    this.#body = body;
    this.#idleMs = idleMs;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    // Sends the head: servers hold it back until the first chunk of a stream, which may take long. An empty chunk does not change the body.
    controller.enqueue(new Uint8Array(0));
    this.#expectPull();
  }

  pull(): void {
    this.#isWanted = true;
    this.#hasAsked = true;
    if (!this.#isWriting) this.#body.flowTo(this); // Otherwise the result of `write` requests it.
  }

  cancel(): void {
    this.#over();
    this.#body.cancel();
  }

  write(chunk: Uint8Array): boolean {
    this.#isWanted = false;
    this.#isWriting = true;
    this.#expectPull();
    this.#controller?.enqueue(chunk);
    this.#isWriting = false;
    return this.#isWanted;
  }

  end(): void {
    this.#over()?.close();
  }

  fail(error: unknown): void {
    this.#over()?.error(error);
  }

  /** One timer for many chunks: a timer per chunk costs more than a short event. */
  #expectPull(): void {
    if (this.#idleMs === 0 || this.#timer !== undefined) return;
    this.#hasAsked = false;
    this.#timer = setTimeout(this.#look, this.#idleMs);
    // Not every host's timers have it.
    this.#timer.unref?.();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.#isWanted) return;
    if (this.#hasAsked) {
      this.#expectPull();
      return;
    }
    const reason = new Error('the browser accepted no data: see "timeouts.sendIdleMs"');
    this.#over()?.error(reason);
    this.#body.cancel(reason);
  };

  #over(): ReadableStreamDefaultController<Uint8Array> | undefined {
    const controller = this.#controller;
    this.#controller = undefined;
    clearTimeout(this.#timer);
    return controller;
  }
}
