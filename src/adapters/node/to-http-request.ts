import type { HttpBody, HeaderFields, HttpRequest, NativeRequest } from '../../ports/http.js';
import { connectionOf, hasBody, isComplete, requestFields } from './http2-exchange.js';
import { RequestBody } from './request-body.js';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Where the host mounted the route, as the framework tells it. */
export interface Mount {
  /** Raw target below the mount, with its query. */
  readonly target: string;
  /** Scheme, host and mount path as the browser sees them; called only when a route needs it. */
  readonly publicUrl: () => string;
}

/** What a body parser left behind. */
export interface ParsedBody {
  body?: unknown;
  /** The bytes or the text a parser kept (`express.json({ verify })`, Koa's parsers, serverless hosts). */
  rawBody?: unknown;
}

/** What a framework keeps on objects of its own instead of Node's. */
export interface FrameworkObjects {
  readonly parsed: ParsedBody;
  readonly native: NativeRequest;
}

/** Reads Node's request as ours, without copying its header fields or its body. */
export function toHttpRequest(
  request: IncomingMessage,
  response: ServerResponse,
  mount: Mount,
  framework?: FrameworkObjects,
): HttpRequest {
  return new NodeHttpRequest(request, response, mount, framework);
}

class NodeHttpRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderFields;
  readonly bodyConsumed: boolean;
  readonly native: NativeRequest;
  #body: HttpBody;
  readonly #response: ServerResponse;
  readonly #publicUrl: () => string;
  #signal: AbortSignal | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    mount: Mount,
    framework: FrameworkObjects | undefined,
  ) {
    const { target } = mount;
    const query = target.indexOf('?');
    this.method = request.method ?? 'GET';
    this.path = query < 0 ? target : target.slice(0, query);
    this.query = query < 0 ? '' : target.slice(query);
    const fields = requestFields(request);
    this.native = framework?.native ?? { request, response };
    this.#response = response;
    this.#publicUrl = mount.publicUrl;
    // Express, Connect, Fastify's raw request and serverless hosts leave a parsed body here; each parser types it in its own way.
    const read = readBody(request, fields, framework?.parsed ?? (request as unknown as ParsedBody));
    this.headers = read.headers ?? fields;
    this.#body = read.body;
    this.bodyConsumed = read.consumed;
  }

  /** Looked at when a route asks for it: the rest of a short message has arrived by then. */
  get body(): HttpBody {
    if (this.#body instanceof RequestBody) this.#body = this.#body.whole() ?? this.#body;
    return this.#body;
  }

  get publicUrl(): string {
    return this.#publicUrl();
  }

  get signal(): AbortSignal {
    this.#signal ??= closeSignal(this.#response);
    return this.#signal;
  }
}

interface ReadBody {
  readonly body: HttpBody;
  readonly consumed: boolean;
  readonly headers?: HeaderFields;
}

/** The body in whatever state the host's middleware left it. */
function readBody(request: IncomingMessage, fields: HeaderFields, { rawBody, body }: ParsedBody): ReadBody {
  const isRaw = isWhole(rawBody);
  // Express 4's parser sets `req.body = {}` on requests it did not read, so the stream's own state decides.
  if (!isRaw && !request.readableDidRead) {
    return { body: hasBody(request) ? new RequestBody(request) : null, consumed: false };
  }
  const given = isRaw ? rawBody : body;
  const whole = isWhole(given) ? given : written(given);
  if (whole === undefined) return { body: null, consumed: given !== undefined || hasBody(request) };
  // A parser decoded the bytes, so the coding and the length no longer describe them.
  const headers = { ...fields, 'content-encoding': undefined, 'content-length': undefined };
  return { body: whole, consumed: false, headers };
}

function isWhole(body: unknown): body is Uint8Array | string {
  return body instanceof Uint8Array || typeof body === 'string';
}

/** A parsed value as JSON again; `undefined` when it is none. One too deep to be written is a body whose reading fails. */
function written(value: unknown): HttpBody | undefined {
  try {
    return JSON.stringify(value) as string | undefined;
  } catch (error) {
    return error instanceof RangeError ? TOO_DEEP : undefined;
  }
}

/** JSON is written with as many calls as it has levels, which the stack does not hold. */
const TOO_DEEP: HttpBody = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new RangeError()) }),
};

/**
 * Aborted when the browser leaves. The response tells it: the request closes as soon as its own body is read (nodejs/node#40775).
 */
function closeSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { closed, destroyed } = connectionOf(response);
  if ((closed || destroyed) && !isComplete(response)) controller.abort();
  else {
    response.on('close', () => {
      if (!isComplete(response)) controller.abort();
    });
  }
  return controller.signal;
}
