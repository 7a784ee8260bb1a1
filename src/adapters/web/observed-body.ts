import { type BodySink, flowing, type FlowingBody, ReadableFlow } from '../../domain/shared/body.js';

/** Who is told how a body ends. */
export interface BodyObserver {
  /** Called once when the body has ended, broken or been given up. */
  onOver?(): void;
  /** Called before that when it breaks; `side` is absent where the request's signal tells it. */
  onBroken?(error: unknown, side?: 'browser'): void;
}

/** Hands a body on as it comes, and tells when it is over, and how. */
export class ObservedBody extends ReadableFlow implements BodySink {
  readonly #source: FlowingBody;
  #observer: BodyObserver | undefined;
  #sink: BodySink | undefined;

  constructor(source: AsyncIterable<Uint8Array>, observer: BodyObserver) {
    super();
    this.#source = flowing(source);
    this.#observer = observer;
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    this.#source.flowTo(this);
  }

  cancel(reason?: Error): void {
    this.#sink = undefined;
    if (reason !== undefined) this.#observer?.onBroken?.(reason, 'browser');
    this.#finish();
    this.#source.cancel(reason);
  }

  write(chunk: Uint8Array): boolean {
    return this.#sink?.write(chunk) === true;
  }

  end(): void {
    this.#finish();
    this.#sink?.end();
  }

  fail(error: unknown): void {
    this.#observer?.onBroken?.(error);
    this.#finish();
    this.#sink?.fail(error);
  }

  #finish(): void {
    this.#observer?.onOver?.();
    this.#observer = undefined;
  }
}
