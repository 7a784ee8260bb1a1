import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { StallCounter, type StallWatched } from '../../domain/shared/stall-counter.js';
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

/** Cuts a response whose browser takes nothing while bytes wait for it (decision 84). */
export class StallWatch implements StallWatched {
  readonly #response: ServerResponse;
  readonly #options: StallWatchOptions;
  readonly #body: { readonly written: number };
  readonly #stalls: StallCounter;
  #taken = 0;
  #unsent: number | undefined;
  #isOver: boolean;

  constructor(response: ServerResponse, options: StallWatchOptions, body: { readonly written: number }) {
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
    if (this.#backlog === 0) return 'done';
    return this.#remember() ? 'moved' : 'still';
  }

  onStalled(): void {
    this.#isOver = true;
    const { idleMs, onStalled } = this.#options;
    onStalled?.(new Error(`the browser took nothing for ${String(idleMs)} ms: see "timeouts.sendIdleMs"`));
    breakOff(this.#response, idleMs);
  }

  /** Bytes that wait; those of a framework's own stream wait for the browser once the framework has written them. */
  get #backlog(): number {
    return this.#response.writableLength + (this.#options.front?.readableLength ?? 0);
  }

  /** True when the browser took something since the last time, or cannot yet. */
  #remember(): boolean {
    const response = this.#response;
    const taken = this.#body.written - this.#backlog;
    const unsent = unsentBytes(response);
    // Of one long write the system takes a part at a time. What was written meanwhile makes `taken` smaller, by its framing.
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
