import type { ServerResponse } from 'node:http';
import { cancel, discard, isStream } from '../../domain/shared/body.js';
import { CONNECTION_FIELDS } from '../../domain/shared/message-fields.js';
import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import { onceOver } from './connection.js';
import { isComplete, streamOf } from './http2-exchange.js';
import { abortResponse } from './http2-response.js';
import { SendDeadline } from './send-deadline.js';

/**
 * Writes our response to Node's; a streaming body continues in the background. A body that breaks destroys the
 * connection, or resets the HTTP/2 stream: a clean end would claim that the response is complete.
 */
export function writeHttpResponse(response: FlushableResponse, given: HttpResponse): void {
  const { body, sendIdleMs = 0 } = given;
  const stream = streamOf(response);
  if ((stream ?? response).destroyed || response.headersSent) {
    discard(body);
    return;
  }
  response.statusCode = given.status;
  const fields = stream === undefined ? given.headers : http2Fields(given.headers);
  for (const name in fields) {
    const value = fields[name];
    // `appendHeader` keeps what the host has already set, such as its cookies and the `Vary: Origin` of CORS.
    if (value === undefined) continue;
    if (name === 'set-cookie' || name === 'vary') response.appendHeader(name, value);
    else response.setHeader(name, value as string | string[]);
  }
  if (body === null) {
    response.end();
  } else if (isStream(body)) {
    new StreamWriter(response, sendIdleMs).start(body);
  } else {
    response.end(body);
    // Usually the system has accepted everything by now.
    if (!response.writableFinished) new SendDeadline(response, { idleMs: sendIdleMs }).startAtEnd();
  }
}

/** A response that a compressor may have wrapped. */
interface FlushableResponse extends ServerResponse {
  /** Sends data buffered by a compressor (the `compression` middleware). */
  flush?: () => void;
}

/**
 * Writes a streaming body to Node's response, as fast as the browser reads it.
 *
 * Without `await`: a suspended function keeps the last chunk alive while the stream is silent, and every promise and
 * closure exists once per open stream.
 */
class StreamWriter {
  readonly #response: FlushableResponse;
  readonly #idleMs: number;
  /** Made when bytes first wait: most responses never need it. */
  #deadline: SendDeadline | undefined;
  #source: AsyncIterator<Uint8Array> | undefined;
  #head: NodeJS.Immediate | undefined;
  #isGivenUp = false;

  /** Takes the milliseconds a browser may accept no bytes while some are waiting; 0 means no limit. */
  constructor(response: FlushableResponse, idleMs: number) {
    this.#response = response;
    this.#idleMs = idleMs;
  }

  start(body: AsyncIterable<Uint8Array>): void {
    // Together with the first chunk if it has arrived; otherwise alone, since the first chunk may take long.
    this.#head = setImmediate(flushHead, this.#response);
    // Otherwise the body would keep waiting for a chunk that is no longer needed.
    onceOver(this.#response, () => {
      if (!isComplete(this.#response)) this.#giveUp();
    });
    this.#source = body[Symbol.asyncIterator]();
    this.#goOn();
  }

  readonly #goOn = (): void => {
    if (!this.#isGivenUp) this.#source?.next().then(this.#take, this.#fail);
  };

  readonly #take = ({ done, value }: IteratorResult<Uint8Array>): void => {
    if (done === true) this.#finish();
    else if (this.#write(value)) this.#goOn();
  };

  #write(chunk: Uint8Array): boolean {
    this.#forgetHead();
    const response = this.#response;
    if (this.#isGivenUp || (streamOf(response) ?? response).destroyed) return false;
    try {
      // The wrapper of a logger may return something else, or nothing, as the stand-in socket of a serverless host, which never drains.
      const written: unknown = response.write(chunk);
      const socket = streamOf(response) ?? response.socket;
      const isReady = typeof written === 'boolean' ? written : socket?.writableNeedDrain !== true;
      response.flush?.();
      if (!isReady) {
        this.#waiting.start();
        whenDrained(response, this.#goOn);
      }
      return isReady;
    } catch {
      this.#fail();
      return false;
    }
  }

  #finish(): void {
    this.#forgetHead();
    const response = this.#response;
    try {
      if (this.#isGivenUp || (streamOf(response) ?? response).destroyed) return;
      response.end();
      if (!response.writableFinished) this.#waiting.startAtEnd();
    } catch {
      this.#fail();
    }
  }

  readonly #fail = (): void => {
    this.#forgetHead();
    if (this.#isGivenUp) return;
    const response = this.#response;
    // A browser may retry a request without a response head, and Node holds data written in this turn until the next one.
    if (!response.headersSent) response.flushHeaders();
    setImmediate(abortResponse, response);
  };

  get #waiting(): SendDeadline {
    return (this.#deadline ??= new SendDeadline(this.#response, { idleMs: this.#idleMs, onStalled: this.#giveUp }));
  }

  readonly #giveUp = (reason?: Error): void => {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    if (this.#source !== undefined) void cancel(this.#source, reason);
  };

  #forgetHead(): void {
    clearImmediate(this.#head);
    this.#head = undefined;
  }
}

function flushHead(response: ServerResponse): void {
  response.flushHeaders();
}

/** Continues when the socket has accepted the data, or is closed. */
function whenDrained(response: ServerResponse, goOn: () => void): void {
  const done = (): void => {
    response.off('drain', done);
    response.off('close', done);
    goOn();
  };
  response.on('drain', done);
  response.on('close', done);
  if ((streamOf(response) ?? response).destroyed) done();
}

/** The fields of a response that HTTP/2 can carry: Node refuses to send the others. */
function http2Fields(fields: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !CONNECTION_FIELDS.has(name)));
}
