import { RequestError } from '../../domain/shared/errors.js';
import { type HttpBody, isStream } from '../../domain/shared/body.js';
import { ByteCollector } from '../../domain/shared/bytes.js';
import { jsonMediaType } from '../../domain/upstream/header-policy.js';
import type { HttpRequest } from '../../ports/http.js';
import { type BodyShare, late } from './body-budget.js';
import type { SiteSettings } from './serve-route.js';

/** A JSON body as it will be sent. */
export interface JsonBody {
  readonly bytes: Uint8Array;
  /** Its media type, without parameters. */
  readonly type: string;
  /** To be released when the platform's response has begun, or there will be none: the body counts as held until then. */
  readonly share: BodyShare;
}

/** Limits a site sets for a body. */
export type BodyLimits = Pick<SiteSettings, 'bodies' | 'bodyLimitBytes' | 'requestBodyMs' | 'requestIdleMs'>;

/** The media types of JSON without a vocabulary of its own. */
const JSON_TYPES: readonly string[] = ['application/json'];
const encoder = new TextEncoder();

/**
 * Reads a JSON request body of one of these media types, within the limits of the site. Its content is not checked.
 *
 * @throws RequestError `content_type_unsupported`, `content_encoding_unsupported`, `body_too_large`, `body_timeout`, `server_busy`, `body_consumed` or `body_invalid`.
 */
export async function readJsonBody(
  request: HttpRequest,
  limits: BodyLimits,
  types: readonly string[] = JSON_TYPES,
): Promise<JsonBody> {
  const type = declaredType(request, limits, types);
  let { body } = request;
  if (isStream(body)) {
    // Node reads a short message together with its head: after its callback all of it is there, and needs no events.
    await Promise.resolve();
    ({ body } = request);
    if (isStream(body)) return readStream(body, limits, type);
  }
  // A text here was written by the bridge from a parsed value, under the parser's own limit.
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  if (bytes === null || bytes.length === 0) throw invalid('The request body is empty.');
  if (typeof body !== 'string' && bytes.length > limits.bodyLimitBytes) throw tooLarge(limits.bodyLimitBytes);
  return { bytes, type, share: limits.bodies.hold(bytes.length) };
}

function declaredType(request: HttpRequest, { bodyLimitBytes }: BodyLimits, types: readonly string[]): string {
  const type = jsonMediaType(request.headers, types);
  if (type === undefined) {
    throw new RequestError('content_type_unsupported', {
      detail: 'The request body is not declared as JSON in UTF-8.',
      hint: `Send the header "Content-Type: ${types.join('" or "')}".`,
    });
  }
  if (request.bodyConsumed) {
    throw new RequestError('body_consumed', {
      detail: 'A middleware of this server read the request body before the route and left nothing of it.',
      hint: 'Mount the router before that middleware, or let it keep the result in "req.body" or "req.rawBody".',
    });
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new RequestError('content_encoding_unsupported', {
      detail: 'The request body is compressed, and no parser of this server decoded it.',
      hint: 'Send it without "Content-Encoding", or mount express.json() before the router.',
    });
  }
  if (Number(request.headers['content-length']) > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
  return type;
}

async function readStream(
  body: AsyncIterable<Uint8Array>,
  { bodyLimitBytes, requestBodyMs, requestIdleMs, bodies }: BodyLimits,
  type: string,
): Promise<JsonBody> {
  const timed = new TimedBody(body, { idleMs: requestIdleMs, totalMs: requestBodyMs });
  const share = bodies.open((error) => timed.cut(error));
  const collector = new ByteCollector();
  try {
    for await (const chunk of timed) {
      if (collector.length + chunk.length > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
      share.charge(chunk.length);
      collector.push(chunk);
    }
    if (collector.length === 0) throw invalid('The request body is empty.');
    share.keep();
    return { bytes: collector.take(), type, share };
  } catch (error) {
    share.release();
    if (error instanceof RequestError) throw error;
    // A parser of the host took what its bridge cannot write again.
    if (error instanceof RangeError) throw invalid('The request body is nested too deep.', -32600);
    throw invalid('The request body ended before it was complete.');
  }
}

function invalid(detail: string, rpcCode?: number): RequestError {
  const hint = 'Send one JSON object.';
  return new RequestError('body_invalid', { detail, hint, ...(rpcCode === undefined ? {} : { rpcCode }) });
}

function tooLarge(limitBytes: number): RequestError {
  return new RequestError('body_too_large', {
    detail: `The request body is larger than ${String(limitBytes)} bytes.`,
    hint: 'Send less, or raise "bodyLimitBytes" in configureServer.',
    fields: ['bodyLimitBytes'],
  });
}

/** Milliseconds a browser has for a body; 0 is any time. */
export interface BodyDeadlines {
  /** For its next bytes, while its reader waits for them. */
  readonly idleMs: number;
  /** For all of it. */
  readonly totalMs: number;
}

/** The same body, whose reader does not wait for a browser that stopped sending. */
export function timedBody(body: HttpBody, deadlines: BodyDeadlines): HttpBody {
  const isTimed = isStream(body) && deadlines.idleMs + deadlines.totalMs > 0;
  return isTimed ? new TimedBody(body, deadlines) : body;
}

/** The error of a body that came too late for its reader, who may have taken it for something else. */
export function timeoutError(body: HttpBody): RequestError | undefined {
  return body instanceof TimedBody ? body.cutBy : undefined;
}

/** A body that can be cut while its reader waits: by its deadlines, or by somebody else. */
class TimedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #deadlines: BodyDeadlines;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #total: ReturnType<typeof setTimeout> | undefined;
  #refuse: ((error: RequestError) => void) | undefined;
  #cutBy: RequestError | undefined;

  constructor(body: AsyncIterable<Uint8Array>, deadlines: BodyDeadlines) {
    this.#source = body[Symbol.asyncIterator]();
    this.#deadlines = deadlines;
  }

  get cutBy(): RequestError | undefined {
    return this.#cutBy;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#cutBy !== undefined) return Promise.reject(this.#cutBy);
    this.#start();
    return new Promise((resolve, reject) => {
      this.#refuse = reject;
      this.#source.next().then(
        (step) => {
          clearTimeout(this.#idle);
          if (step.done === true) this.#stop();
          resolve(step);
        },
        (error: unknown) => {
          this.#stop();
          reject(error as Error);
        },
      );
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#stop();
    const ended = this.#source.return?.();
    // A source that is silent ends when it speaks again, and nobody waits for that.
    if (this.#cutBy !== undefined) ended?.catch(() => undefined);
    else await ended;
    return { done: true, value: undefined };
  }

  /** Gives the reader this error immediately, and ends the source. */
  cut(error: RequestError): void {
    this.#cutBy = error;
    this.#refuse?.(error);
    void this.return();
  }

  #start(): void {
    const { idleMs, totalMs } = this.#deadlines;
    if (idleMs > 0) this.#idle = this.#cutAfter(idleMs, 'requestIdleMs');
    if (totalMs > 0) this.#total ??= this.#cutAfter(totalMs, 'requestBodyMs');
  }

  #stop(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }

  #cutAfter(ms: number, field: string): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => {
      this.cut(late(`the browser stopped sending: see "timeouts.${field}"`));
    }, ms);
    timer.unref?.();
    return timer;
  }
}
