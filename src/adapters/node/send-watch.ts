import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { breakOff, hasTurn, unsentBytes } from './http2-exchange.js';

/** Looks in one span: the more, the nearer to the last byte taken it is counted. */
const LOOKS = 4;

/** What a watch needs to know besides the response. */
export interface SendWatchOptions {
  /** Milliseconds without a byte taken after which the response is cut. */
  readonly idleMs: number;
  /** Called once, before the response is cut. */
  readonly onStalled?: (reason: Error) => void;
  /** The stream a framework pipes into the response, when it does the writing. */
  readonly front?: Readable;
}

/**
 * Cuts a response whose browser takes nothing while bytes wait for it (decision 84).
 * It looks four times in a span instead of timing each write, so a stream that flows pays for four timers a minute, and a silent one for none.
 */
export class SendWatch {
  /** Bytes of the body handed over, from any moment on. */
  written = 0;
  readonly #response: ServerResponse;
  readonly #options: SendWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #taken = 0;
  #unsent: number | undefined;
  #still = 0;
  #isOver = false;

  constructor(response: ServerResponse, options: SendWatchOptions) {
    this.#response = response;
    this.#options = options;
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
    const taken = this.written - response.writableLength - (this.#options.front?.readableLength ?? 0);
    const unsent = unsentBytes(response);
    // Of one long write the system takes a part at a time. What was written meanwhile makes `taken` smaller, by its framing.
    const hasMoved = taken > this.#taken || unsent !== this.#unsent;
    this.#taken = taken;
    this.#unsent = unsent;
    return hasMoved || !hasTurn(response) || response.writableLength === 0;
  }

  #cut(): void {
    this.#isOver = true;
    const { idleMs, onStalled } = this.#options;
    onStalled?.(new Error(`the browser took nothing for ${String(idleMs)} ms: see "timeouts.sendIdleMs"`));
    breakOff(this.#response, idleMs);
  }
}

/** Watches what a response that was handed over whole leaves waiting; a framework or a compressor may end it later. */
export function watchRest(response: ServerResponse, watch: SendWatchOptions | SendWatch): void {
  if (!response.writableEnded) {
    response.once('prefinish', () => {
      watchRest(response, watch);
    });
  } else if (response.writableLength > 0) {
    (watch instanceof SendWatch ? watch : new SendWatch(response, watch)).begin();
  }
}
