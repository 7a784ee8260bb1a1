import type { HeaderFields, HttpBody, HttpRequest } from '../../ports/http.js';

/** The parts of a request's address, raw. */
export interface RequestAddress {
  /** With its colon, such as `https:`. */
  readonly scheme: string;
  /** With its port. */
  readonly host: string;
  /** Starts with `/`; dot segments and backslashes are resolved already, escapes are as they came. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
}

/**
 * Cuts the `url` of a Web `Request` into its parts. `Request` has parsed and written it by the rules of the URL standard:
 * it is absolute, `..` (also as `%2e%2e`) has gone as far as it goes, so a path below a mount point stays below it.
 */
export function requestAddress(url: string): RequestAddress {
  const { protocol: scheme, host, pathname: path, search } = new URL(url);
  // `search` of an empty query is empty.
  return { scheme, host, path, query: search || (url.endsWith('?') ? '?' : '') };
}

/** The path of a request: its mount point, and the rest, which routes read. */
export interface Target {
  readonly mount: string;
  /** Empty, or starting with `/`. */
  readonly path: string;
}

/** The header fields of a Web request, which has one value for each name. */
export function headerFields(request: Request): Readonly<Record<string, string>> {
  return Object.fromEntries(request.headers);
}

/** A Web `Request` as ours, its body not copied, with what session libraries write for its response. */
export class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderFields;
  readonly body: HttpBody;
  readonly bodyConsumed: boolean;
  readonly native: { readonly request: Request; readonly response: ResponseFields };
  readonly #scheme: string;
  readonly #mount: string;

  /** `headers` replace the request's own where a host knows them better. */
  constructor(
    request: Request,
    address: RequestAddress,
    { mount, path }: Target,
    headers: HeaderFields = headerFields(request),
  ) {
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
 * Header fields written before there is a `Response`, as session libraries write them on a Node response:
 * a web-standard server gives them nothing to write on.
 */
export class ResponseFields {
  readonly headers: Headers = new Headers();
  /** True when nothing written here reaches the browser any more. */
  headersSent = false;

  getHeader(name: string): string | string[] | undefined {
    if (name.toLowerCase() === 'set-cookie') return this.headers.getSetCookie();
    return this.headers.get(name) ?? undefined;
  }

  setHeader(name: string, value: number | string | readonly string[]): this {
    this.headers.delete(name);
    return this.appendHeader(name, typeof value === 'number' ? String(value) : value);
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    for (const single of typeof value === 'string' ? [value] : value) this.headers.append(name, single);
    return this;
  }
}

/**
 * The stream itself. A reader that stops early must not cancel it: servers over Node then destroy the socket, and the browser never sees why.
 * The rest runs off, or a browser that reads no response before it has sent everything waits forever.
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
