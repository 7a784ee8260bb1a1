import type { ServerResponse } from 'node:http';
import { cutOff, isComplete, lineOf } from './http2-exchange.js';

/** A response a compressor may have wrapped. */
export interface FlushableResponse extends ServerResponse {
  /** Sends what a compressor holds back (the `compression` middleware). */
  flush?: () => void;
}

type Step = IteratorResult<Uint8Array>;

/**
 * Writes a body that streams to Node's response, as fast as the browser takes it.
 *
 * Step by step and without `await`: a function that waits holds on to the last chunk for as long as the stream is silent,
 * and every promise and closure is there once for each open stream.
 */
export class StreamWriter {
  readonly #response: FlushableResponse;
  readonly #source: AsyncIterator<Uint8Array>;
  #head: NodeJS.Immediate | undefined;

  constructor(response: FlushableResponse, body: AsyncIterable<Uint8Array>) {
    this.#response = response;
    this.#source = body[Symbol.asyncIterator]();
  }

  start(): void {
    // Together with the first chunk when that is there already; else alone, since the first chunk may be long in coming.
    this.#head = setImmediate(flushHead, this.#response);
    // Without this it would wait for a chunk nobody wants any more.
    this.#response.on('close', () => {
      if (!isComplete(this.#response)) void this.#source.return?.();
    });
    this.#ask();
  }

  readonly #ask = (): void => {
    try {
      this.#source.next().then(this.#take, this.#fail);
    } catch {
      this.#fail();
    }
  };

  readonly #take = (step: Step): void => {
    this.#forgetHead();
    try {
      this.#pass(step);
    } catch {
      this.#fail();
    }
  };

  #pass({ done, value }: Step): void {
    const response = this.#response;
    if (lineOf(response).destroyed) return;
    if (done === true) {
      response.end();
      return;
    }
    const ready = response.write(value);
    response.flush?.();
    if (ready) this.#ask();
    else whenDrained(response, this.#ask);
  }

  readonly #fail = (): void => {
    this.#forgetHead();
    const response = this.#response;
    // A browser may send again what it got no head for; and Node holds back until the next turn what was written in this one.
    if (!response.headersSent) response.flushHeaders();
    setImmediate(cutOff, response);
  };

  #forgetHead(): void {
    clearImmediate(this.#head);
    this.#head = undefined;
  }
}

function flushHead(response: ServerResponse): void {
  response.flushHeaders();
}

/** Goes on when the socket took what was written, or is gone. */
function whenDrained(response: ServerResponse, goOn: () => void): void {
  const done = (): void => {
    response.off('drain', done);
    response.off('close', done);
    goOn();
  };
  response.on('drain', done);
  response.on('close', done);
  if (lineOf(response).destroyed) done();
}
