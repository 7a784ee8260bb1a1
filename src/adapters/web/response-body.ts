import { type BodySink, flowing, type FlowingBody, ReadableFlow } from '../../domain/shared/body.js';
import { EventEnd } from '../../domain/shared/server-sent-events.js';

/** Observes how a body ends. */
export interface BodyObserver {
  /** Called with each chunk before it is passed on. */
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined;
  /** Called once when the body has ended, broken or been cancelled; `isEmpty` if it had no bytes. */
  onOver?(isEmpty: boolean): void;
  /** Called before that if it breaks; `side` is absent if the request's signal shows it. */
  onBroken?(error: unknown, side?: 'browser'): void;
}

/** Passes a body through and reports when and how it ends. */
export class ObservedBody extends ReadableFlow implements BodySink {
  readonly #source: FlowingBody;
  #observer: BodyObserver | undefined;
  #isEmpty = true;
  protected sink: BodySink | undefined;

  constructor(source: AsyncIterable<Uint8Array>, observer: BodyObserver) {
    super();
    this.#source = flowing(source);
    this.#observer = observer;
  }

  protected get isOver(): boolean {
    return this.#observer === undefined;
  }

  flowTo(sink: BodySink): void {
    this.sink = sink;
    this.#source.flowTo(this);
  }

  cancel(reason?: Error): void {
    this.sink = undefined;
    if (reason !== undefined) this.#observer?.onBroken?.(reason, 'browser');
    this.finish();
    this.#source.cancel(reason);
  }

  write(chunk: Uint8Array): boolean {
    this.#isEmpty = false;
    this.#observer?.onChunk?.(chunk);
    return this.sink?.write(chunk) === true;
  }

  end(): void {
    this.finish();
    this.sink?.end();
  }

  fail(error: unknown): void {
    this.#observer?.onBroken?.(error);
    this.finish();
    this.breakOff(error);
  }

  /** Ends a body that broke. */
  protected breakOff(error: unknown): void {
    this.sink?.fail(error);
  }

  protected finish(): void {
    this.#observer?.onOver?.(this.#isEmpty);
    this.#observer = undefined;
  }
}

/** Settings of an event stream, and its observer. */
export interface EventStreamOptions extends BodyObserver {
  /** Silence after which a comment is sent, in milliseconds; 0 disables comments. */
  readonly keepAliveMs: number;
  /** The event that reports a broken stream to the client; called if it breaks between two events. */
  brokenEvent(): string;
}

const encoder = new TextEncoder();
// Every parser of server-sent events ignores comments; they keep proxies and phones from closing a silent connection.
const KEEP_ALIVE = encoder.encode(': keep-alive\n\n');

/**
 * Passes a stream of server-sent events through, byte for byte. Comments are added during silence, and only between two
 * events. A stream that breaks there ends with an error event. One that breaks inside an event throws, so that the
 * connection is cut: completing half an event would give the client a message that was never sent.
 */
export class EventStream extends ObservedBody {
  readonly #options: EventStreamOptions;
  readonly #end = new EventEnd();
  /** True while the sink waits for the next chunk: a slow reader does not count as silence. */
  #isAwaited = true;
  /** One timer, refreshed for each wait between two events: a timer per event costs more than the event. */
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(source: AsyncIterable<Uint8Array>, options: EventStreamOptions) {
    super(source, options);
    this.#options = options;
  }

  override flowTo(sink: BodySink): void {
    if (this.isOver) return;
    this.#isAwaited = true;
    this.#expectSilence();
    super.flowTo(sink);
  }

  override write(chunk: Uint8Array): boolean {
    this.#end.push(chunk);
    this.#isAwaited = super.write(chunk);
    if (this.#isAwaited) this.#expectSilence();
    return this.#isAwaited;
  }

  protected override breakOff(error: unknown): void {
    if (!this.#end.isComplete) {
      super.breakOff(error);
      return;
    }
    this.sink?.write(encoder.encode(this.#options.brokenEvent()));
    this.sink?.end();
  }

  protected override finish(): void {
    this.#forgetSilence();
    super.finish();
  }

  /** Waits for silence without keeping the process alive. */
  #expectSilence(): void {
    const { keepAliveMs } = this.#options;
    if (!this.#end.isComplete || this.isOver) {
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
    this.#isAwaited = this.sink?.write(KEEP_ALIVE) === true;
    this.#expectSilence();
  };

  #forgetSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }
}
