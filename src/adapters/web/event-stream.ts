import { type BodySink, flowing, type FlowingBody, ReadableFlow } from '../../domain/shared/body.js';

/** How a stream is watched while it passes. */
export interface EventStreamOptions {
  /** Silence after which a comment is sent, in milliseconds; 0 sends none. */
  readonly keepAliveMs: number;
  /** The event that tells the client that the stream broke; called when it breaks between two events. */
  brokenEvent(): string;
  /** Called once when the stream breaks; `side` is absent where the request's signal tells it. */
  onBroken(error: unknown, side?: 'browser'): void;
  /** Called once, after that, when the stream has ended, broken or been given up. */
  onOver?(): void;
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
export class EventStream extends ReadableFlow implements BodySink {
  readonly #source: FlowingBody;
  readonly #options: EventStreamOptions;
  readonly #boundary = new BoundaryFinder();
  #sink: BodySink | undefined;
  /** Whether the sink waits for the next chunk: a slow reader is no silence. */
  #isAwaited = true;
  /** One timer, started anew for each wait between two events: a timer for each event costs more than the event. */
  #silence: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(source: AsyncIterable<Uint8Array>, options: EventStreamOptions) {
    super();
    this.#source = flowing(source);
    this.#options = options;
  }

  flowTo(sink: BodySink): void {
    if (this.#isOver) return;
    this.#sink = sink;
    this.#isAwaited = true;
    this.#expectSilence();
    this.#source.flowTo(this);
  }

  cancel(reason?: Error): void {
    if (reason !== undefined && !this.#isOver) this.#options.onBroken(reason, 'browser');
    this.#sink = undefined;
    this.#finish();
    this.#source.cancel();
  }

  write(chunk: Uint8Array): boolean {
    this.#boundary.push(chunk);
    this.#isAwaited = this.#sink?.write(chunk) === true;
    if (this.#isAwaited) this.#expectSilence();
    return this.#isAwaited;
  }

  end(): void {
    this.#finish();
    this.#sink?.end();
  }

  fail(error: unknown): void {
    this.#options.onBroken(error);
    this.#finish();
    if (this.#boundary.atBoundary) {
      this.#sink?.write(encoder.encode(this.#options.brokenEvent()));
      this.#sink?.end();
    } else {
      this.#sink?.fail(error);
    }
  }

  /** The wait never keeps the process alive. */
  #expectSilence(): void {
    const { keepAliveMs } = this.#options;
    if (!this.#boundary.atBoundary || this.#isOver) {
      this.#forgetSilence();
    } else if (this.#silence !== undefined) {
      this.#silence.refresh();
    } else if (keepAliveMs > 0) {
      this.#silence = setTimeout(this.#comment, keepAliveMs);
      this.#silence.unref();
    }
  }

  readonly #comment = (): void => {
    if (!this.#isAwaited) return;
    this.#isAwaited = this.#sink?.write(KEEP_ALIVE) === true;
    this.#expectSilence();
  };

  #forgetSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#forgetSilence();
    this.#options.onOver?.();
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
