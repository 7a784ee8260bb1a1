import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { INTERNAL_ERROR, resetConnection, streamOf, unsentBytes } from './http2-exchange.js';

/** Settings of a watch, besides the response. */
export interface StallWatchOptions {
  /** Milliseconds without a byte taken after which the response is cut. */
  readonly idleMs: number;
  /** Called once, before the response is cut. */
  readonly onStalled?: (reason: Error) => void;
  /** The stream a framework pipes into the response, when it does the writing. */
  readonly front?: Readable;
}

/** Looks in one span: the more, the nearer to the last byte taken it is counted. */
const LOOKS = 4;

/**
 * Cuts a response whose browser takes nothing while bytes wait for it (decision 84).
 * It looks four times in a span instead of timing each write, so a stream that flows pays for four timers a minute, and a silent one for none.
 */
export class StallWatch {
  readonly #response: ServerResponse;
  readonly #options: StallWatchOptions;
  readonly #body: { readonly written: number };
  #timer: NodeJS.Timeout | undefined;
  #taken = 0;
  #unsent: number | undefined;
  #still = 0;
  #isOver = false;

  constructor(response: ServerResponse, options: StallWatchOptions, body: { readonly written: number }) {
    this.#response = response;
    this.#options = options;
    this.#body = body;
    this.#isOver = response.closed;
    response.on('close', () => {
      this.#isOver = true;
      clearTimeout(this.#timer);
    });
  }

  /** Bytes wait: from now on it is looked whether the browser takes any, until none wait any more. */
  begin(): void {
    if (this.#timer !== undefined || this.#isOver) return;
    this.#remember();
    this.#timer = setTimeout(this.#look, Math.ceil(this.#options.idleMs / LOOKS));
    this.#timer.unref();
  }

  readonly #look = (): void => {
    if (!this.#hasBacklog()) {
      this.#still = 0;
      this.#timer = undefined;
      return;
    }
    this.#still = this.#remember() ? 0 : this.#still + 1;
    if (this.#still < LOOKS) this.#timer?.refresh();
    else this.#cut();
  };

  /** Nothing of a framework's own stream waits for the browser before the framework has written it. */
  #hasBacklog(): boolean {
    return this.#response.writableLength > 0 || (this.#options.front?.readableLength ?? 0) > 0;
  }

  /** Whether the browser took something since the last time, or cannot yet. */
  #remember(): boolean {
    const response = this.#response;
    const taken = this.#body.written - response.writableLength - (this.#options.front?.readableLength ?? 0);
    const unsent = unsentBytes(response);
    // Of one long write the system takes a part at a time. What was written meanwhile makes `taken` smaller, by its framing.
    const hasMoved = taken > this.#taken || unsent !== this.#unsent;
    this.#taken = taken;
    this.#unsent = unsent;
    return hasMoved || response.writableLength === 0;
  }

  #cut(): void {
    this.#isOver = true;
    const { idleMs, onStalled } = this.#options;
    onStalled?.(new Error(`the browser took nothing for ${String(idleMs)} ms: see "timeouts.sendIdleMs"`));
    breakOff(this.#response, idleMs);
  }
}

/**
 * Resets a response whose browser takes nothing: a connection that is only closed would keep what waits in the system, for as long as the browser answers.
 * A connection of HTTP/2 that takes not even the reset ends after `graceMs`, with all its streams.
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
