import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { StallCounter, type StallWatched } from '../../domain/shared/stall-counter.js';
import { streamOf } from './http2-exchange.js';
import { INTERNAL_ERROR, resetConnection, unlessClosed, unsentBytes } from './http2-response.js';

/** Settings of a watch, besides the response. */
export interface StallWatchOptions {
  /** Milliseconds without progress after which the response is cut. */
  readonly idleMs: number;
  /** Called once, before the response is cut. */
  readonly onStalled?: (reason: Error) => void;
  /** The stream that a framework pipes into the response, if the framework does the writing. */
  readonly front?: Readable;
}

/** Bytes of a body: written in all, and of these not sent yet. */
type SentBody = Readonly<Record<'written' | 'waiting', number>>;

/** Cuts a response whose browser accepts no bytes while some are waiting (decision 84). */
export class StallWatch implements StallWatched {
  readonly #response: ServerResponse;
  readonly #options: StallWatchOptions;
  readonly #body: SentBody;
  readonly #stalls: StallCounter;
  #taken = 0;
  #unsent: number | undefined;
  #isOver: boolean;

  constructor(response: ServerResponse, options: StallWatchOptions, body: SentBody) {
    this.#response = response;
    this.#options = options;
    this.#body = body;
    this.#stalls = new StallCounter(this, options.idleMs, startTimer);
    this.#isOver = response.closed;
    response.on('close', () => {
      this.#isOver = true;
      this.#stalls.end();
    });
  }

  /** Counts from now on, until no bytes wait any more. */
  begin(): void {
    if (this.#stalls.isRunning || this.#isOver) return;
    this.#remember();
    this.#stalls.begin();
  }

  look(): 'moved' | 'still' | 'done' {
    if (this.#body.waiting === 0) return 'done';
    return this.#remember() ? 'moved' : 'still';
  }

  onStalled(): void {
    this.#isOver = true;
    const { idleMs, onStalled } = this.#options;
    onStalled?.(new Error(`the browser accepted no data for ${String(idleMs)} ms: see "timeouts.sendIdleMs"`));
    breakOff(this.#response, idleMs);
  }

  /** True if the browser made progress since the last call, or cannot yet. */
  #remember(): boolean {
    const response = this.#response;
    const taken = this.#body.written - this.#body.waiting;
    const unsent = unsentBytes(response);
    // The system accepts one long write in parts. Framing written meanwhile makes `taken` smaller.
    const hasMoved = taken > this.#taken || unsent !== this.#unsent;
    this.#taken = taken;
    this.#unsent = unsent;
    return hasMoved || response.writableLength === 0;
  }
}

function startTimer(task: () => void, ms: number): () => void {
  const timer = setTimeout(task, ms).unref();
  return () => {
    clearTimeout(timer);
  };
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
    unlessClosed(stream, graceMs, () => session?.destroy());
    return;
  }
  if (response.socket) resetConnection(response.socket);
  response.destroy();
}
