import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeaderFields, HttpBody, HttpRequest, NativeRequest } from '../../ports/http.js';
import { isOver, onceOver } from './connection.js';
import { hasBody, isComplete, maybeTruncated, refuseRest, requestFields } from './http2-exchange.js';

/** The mount point of the route, as the framework knows it. */
export interface Mount {
  /** Raw path below the mount, with its query. */
  readonly target: string;
  /** Scheme, host and mount path as the browser sees them; called only when a route needs it. */
  readonly publicUrl: () => string;
}

/** The result of a body parser. */
export interface ParsedBody {
  body?: unknown;
  /** The bytes or text a parser kept (`express.json({ verify })`, Koa's parsers, serverless hosts). */
  rawBody?: unknown;
}

/** Parts that a framework stores on its own objects instead of Node's. */
export interface FrameworkObjects {
  readonly parsed: ParsedBody;
  readonly native: NativeRequest;
}

/** Node's request as our `HttpRequest`; neither header fields nor body are copied. */
export class NodeRequest implements HttpRequest {
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

  constructor(request: IncomingMessage, response: ServerResponse, mount: Mount, framework?: FrameworkObjects) {
    const { target } = mount;
    const query = target.indexOf('?');
    this.method = request.method ?? 'GET';
    this.path = query < 0 ? target : target.slice(0, query);
    this.query = query < 0 ? '' : target.slice(query);
    const fields = requestFields(request);
    this.native = framework?.native ?? { request, response };
    this.#response = response;
    this.#publicUrl = mount.publicUrl;
    // Express, Connect, Fastify's raw request and serverless hosts store a parsed body here, each parser with its own type.
    const read = readBody(request, fields, framework?.parsed ?? (request as unknown as ParsedBody));
    this.headers = read.headers ?? fields;
    this.#body = read.body;
    this.bodyConsumed = read.consumed;
  }

  /** Read when a route needs it: by then, the rest of a short message has arrived. */
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

  onSent(listener: (isSent: boolean) => void): void {
    const response = this.#response;
    const tell = (): void => listener(isComplete(response));
    // Some serverless hosts emit no `close`, and over HTTP/2 a reset response finishes too.
    response.once('finish', tell);
    onceOver(response, tell);
  }
}

interface ReadBody {
  readonly body: HttpBody;
  readonly consumed: boolean;
  readonly headers?: HeaderFields;
}

/** The body in the state that the host's middleware left it in. */
function readBody(request: IncomingMessage, fields: HeaderFields, { rawBody, body }: ParsedBody): ReadBody {
  const isRaw = rawBody !== undefined && isWhole(rawBody);
  // Express 4's parser sets `req.body = {}` on requests it did not read, so the state of the stream decides.
  if (!isRaw && !request.readableDidRead) {
    return { body: hasBody(request) ? new RequestBody(request) : null, consumed: false };
  }
  const given = isRaw ? rawBody : body;
  const whole = isWhole(given) ? given : written(given);
  if (whole === undefined) return { body: null, consumed: given !== undefined || hasBody(request) };
  // A parser decoded the bytes, so coding and length no longer describe them.
  const headers = { ...fields, 'content-encoding': undefined, 'content-length': undefined };
  return { body: whole, consumed: false, headers };
}

function isWhole(body: unknown): body is Uint8Array | string {
  return body instanceof Uint8Array || typeof body === 'string';
}

/**
 * A parsed value as JSON; `undefined` if it is none. A value nested too deeply to be serialised becomes a body that fails
 * when it is read.
 */
function written(value: unknown): HttpBody | undefined {
  try {
    return JSON.stringify(value) as string | undefined;
  } catch (error) {
    return error instanceof RangeError ? TOO_DEEP : undefined;
  }
}

/** `JSON.stringify` recurses per level, which overflows the stack. */
const TOO_DEEP: HttpBody = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new RangeError()) }),
};

/**
 * Aborted when the browser leaves. The response's `close` shows it; the request's is emitted as soon as its body is
 * read (nodejs/node#40775).
 */
function closeSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (isOver(response) && !isComplete(response)) controller.abort();
  else {
    onceOver(response, () => {
      if (!isComplete(response)) controller.abort();
    });
  }
  return controller.signal;
}

type Step = IteratorResult<Uint8Array>;

const DONE: Step = { done: true, value: undefined };

/** Requests whose bodies were taken whole: Node marks them complete only when it continues parsing. */
const taken = new WeakSet<IncomingMessage>();

/** True until the end of a request's body has arrived. */
export function isComing(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request) && !taken.has(request);
}

/**
 * The body of a request as a stream.
 *
 * A reader that stops early does not destroy the socket, otherwise the browser would not see the reason. The rest is
 * drained, since some browsers read no response before they have sent everything; `early-response.ts` limits the time.
 */
class RequestBody implements AsyncIterableIterator<Uint8Array> {
  readonly #request: IncomingMessage;
  #chunks: ChunkCount | undefined;
  #steps: AsyncIterator<Uint8Array> | undefined;
  #isOver = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  /**
   * All of it, if it has arrived already: short messages usually arrive with their head. A caller that uses this reads
   * nothing else, and needs no events, promises or deadlines.
   */
  whole(): Uint8Array | undefined {
    const request = this.#request;
    const { readableLength: length, headers } = request;
    const isThere = length > 0 && Number(headers['content-length']) === length;
    if (!isThere || this.#isOver || this.#steps !== undefined) return undefined;
    this.#isOver = true;
    taken.add(request);
    // Without a length, newer versions of Node read one chunk only.
    const bytes = request.read(length) as Uint8Array;
    // Node ends a request for its host only if it is read.
    request.resume();
    return bytes;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    if (this.#isOver) return DONE;
    this.#steps ??= this.#request.iterator({ destroyOnReturn: false });
    this.#chunks ??= new ChunkCount();
    const step = (await this.#steps.next()) as Step;
    if (step.done === true ? !maybeTruncated(this.#request) : !this.#chunks.add(step.value)) return step;
    void this.return();
    throw new Error(step.done === true ? 'the request is incomplete' : 'the chunks are too small');
  }

  return(): Promise<Step> {
    if (!this.#isOver) {
      this.#isOver = true;
      void this.#steps?.return?.();
      drain(this.#request, this.#chunks);
    }
    return Promise.resolve(DONE);
  }
}

const wasteful = new WeakSet<IncomingMessage>();

/** True if a request's body is no longer read, because its chunks are too small. */
export function isWasteful(request: IncomingMessage): boolean {
  return wasteful.has(request);
}

/** Reads and drops the rest of a body; stops if its chunks are too small. */
export function drain(request: IncomingMessage, chunks: ChunkCount = new ChunkCount()): void {
  if (chunks.areTooSmall) {
    // Not even dropped: its connection ends with the response.
    wasteful.add(request);
  } else {
    request.on('data', (chunk: Uint8Array) => {
      if (chunks.add(chunk)) refuseRest(request);
    });
    request.resume();
  }
}

/** Number of chunks of any size a body may have, in addition to one per 16 bytes. */
const FREE_CHUNKS = 500;
const MIN_BYTES_PER_CHUNK = 16;

/**
 * Detects bodies in chunks that are far too small. Node emits an event for each, which costs the same for any length:
 * two megabytes in one-byte chunks block the process for seconds.
 */
class ChunkCount {
  areTooSmall: boolean = false;
  #bytes = 0;
  #chunks = 0;

  /** Counts a chunk; true if they are too small. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    this.#chunks += 1;
    return (this.areTooSmall = this.#chunks > FREE_CHUNKS + this.#bytes / MIN_BYTES_PER_CHUNK);
  }
}
