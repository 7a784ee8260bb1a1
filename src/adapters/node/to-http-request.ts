import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBody, HeaderFields, HttpRequest, NativeRequest } from '../../ports/http.js';
import { RequestBody } from './request-body.js';

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
  readonly body: HttpBody;
  readonly bodyConsumed: boolean;
  readonly parsedBody?: unknown;
  readonly native: NativeRequest;
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
    this.headers = request.headers;
    this.native = framework?.native ?? { request, response };
    this.#response = response;
    this.#publicUrl = mount.publicUrl;
    // Express, Connect, Fastify's raw request and serverless hosts leave a parsed body here; each parser types it in its own way.
    const read = readBody(request, framework?.parsed ?? (request as unknown as ParsedBody));
    this.body = read.body;
    this.bodyConsumed = read.consumed;
    if (read.headers !== undefined) this.headers = read.headers;
    if (read.parsed !== undefined) this.parsedBody = read.parsed;
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
  readonly parsed?: unknown;
  readonly headers?: HeaderFields;
}

/** The body in whatever state the host's middleware left it. */
function readBody(request: IncomingMessage, { rawBody, body }: ParsedBody): ReadBody {
  if (rawBody instanceof Uint8Array) return { body: rawBody, consumed: false, headers: withoutCoding(request) };
  if (typeof rawBody === 'string') return { body: rawBody, consumed: false, headers: asJson(request) };
  // Express 4's parser sets `req.body = {}` on requests it did not read, so the stream's own state decides.
  if (!request.readableDidRead) return { body: hasBody(request) ? new RequestBody(request) : null, consumed: false };
  if (body === undefined) return { body: null, consumed: hasBody(request) };
  if (body instanceof Uint8Array || typeof body === 'string') {
    return { body, consumed: false, headers: withoutCoding(request) };
  }
  const text = written(body);
  if (text === undefined) return { body: null, consumed: true };
  return { body: text, consumed: false, parsed: body, headers: asJson(request) };
}

/** A parsed value as JSON again; `undefined` when it is none, or too deep to be written. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined;
  } catch {
    return undefined;
  }
}

function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** A parser decoded the bytes, so the coding and the length no longer describe them. */
function withoutCoding(request: IncomingMessage): HeaderFields {
  const { 'content-encoding': _coding, 'content-length': _length, ...rest } = request.headers;
  return rest;
}

/** What we write again is UTF-8, whatever charset the browser used. */
function asJson(request: IncomingMessage): HeaderFields {
  const headers = withoutCoding(request);
  const type = headers['content-type'];
  const isJson = typeof type === 'string' && /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
  return isJson ? { ...headers, 'content-type': type.split(';', 1)[0]?.trim() } : headers;
}

/**
 * Aborted when the browser leaves. The response tells it: the request closes as soon as its own body is read (nodejs/node#40775).
 */
function closeSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.closed && !response.writableFinished) controller.abort();
  else {
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
    });
  }
  return controller.signal;
}
