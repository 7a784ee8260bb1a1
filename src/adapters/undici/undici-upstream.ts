import type { HeaderFields, HttpBody, HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { Connections, type UndiciParts, undiciParts } from './connection.js';
import { ResponseReader } from './response-reader.js';

/** Connection settings; everything else comes with each request. */
export interface UndiciUpstreamOptions {
  /** Milliseconds to wait for a connection; 0 waits forever. */
  readonly connectMs: number;
}

/**
 * Calls the platform through undici's dispatcher, one set of connections per origin.
 * The dispatcher is the cheapest client there is in Node, and has no redirects, retries or decoding to switch off.
 */
export class UndiciUpstream implements HttpUpstream {
  readonly #connectMs: number;
  readonly #connections = new Map<string, Connections>();
  readonly #loading: Promise<void>;
  #undici: UndiciParts | undefined;
  #isRetired = false;
  #isEnded = false;

  constructor({ connectMs }: UndiciUpstreamOptions) {
    this.#connectMs = connectMs;
    // From now on, so that the first request seldom waits for it.
    this.#loading = undiciParts().then((undici) => {
      this.#undici = undici;
    });
  }

  send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    const undici = this.#undici;
    if (undici === undefined) return this.#loading.then(() => this.send(request));
    return new Promise((resolve) => {
      if (this.#isEnded || request.signal.aborted) {
        const detail = this.#isEnded ? 'the connections are closed' : 'the browser left before the request was sent';
        resolve({ kind: 'failure', reason: 'aborted', detail, sent: 'nothing' });
        return;
      }
      const connections = this.#connections.get(request.origin) ?? this.#connect(request.origin, undici);
      exchange(request, new ResponseReader(request, connections, resolve));
    });
  }

  async close(options?: { readonly graceMs: number }): Promise<void> {
    this.#isRetired = true;
    if (options?.graceMs === 0) this.#end();
    // Requests that wait for it are running ones.
    await this.#loading;
    const finished = Promise.all([...this.#connections.values()].map((connections) => connections.drain()));
    if (options === undefined) {
      await finished;
      return;
    }
    const timer = setTimeout(() => {
      this.#end();
    }, options.graceMs);
    // Running requests keep the process alive; waiting for them must not.
    timer.unref();
    await finished;
    clearTimeout(timer);
    this.#end();
  }

  #end(): void {
    this.#isEnded = true;
    for (const connections of this.#connections.values()) connections.destroy(shuttingDown());
  }

  #connect(origin: string, undici: UndiciParts): Connections {
    const connections = new Connections(undici, origin, this.#connectMs);
    if (this.#isRetired) void connections.drain();
    this.#connections.set(origin, connections);
    return connections;
  }
}

/** Apart from whatever lives as long as the response: nothing here may keep the body of the request. */
function exchange({ path, method, headers, body }: UpstreamRequest, reader: ResponseReader): void {
  const fields = { ...headers };
  // Nothing is decoded here, and some responses are read.
  fields['accept-encoding'] ??= 'identity';
  const sent = upload(body, headers['accept'], reader);
  // undici cannot see its length, and not every platform reads chunks.
  if (sent instanceof PassingBytes) fields['content-length'] = String(sent.length);
  try {
    reader.dispatch({
      path,
      method: method as 'POST',
      headers: fields as Record<string, string | string[]>,
      body: sent as Uint8Array,
      // ResponseReader counts: an upload takes its time, and only the head of a response tells that it is a stream of events, which may be silent.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  } catch (error) {
    reader.onResponseError(undefined, error as Error);
  }
}

/** Its name says that this side ended the request, not the platform. */
function shuttingDown(): Error {
  return Object.assign(new Error('the server is shutting down'), { name: 'AbortError' });
}

const encoder = new TextEncoder();
/** A body up to here is little beside what an open stream costs anyway, and is sent in the cheapest way. */
const LITTLE_BYTES = 4_096;

/** The body to send; the head of a response cannot be late while a body that streams waits for the browser. */
function upload(body: HttpBody, accept: HeaderFields[string], reader: ResponseReader): HttpBody {
  if (body === null) return body;
  if (body instanceof Uint8Array) return body.length > LITTLE_BYTES ? new PassingBytes(body) : body;
  // An open stream keeps the message that began it. undici puts short texts into a block with others, which is cheaper, but keeps the whole block.
  if (typeof body === 'string') return String(accept).includes('text/event-stream') ? encoder.encode(body) : body;
  return {
    [Symbol.asyncIterator]: () => {
      const source = body[Symbol.asyncIterator]();
      return {
        next: async () => {
          reader.pauseHeadTimer();
          const step = await source.next();
          reader.resumeHeadTimer();
          return step;
        },
        return: async () => {
          await source.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/**
 * Bytes that are let go of as they are sent. undici holds on to the body of a request, and so does the function it gives out to abort it, for as
 * long as the response lasts; who begins ten thousand streams with two megabytes each must not fill the memory with them.
 */
class PassingBytes implements AsyncIterableIterator<Uint8Array> {
  readonly length: number;
  #bytes: Uint8Array | undefined;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.#bytes = bytes;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const bytes = this.#bytes;
    this.#bytes = undefined;
    return Promise.resolve(bytes === undefined ? { done: true, value: undefined } : { done: false, value: bytes });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#bytes = undefined;
    return this.next();
  }
}
