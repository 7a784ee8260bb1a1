/** How a stream is watched while it passes. */
export interface EventStreamOptions {
  /** Silence after which a comment is sent, in milliseconds; 0 sends none. */
  readonly keepAliveMs: number;
  /** The event that tells the client that the stream broke; called when it breaks between two events. */
  readonly brokenEvent: () => string;
  /** Called once when the platform breaks the stream. */
  readonly onBroken: (error: unknown) => void;
}

const encoder = new TextEncoder();
// A comment is ignored by every reader of server-sent events; it keeps proxies and phones from closing a silent connection.
const KEEP_ALIVE = encoder.encode(': keep-alive\n\n');

const LF = 0x0a;
const CR = 0x0d;

/**
 * Passes a stream of server-sent events on, byte for byte.
 * Comments are added in silence, and only between two events. A stream that breaks there ends with an error event; one that breaks inside an event
 * throws, so that the connection is cut: completing half an event would hand the client a message nobody sent.
 */
export class EventStream implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #options: EventStreamOptions;
  #boundary = new BoundaryFinder();
  #pending: Promise<IteratorResult<Uint8Array>> | undefined;
  #ended = false;

  constructor(source: AsyncIterable<Uint8Array>, options: EventStreamOptions) {
    this.#source = source[Symbol.asyncIterator]();
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#ended) return { done: true, value: undefined };
    this.#pending ??= this.#source.next();
    const { keepAliveMs } = this.#options;
    try {
      const result =
        keepAliveMs > 0 && this.#boundary.atBoundary
          ? await withSilence(this.#pending, keepAliveMs)
          : await this.#pending;
      if (result === SILENCE) return { done: false, value: KEEP_ALIVE };
      this.#pending = undefined;
      if (result.done === true) this.#ended = true;
      else this.#boundary.push(result.value);
      return result;
    } catch (error) {
      this.#ended = true;
      this.#options.onBroken(error);
      if (!this.#boundary.atBoundary) throw error;
      return { done: false, value: encoder.encode(this.#options.brokenEvent()) };
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#ended = true;
    await this.#source.return?.();
    return { done: true, value: undefined };
  }
}

/**
 * Knows whether the bytes seen so far end between two events (HTML, "Parsing an event stream": lines end with LF, CR or CRLF, and an empty line ends an event).
 */
export class BoundaryFinder {
  #atBoundary = true;
  #lineEmpty = true;
  #afterCr = false;

  get atBoundary(): boolean {
    return this.#atBoundary;
  }

  push(chunk: Uint8Array): void {
    // Only the tail decides: the last two line ends lie within it, or there are none.
    const start = Math.max(0, chunk.length - 4);
    if (start > 0) {
      // The byte before the tail tells whether the tail begins on an empty line.
      const before = chunk[start - 1];
      this.#afterCr = before === CR;
      this.#lineEmpty = before === LF || before === CR;
      this.#atBoundary = false;
    }
    for (let index = start; index < chunk.length; index += 1) this.#byte(chunk[index] as number);
  }

  #byte(byte: number): void {
    if (byte === LF && this.#afterCr) {
      // The second half of CRLF: the line ended at its CR.
      this.#afterCr = false;
      return;
    }
    this.#afterCr = byte === CR;
    if (byte !== LF && byte !== CR) {
      this.#lineEmpty = false;
      this.#atBoundary = false;
      return;
    }
    this.#atBoundary = this.#lineEmpty;
    this.#lineEmpty = true;
  }
}

const SILENCE: unique symbol = Symbol('silence');

/** The next chunk, or SILENCE when there is none in time. The wait never keeps the process alive. */
function withSilence<T>(next: Promise<T>, ms: number): Promise<T | typeof SILENCE> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      resolve(SILENCE);
    }, ms);
    timer.unref?.();
    next.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}
