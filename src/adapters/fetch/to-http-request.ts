import type { HeaderFields, HttpBody, HttpRequest } from '../../ports/http.js';
import type { RequestAddress } from './request-address.js';
import { ResponseFields } from './response-fields.js';

/** A Web request as ours, with what session libraries write for its response. */
export interface FetchRequest extends HttpRequest {
  readonly native: { readonly request: Request; readonly response: ResponseFields };
}

/** Where a request lies: its mount point begins its path, and the rest is what routes read. */
export interface Target {
  readonly mount: string;
  /** Empty, or starting with `/`. */
  readonly path: string;
}

/** Reads a Web `Request` as ours, without copying its body; `headers` stand for its own where a host knows them better. */
export function toHttpRequest(
  request: Request,
  address: RequestAddress,
  target: Target,
  headers: HeaderFields = headerFields(request),
): FetchRequest {
  return new WebRequest(request, address, target, headers);
}

/** The header fields of a Web request, which has one value for each name. */
export function headerFields(request: Request): Readonly<Record<string, string>> {
  return Object.fromEntries(request.headers);
}

class WebRequest implements FetchRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderFields;
  readonly body: HttpBody;
  readonly bodyConsumed: boolean;
  readonly native: FetchRequest['native'];
  readonly #scheme: string;
  readonly #mount: string;

  constructor(request: Request, address: RequestAddress, { mount, path }: Target, headers: HeaderFields) {
    // `Request` knows some methods in upper case only, and leaves `patch` as it is.
    this.method = request.method.toUpperCase();
    this.path = path;
    this.query = address.query;
    // A `Request` that was made from its address alone has no such field, and the address says the same.
    this.headers = headers['host'] === undefined ? { ...headers, host: address.host } : headers;
    this.native = { request, response: new ResponseFields() };
    this.#scheme = address.scheme;
    this.#mount = mount;
    const { body } = request;
    // A reader that somebody else still holds cannot be followed either.
    this.bodyConsumed = request.bodyUsed || body?.locked === true;
    // Some servers give a message without a body an empty stream, which routes could not tell from a body.
    const isEmpty = body === null || this.headers['content-length'] === '0';
    this.body = isEmpty || this.bodyConsumed ? null : unread(body);
  }

  /** Some servers write a host of their own into `url`, so the browser's field comes first; no forwarded field is believed. */
  get publicUrl(): string {
    return `${this.#scheme}//${String(this.headers['host'])}${this.#mount}`;
  }

  get signal(): AbortSignal {
    return this.native.request.signal;
  }
}

/**
 * The stream itself. A reader that stops early must not cancel it: servers over Node then destroy the socket, and the browser never sees why.
 * The rest runs off, or a browser that reads no response before it has sent everything waits for ever.
 */
function unread(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => {
      const reader = body.getReader();
      return {
        next: () => reader.read() as Promise<IteratorResult<Uint8Array>>,
        return: async () => {
          void drain(reader);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    let done = false;
    while (!done) ({ done } = await reader.read());
  } catch {
    // The browser left in the middle: nothing is missed.
  }
}
