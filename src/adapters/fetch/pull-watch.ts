/** Looks in one span: the more, the nearer to the last chunk taken it is counted. */
const LOOKS = 4;

/**
 * Tells when the reader of a stream has a chunk and asks for no more: a server asks again when the browser took what it was given (decision 84).
 * It looks four times in a span instead of timing each chunk, so a stream that flows pays for four timers a minute.
 */
export class PullWatch {
  readonly #idleMs: number;
  readonly #onStalled: (reason: Error) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the reader has everything it asked for. */
  #isServed = false;
  #hasAsked = false;
  #still = 0;

  /** Milliseconds without a pull; 0 allows any. */
  constructor(idleMs: number, onStalled: (reason: Error) => void) {
    this.#idleMs = idleMs;
    this.#onStalled = onStalled;
  }

  /** The reader asks for a chunk. */
  asked(): void {
    this.#isServed = false;
    this.#hasAsked = true;
  }

  /** The reader was given one. */
  served(): void {
    this.#isServed = true;
    if (this.#timer !== undefined || this.#idleMs === 0) return;
    this.#still = 0;
    this.#hasAsked = false;
    this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#timer = setTimeout(this.#look, Math.ceil(this.#idleMs / LOOKS));
    // Not every host's timers know it.
    this.#timer.unref?.();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (!this.#isServed) return;
    this.#still = this.#hasAsked ? 0 : this.#still + 1;
    this.#hasAsked = false;
    if (this.#still < LOOKS) this.#start();
    else this.#onStalled(new Error('the browser took nothing: see "timeouts.sendIdleMs"'));
  };
}
