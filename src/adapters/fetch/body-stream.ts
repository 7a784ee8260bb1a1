import { cancel } from '../../domain/shared/body.js';

/**
 * A streaming body as a Web stream. It is pulled on demand and cancelled with the reader. A body that breaks errors the
 * stream, since a clean end would claim that the response is complete.
 */
export function webStream(body: AsyncIterable<Uint8Array>, sendIdleMs: number): ReadableStream<Uint8Array> {
  // Does not read ahead, so that a slow browser slows the platform down.
  return new ReadableStream<Uint8Array>(new BodySource(body, sendIdleMs), { highWaterMark: 0 });
}

/**
 * The source of a Web stream: takes one chunk of a body for each that the reader requests. A reader that requests no
 * further chunk is cut off: servers request the next one when the browser took the last (decision 84).
 */
class BodySource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #idleMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Absent once the stream is over. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** True while the stream waits for a requested chunk. */
  #isWanted = false;
  /** True if a chunk was requested since the timer was started. */
  #hasAsked = false;

  /** Takes the milliseconds allowed without a pull; 0 means no limit. */
  constructor(body: AsyncIterable<Uint8Array>, idleMs: number) {
    this.#source = body[Symbol.asyncIterator]();
    this.#idleMs = idleMs;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    // Sends the head: servers hold it back until the first chunk of a stream, which may take long. An empty chunk does not change the body.
    controller.enqueue(new Uint8Array(0));
    this.#expectPull();
  }

  pull(): void {
    this.#hasAsked = true;
    if (!this.#isWanted) void this.#pull();
  }

  cancel(): void {
    this.#over();
    void cancel(this.#source);
  }

  async #pull(): Promise<void> {
    this.#isWanted = true;
    try {
      const { done, value } = await this.#source.next();
      if (this.#controller === undefined) return;
      if (done === true) {
        this.#over()?.close();
        return;
      }
      this.#isWanted = false;
      this.#expectPull();
      this.#controller.enqueue(value);
    } catch (error) {
      this.#over()?.error(error);
    }
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
    void cancel(this.#source, reason);
  };

  #over(): ReadableStreamDefaultController<Uint8Array> | undefined {
    const controller = this.#controller;
    this.#controller = undefined;
    clearTimeout(this.#timer);
    return controller;
  }
}
