import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isQueued } from './connection.js';
import { streamOf } from './http2-exchange.js';
import { INTERNAL_ERROR, resetConnection } from './http2-response.js';

/** Settings of a deadline, besides the response. */
export interface SendDeadlineOptions {
  /** Milliseconds without progress after which the response is cut; 0 means no limit. */
  readonly idleMs: number;
  /** Called once, before the response is cut. */
  readonly onStalled?: (reason: Error) => void;
  /** The stream that a framework pipes into the response, if the framework does the writing. */
  readonly front?: Readable;
}

/** Cuts a response whose browser accepts no bytes while some are waiting (decision 84). Nothing runs while none wait. */
export class SendDeadline {
  /** Bytes handed to the framework's stream so far: it grows while bytes wait. */
  written = 0;
  readonly #response: ServerResponse;
  readonly #options: SendDeadlineOptions;
  #timer: NodeJS.Timeout | undefined;
  #isListening = false;
  /** Bytes accepted when the timer was started, from any starting point. */
  #before = 0;

  constructor(response: ServerResponse, options: SendDeadlineOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** Bytes wait from now on, until the response drains, finishes or closes. */
  start(): void {
    if (this.#timer !== undefined || this.#options.idleMs === 0 || this.#response.closed) return;
    this.#wait();
    if (this.#isListening) return;
    this.#isListening = true;
    this.#response.on('drain', this.#drained).on('finish', this.stop).on('close', this.stop);
  }

  /** Bytes of a response that was handed over whole may wait; a framework or a compressor may end it later. */
  startAtEnd(): void {
    const response = this.#response;
    if (response.writableEnded) {
      if (!response.writableFinished) this.start();
    } else {
      response.once('prefinish', () => {
        this.startAtEnd();
      });
    }
  }

  readonly #drained = (): void => {
    this.stop();
    // The framework writes them now.
    if (this.#waiting > 0) this.start();
  };

  /** No bytes wait any more. */
  readonly stop = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  };

  #wait(): void {
    this.#before = this.written - this.#waiting;
    this.#timer = setTimeout(this.#look, this.#options.idleMs).unref();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    const response = this.#response;
    const waiting = this.#waiting;
    if (waiting === 0) return;
    // A part was accepted, or another response of the connection is sent first.
    if (this.written - waiting > this.#before || isQueued(response)) {
      this.#wait();
      return;
    }
    const { idleMs, onStalled } = this.#options;
    onStalled?.(new Error(`the browser accepted no data for ${String(idleMs)} ms: see "timeouts.sendIdleMs"`));
    breakOff(response, idleMs);
  };

  get #waiting(): number {
    return this.#response.writableLength + (this.#options.front?.readableLength ?? 0);
  }
}

/**
 * Resets a response whose browser accepts no bytes. If the connection were only closed, data in the system would wait
 * as long as the browser keeps it open. An HTTP/2 connection that does not even accept the reset is closed after
 * `graceMs`, with all its streams.
 */
function breakOff(response: ServerResponse, graceMs: number): void {
  const stream = streamOf(response);
  if (stream !== undefined) {
    const { session } = stream;
    stream.close(INTERNAL_ERROR);
    if (stream.destroyed) return;
    const timer = setTimeout(() => session?.destroy(), graceMs).unref();
    stream.once('close', () => {
      clearTimeout(timer);
    });
    return;
  }
  if (response.socket) resetConnection(response.socket);
  response.destroy();
}
