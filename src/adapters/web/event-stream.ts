/** How a stream is watched while it passes. */
export interface EventStreamOptions {
  /** Silence after which a comment is sent, in milliseconds; 0 sends none. */
  readonly keepAliveMs: number;
  /** The event that tells the client that the stream broke; called when it breaks between two events. */
  brokenEvent(): string;
  /** Called once when the platform breaks the stream. */
  onBroken(error: unknown): void;
}

const encoder = new TextEncoder();
// A comment is ignored by every reader of server-sent events; it keeps proxies and phones from closing a silent connection.
const KEEP_ALIVE = encoder.encode(': keep-alive\n\n');

const LF = 0x0a;
const CR = 0x0d;

type Step = IteratorResult<Uint8Array>;
interface Waiting {
  resolve(step: Step): void;
  reject(error: unknown): void;
}

const DONE: Step = { done: true, value: undefined };

/**
 * Passes a stream of server-sent events on, byte for byte.
 * Comments are added in silence, and only between two events. A stream that breaks there ends with an error event; one that breaks inside an event
 * throws, so that the connection is cut: completing half an event would hand the client a message nobody sent.
 */
export class EventStream implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #options: EventStreamOptions;
  readonly #boundary = new BoundaryFinder();
  #waiting: Waiting | undefined;
  #isAsked = false;
  /** Hands over what came while nobody waited. */
  #early: (() => void) | undefined;
  /** One timer, started anew for each wait between two events: a timer for each event costs more than the event. */
  #silence: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  #onOver: (() => void) | undefined;

  constructor(source: AsyncIterable<Uint8Array>, options: EventStreamOptions) {
    this.#source = source[Symbol.asyncIterator]();
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Calls this once when the stream has ended, broken or been given up. */
  whenOver(call: () => void): void {
    this.#onOver = call;
  }

  next(): Promise<Step> {
    if (this.#isOver) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      const early = this.#early;
      this.#early = undefined;
      if (early !== undefined) {
        early();
        return;
      }
      if (this.#boundary.atBoundary) this.#expectSilence();
      else this.#forgetSilence();
      if (this.#isAsked) return;
      this.#isAsked = true;
      this.#source.next().then(this.#take, this.#break);
    });
  }

  async return(): Promise<Step> {
    this.#finish();
    await this.#source.return?.();
    return DONE;
  }

  readonly #take = (step: Step): void => {
    const waiting = this.#answered(() => this.#take(step));
    if (waiting === undefined) return;
    if (step.done === true) this.#finish();
    else this.#boundary.push(step.value);
    waiting.resolve(step);
  };

  readonly #break = (error: unknown): void => {
    const waiting = this.#answered(() => this.#break(error));
    if (waiting === undefined) return;
    this.#finish();
    this.#options.onBroken(error);
    if (this.#boundary.atBoundary) waiting.resolve({ done: false, value: encoder.encode(this.#options.brokenEvent()) });
    else waiting.reject(error);
  };

  /** Whoever waits for what the source said; nobody while a comment is still on its way. */
  #answered(again: () => void): Waiting | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) this.#early = again;
    else this.#isAsked = false;
    this.#waiting = undefined;
    return waiting;
  }

  /** The wait never keeps the process alive. */
  #expectSilence(): void {
    const { keepAliveMs } = this.#options;
    if (keepAliveMs === 0) return;
    if (this.#silence === undefined) {
      this.#silence = setTimeout(this.#comment, keepAliveMs);
      this.#silence.unref();
    } else {
      this.#silence.refresh();
    }
  }

  readonly #comment = (): void => {
    this.#waiting?.resolve({ done: false, value: KEEP_ALIVE });
    this.#waiting = undefined;
  };

  #forgetSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }

  #finish(): void {
    this.#isOver = true;
    this.#forgetSilence();
    this.#onOver?.();
    this.#onOver = undefined;
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
