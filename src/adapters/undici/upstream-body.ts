import { DONE, isBodiless, isEventStream, isJson, type Step } from '../../domain/shared/body.js';
import { EventEnd } from '../../domain/shared/server-sent-events.js';
import type { HeaderFields } from '../../ports/http.js';

/** Enough to keep the socket busy during one turn of the reader; small, because each open stream may hold this much. */
export const HIGH_WATER_BYTES = 65_536;

/** Longer chunks are not worth a copy. */
const JOINED_BYTES = 16_384;

/** The connection of a response, as its body sees it. */
export interface BodyControl {
  /** Takes the number of bytes that wait for the reader while they are many, and once they are few; true if it is paused. */
  hold(bytes: number): boolean;
  abort(reason: Error): void;
}

/** The body of one response as a stream. If the reader is slow, `hold` decides; if the reader stops early, the request is aborted. */
export class UpstreamBody implements AsyncIterableIterator<Uint8Array> {
  readonly #controller: BodyControl;
  readonly #idleMs: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Both settle the pending call of `next`. */
  #resolve: ((step: Step) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #isPaused = false;
  #ended = false;
  #error: Error | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Milliseconds left for the whole body; 0 means no limit. */
  #leftMs: number;
  #watchedAt = 0;
  #total: NodeJS.Timeout | undefined;

  /** Takes the milliseconds of silence allowed, and for the whole body; 0 means no limit. */
  constructor(controller: BodyControl, idleMs: number, totalMs: number) {
    this.#controller = controller;
    this.#idleMs = idleMs;
    this.#leftMs = totalMs;
  }

  /** Starts the timers, while the platform has something to send. */
  watch(): void {
    if (this.#ended || this.#error !== undefined || this.#isPaused) return;
    this.#watch();
  }

  /** All of it in one piece, if it arrived in one and is complete. A reader that takes this reads nothing else. */
  whole(): Uint8Array | undefined {
    return this.#ended && this.#chunks.length === 1 ? this.#shift() : undefined;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const chunk = this.#joined();
    if (chunk !== undefined) return Promise.resolve({ done: false, value: chunk });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  return(): Promise<Step> {
    if (!this.#ended && this.#error === undefined) {
      this.end();
      this.#controller.abort(new Error('the reader stopped'));
    }
    this.#drop();
    return Promise.resolve(DONE);
  }

  /** Breaks the body, even one that has arrived: its reader gets the error instead of the bytes that wait. */
  break(error: Error): void {
    this.#ended = false;
    this.fail(error);
    this.#controller.abort(error);
    this.#drop();
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    this.#idle?.refresh();
    const resolve = this.#resolve;
    if (resolve !== undefined) {
      this.#resolve = undefined;
      resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < HIGH_WATER_BYTES) return;
    this.#isPaused = this.#controller.hold(this.#size);
    // A slow reader does not count as silence of the platform.
    if (this.#isPaused) this.#unwatch();
  }

  end(): void {
    this.#ended = true;
    this.#isPaused = false;
    this.#unwatch();
    this.#resolve?.(DONE);
    this.#resolve = undefined;
  }

  fail(error: Error): void {
    this.#isPaused = false;
    this.#unwatch();
    if (this.#ended) return;
    this.#error = error;
    this.#reject?.(error);
    this.#resolve = undefined;
  }

  /** Removes the oldest chunk, with short ones that follow: each step costs more than the copy. */
  #joined(): Uint8Array | undefined {
    const first = this.#shift();
    if (first === undefined || this.#chunks.length === 0) return first;
    const chunks = [first];
    let size = first.length;
    for (let next = this.#chunks[0]; next !== undefined && size + next.length <= JOINED_BYTES; next = this.#chunks[0]) {
      chunks.push(next);
      size += next.length;
      this.#shift();
    }
    return chunks.length === 1 ? first : Buffer.concat(chunks, size);
  }

  /** Removes the oldest chunk; resumes a paused platform once its reader has caught up. */
  #shift(): Uint8Array | undefined {
    const wasFull = this.#size >= HIGH_WATER_BYTES;
    const chunk = this.#chunks.shift();
    this.#size -= chunk?.length ?? 0;
    if (!wasFull) return chunk;
    if (this.#isPaused && this.#size < HIGH_WATER_BYTES) this.#watch();
    this.#isPaused = this.#controller.hold(this.#size);
    return chunk;
  }

  #drop(): void {
    this.#chunks = [];
    if (this.#size >= HIGH_WATER_BYTES) this.#controller.hold(0);
    this.#size = 0;
  }

  #watch(): void {
    if (this.#idleMs > 0) this.#idle = this.#abortAfter(this.#idleMs, 'the platform was silent for too long');
    if (this.#leftMs === 0) return;
    this.#watchedAt = performance.now();
    this.#total = this.#abortAfter(this.#leftMs, 'the platform took too long for its whole response');
  }

  #unwatch(): void {
    clearTimeout(this.#idle);
    if (this.#total === undefined) return;
    clearTimeout(this.#total);
    this.#total = undefined;
    this.#leftMs = Math.max(1, this.#leftMs - (performance.now() - this.#watchedAt));
  }

  #abortAfter(ms: number, why: string): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#controller.abort(new Error(why));
    }, ms);
    timer.unref();
    return timer;
  }
}

/** Checks a close-delimited response for a possible end at its last byte (RFC 9112 §6.3, rule 8). */
export interface Framing {
  push(chunk: Uint8Array): void;
  readonly isComplete: boolean;
}

/** The way to detect the end of a response. */
export type ResponseFraming =
  /** By its length, or its last chunk. */
  | { readonly kind: 'framed' }
  /** By its content. */
  | { readonly kind: 'checked'; readonly check: Framing }
  /** Unknown: a truncated response looks complete. */
  | { readonly kind: 'unknown' };

export function responseFraming(method: string, status: number, headers: HeaderFields): ResponseFraming {
  const isFramed = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (isFramed || isBodiless(method, status)) return { kind: 'framed' };
  const coding = headers['content-encoding'];
  // Compressed bytes do not show the end of the text; their decoder notices that they were cut.
  if (coding !== undefined && coding !== 'identity') return { kind: 'unknown' };
  if (isEventStream(headers)) return { kind: 'checked', check: new EventEnd() };
  return isJson(headers) ? { kind: 'checked', check: new JsonEnd() } : { kind: 'unknown' };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** A JSON text ends when all its brackets and quotes are closed. It need not be valid. */
class JsonEnd implements Framing {
  #depth = 0;
  #inText = false;
  #isEscaped = false;

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === QUOTE) this.#inText = !this.#inText;
      else if (this.#inText) this.#isEscaped = byte === BACKSLASH;
      else if (OPENING.has(byte)) this.#depth += 1;
      else if (CLOSING.has(byte)) this.#depth -= 1;
    }
  }

  get isComplete(): boolean {
    return this.#depth === 0 && !this.#inText;
  }
}
