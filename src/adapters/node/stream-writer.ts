import type { ServerResponse } from 'node:http';
import type { BodySink, Flow, FlowingBody } from '../../ports/flow.js';
import { cutOff, isComplete, lineOf } from './http2-exchange.js';

/** A response a compressor may have wrapped. */
export interface FlushableResponse extends ServerResponse {
  /** Sends what a compressor holds back (the `compression` middleware). */
  flush?: () => void;
}

/**
 * Writes a body that streams to Node's response, as fast as the browser takes it.
 *
 * Without `await`: a function that waits holds on to the last chunk for as long as the stream is silent, and every promise and closure
 * is there once for each open stream. A body that flows needs none of them; any other is read step by step.
 */
export class StreamWriter implements BodySink {
  readonly #response: FlushableResponse;
  #flow: Flow | undefined;
  #source: AsyncIterator<Uint8Array> | undefined;
  #head: NodeJS.Immediate | undefined;

  constructor(response: FlushableResponse) {
    this.#response = response;
  }

  start(body: AsyncIterable<Uint8Array> | FlowingBody): void {
    // Together with the first chunk when that is there already; else alone, since the first chunk may be long in coming.
    this.#head = setImmediate(flushHead, this.#response);
    // Without this it would wait for a chunk nobody wants any more.
    this.#response.on('close', () => {
      if (!isComplete(this.#response)) this.#giveUp();
    });
    if ('flowTo' in body) {
      this.#flow = body.flowTo(this);
    } else {
      this.#source = body[Symbol.asyncIterator]();
      this.#goOn();
    }
  }

  write(chunk: Uint8Array): boolean {
    this.#forgetHead();
    const response = this.#response;
    if (lineOf(response).destroyed) return false;
    try {
      const isReady = response.write(chunk);
      response.flush?.();
      if (!isReady) whenDrained(response, this.#goOn);
      return isReady;
    } catch {
      this.fail();
      return false;
    }
  }

  end(): void {
    this.#forgetHead();
    const response = this.#response;
    try {
      if (!lineOf(response).destroyed) response.end();
    } catch {
      this.fail();
    }
  }

  fail(): void {
    this.#forgetHead();
    const response = this.#response;
    // A browser may send again what it got no head for; and Node holds back until the next turn what was written in this one.
    if (!response.headersSent) response.flushHeaders();
    setImmediate(cutOff, response);
  }

  readonly #goOn = (): void => {
    this.#flow?.resume();
    try {
      this.#source?.next().then(this.#take, this.#break);
    } catch {
      this.fail();
    }
  };

  readonly #take = ({ done, value }: IteratorResult<Uint8Array>): void => {
    if (done === true) this.end();
    else if (this.write(value)) this.#goOn();
  };

  readonly #break = (): void => {
    this.fail();
  };

  #giveUp(): void {
    this.#flow?.cancel();
    this.#source?.return?.().catch(() => undefined);
  }

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
