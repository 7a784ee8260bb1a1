import type { HeaderFields, HttpBody, HttpRequest } from '../../ports/http.js';

/** The raw parts of a request's address. */
export interface RequestAddress {
  /** With its colon, such as `https:`. */
  readonly scheme: string;
  /** With its port. */
  readonly host: string;
  /** Starts with `/`; dot segments and backslashes are resolved, escapes are unchanged. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
}

/**
 * Splits the `url` of a Web `Request`. `Request` has normalised it by the URL standard: it is absolute and `..` (also
 * as `%2e%2e`) is resolved, so a path below a mount point stays below it.
 */
export function requestAddress(url: string): RequestAddress {
  const { protocol: scheme, host, pathname: path, search } = new URL(url);
  // `search` is empty for an empty query.
  return { scheme, host, path, query: search || (url.endsWith('?') ? '?' : '') };
}

/** The path of a request: its mount point, and the rest, which routes read. */
export interface Target {
  readonly mount: string;
  /** Empty, or starting with `/`. */
  readonly path: string;
}

/** The header fields of a Web request, which has one value per name. */
export function headerFields(request: Request): Readonly<Record<string, string>> {
  return Object.fromEntries(request.headers);
}

/** A Web `Request` as our `HttpRequest`, without copying its body, and with the fields that session libraries set for the response. */
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

  /** `headers` replace the request's own if the host has better ones. */
  constructor(
    request: Request,
    address: RequestAddress,
    { mount, path }: Target,
    headers: HeaderFields = headerFields(request),
  ) {
    // `Request` only normalises some methods, and leaves `patch` as it is.
    this.method = request.method.toUpperCase();
    this.path = path;
    this.query = address.query;
    // A `Request` made from its address alone has no `host` field; the address has the same value.
    this.headers = headers['host'] === undefined ? { ...headers, host: address.host } : headers;
    this.native = { request, response: new ResponseFields() };
    this.#scheme = address.scheme;
    this.#mount = mount;
    const { body } = request;
    // A stream locked by someone else cannot be read either.
    this.bodyConsumed = request.bodyUsed || body?.locked === true;
    // Some servers pass an empty stream for a message without a body, which routes could not distinguish from a body.
    const isEmpty = body === null || this.headers['content-length'] === '0';
    this.body = isEmpty || this.bodyConsumed ? null : unread(body);
  }

  /** Some servers write a host of their own into `url`, so the browser's field comes first. Forwarded fields are not trusted. */
  get publicUrl(): string {
    return `${this.#scheme}//${String(this.headers['host'])}${this.#mount}`;
  }

  get signal(): AbortSignal {
    return this.native.request.signal;
  }

  onSent(listener: (isSent: boolean) => void): void {
    this.native.response.listeners.push(listener);
  }
}

/**
 * Header fields written before there is a `Response`, for session libraries that expect a Node response: a web-standard
 * server has no object to write to.
 */
export class ResponseFields {
  readonly headers: Headers = new Headers();
  /** True once fields written here no longer reach the browser. */
  headersSent = false;
  /** Called once the host has the response. */
  readonly listeners: ((isSent: boolean) => void)[] = [];

  getHeader(name: string): string | string[] | undefined {
    if (name.toLowerCase() === 'set-cookie') return this.headers.getSetCookie();
    return this.headers.get(name) ?? undefined;
  }

  setHeader(name: string, value: number | string | readonly string[]): this {
    this.headers.delete(name);
    return this.appendHeader(name, typeof value === 'number' ? String(value) : value);
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    for (const single of [value].flat()) this.headers.append(name, single);
    return this;
  }
}

/**
 * The stream itself. Stopping early must not cancel it: servers over Node would destroy the socket, and the browser
 * would not see the reason. The rest is drained, otherwise a browser that reads no response until it has sent
 * everything would wait forever.
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
    // The browser left early: no response is needed.
  }
}
