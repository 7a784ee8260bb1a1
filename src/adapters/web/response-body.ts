import { cancel, DONE, type Step } from '../../domain/shared/body.js';
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

/** Additions to a stream of server-sent events. */
export interface EventAdditions {
  /** Silence after which a comment is sent, in milliseconds; 0 disables comments. */
  readonly keepAliveMs: number;
  /** The event that reports a broken stream to the client; called if it breaks between two events. */
  brokenEvent(): string;
}

const encoder = new TextEncoder();
// Every parser of server-sent events ignores comments; they keep proxies and phones from closing a silent connection.
const KEEP_ALIVE: Step = { done: false, value: encoder.encode(': keep-alive\n\n') };

/**
 * Passes a body through, byte for byte, and reports when and how it ends.
 *
 * With additions, comments are added during silence, and only between two events. A stream that breaks there ends with
 * an error event. One that breaks inside an event throws, so that the connection is cut: completing half an event would
 * give the client a message that was never sent.
 */
export class ObservedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #additions: EventAdditions | undefined;
  readonly #end = new EventEnd();
  #observer: BodyObserver | undefined;
  #isEmpty = true;
  /** Resolves the pending call of `next`. */
  #resolve: ((step: Step | Promise<Step>) => void) | undefined;
  /** True while a chunk of the source is awaited. */
  #isAsked = false;
  /** Arrived after a comment was handed out in its place. */
  #arrived: Step | Promise<Step> | undefined;
  /** One timer, refreshed for each wait: a timer per event costs more than the event. */
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(body: AsyncIterable<Uint8Array>, observer: BodyObserver, additions?: EventAdditions) {
    this.#source = body[Symbol.asyncIterator]();
    this.#observer = observer;
    this.#additions = additions;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const arrived = this.#arrived;
    this.#arrived = undefined;
    if (arrived !== undefined) return Promise.resolve(arrived);
    if (this.#observer === undefined) return Promise.resolve(DONE);
    const step = new Promise<Step>((resolve) => {
      this.#resolve = resolve;
    });
    if (!this.#isAsked) this.#ask();
    this.#expectSilence();
    return step;
  }

  async return(reason?: Error): Promise<Step> {
    this.#hand(DONE);
    // If the body breaks at the same time, that is the reason, and reported first.
    if (reason === undefined) await Promise.resolve();
    else this.#observer?.onBroken?.(reason, 'browser');
    this.#finish();
    void cancel(this.#source, reason);
    return DONE;
  }

  /** Without `await`, whose objects would exist once per open stream. */
  #ask(): void {
    this.#isAsked = true;
    try {
      this.#source.next().then(this.#took, this.#failed);
    } catch (error) {
      this.#failed(error);
    }
  }

  readonly #took = (step: IteratorResult<Uint8Array>): void => {
    this.#isAsked = false;
    try {
      this.#hand(this.#seen(step));
    } catch (error) {
      this.#failed(error);
    }
  };

  #seen(step: IteratorResult<Uint8Array>): Step {
    if (this.#observer === undefined) return DONE;
    if (step.done === true) {
      this.#finish();
      return DONE;
    }
    this.#isEmpty = false;
    this.#end.push(step.value);
    this.#observer.onChunk?.(step.value);
    return step;
  }

  readonly #failed = (error: unknown): void => {
    if (this.#observer === undefined) return;
    this.#observer.onBroken?.(error);
    this.#finish();
    if (this.#additions === undefined || !this.#end.isComplete) this.#hand(Promise.reject(error as Error));
    else this.#hand({ done: false, value: encoder.encode(this.#additions.brokenEvent()) });
  };

  #hand(step: Step | Promise<Step>): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    if (resolve !== undefined) {
      resolve(step);
      return;
    }
    this.#arrived = step;
    // A reader that has stopped does not ask for the failure: unhandled, it would end the process.
    if (step instanceof Promise) step.catch(() => undefined);
  }

  #finish(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
    this.#observer?.onOver?.(this.#isEmpty);
    this.#observer = undefined;
  }

  /** Waits for silence without keeping the process alive. */
  #expectSilence(): void {
    if (this.#silence !== undefined) this.#silence.refresh();
    else if (this.#additions !== undefined && this.#additions.keepAliveMs > 0 && this.#observer !== undefined) {
      this.#silence = setTimeout(this.#comment, this.#additions.keepAliveMs);
      this.#silence.unref();
    }
  }

  readonly #comment = (): void => {
    // A slow reader is no silence of the source.
    if (this.#resolve !== undefined && this.#end.isComplete) this.#hand(KEEP_ALIVE);
  };
}
