import { isStream } from '../../domain/shared/body.js';
import type { HttpBody } from '../../ports/http.js';
import { ByteCollector } from '../../domain/shared/bytes.js';
import { RequestError } from '../../domain/shared/errors.js';
import { MinHeap } from '../../domain/shared/min-heap.js';
import { jsonMediaType } from '../../domain/shared/header-policy.js';
import type { HeaderFields, HttpRequest } from '../../ports/http.js';
import { refusedForNow } from './error-response.js';

/** A JSON body as it will be sent. */
export interface JsonBody {
  readonly bytes: Uint8Array;
  /** Its media type, without parameters. */
  readonly type: string;
  /** Released when the platform's response has begun, or when there will be none: the body counts as held until then. */
  readonly reservation: BodyReservation;
}

/** Limits a site sets for a body. */
export interface BodyLimits {
  readonly bodyLimitBytes: number;
  /** The memory of request bodies, shared by all sites of a process. */
  readonly bodies: BodyBudget;
  /** Milliseconds for a request body that is read here; 0 means no limit. */
  readonly requestBodyMs: number;
  /** Milliseconds for each pause in a request body; 0 means no limit. */
  readonly requestIdleMs: number;
}

/** The media type of JSON in general. */
const JSON_TYPES: readonly string[] = ['application/json'];
const encoder = new TextEncoder();

/**
 * Reads a JSON request body with one of these media types, within the limits of the site. Its content is not checked.
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
    // Node receives a short message together with its head: after its callback all of it has arrived, so events are not needed.
    await Promise.resolve();
    ({ body } = request);
    if (isStream(body)) return readStream(body, limits, type, request.headers);
  }
  // A string here was serialised from a parsed value, under the parser's own limit.
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  if (bytes === null || bytes.length === 0) throw invalid('The request body is empty.');
  if (typeof body !== 'string' && bytes.length > limits.bodyLimitBytes) throw tooLarge(limits.bodyLimitBytes);
  return { bytes, type, reservation: limits.bodies.hold(bytes.length) };
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
    throw bodyConsumed(', or let it keep the result in "req.body" or "req.rawBody"');
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
  headers: HeaderFields,
): Promise<JsonBody> {
  const timed = new TimedBody(body, { idleMs: requestIdleMs, totalMs: requestBodyMs }, headers);
  const reservation = bodies.open((error) => timed.cut(error));
  const collector = new ByteCollector();
  try {
    for await (const chunk of timed) {
      if (collector.length + chunk.length > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
      bodies.charge(reservation, chunk.length);
      collector.push(chunk);
    }
    if (collector.length === 0) throw invalid('The request body is empty.');
    reservation.keep();
    return { bytes: collector.take(), type, reservation };
  } catch (error) {
    reservation.release();
    if (error instanceof RequestError) throw error;
    // A parser of the host accepted a value that cannot be serialised again.
    if (error instanceof RangeError) throw invalid('The request body is nested too deeply.', -32600);
    throw invalid('The request body ended before it was complete.');
  }
}

/** The error for a body that was read before this route. `otherwise` continues the advice. */
export function bodyConsumed(otherwise = ''): RequestError {
  return new RequestError('body_consumed', {
    detail: 'A middleware of this server consumed the request body before the route.',
    hint: `Mount the router before that middleware${otherwise}.`,
  });
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

/** Milliseconds a browser has for a body; 0 means no limit. */
export interface BodyDeadlines {
  /** For its next bytes, while its reader waits for them. */
  readonly idleMs: number;
  /** For all of it. */
  readonly totalMs: number;
}

/**
 * The body of a request with deadlines for a browser that stops sending. It fails at its end if it has fewer bytes than
 * its `content-length` announces: a proxy or middleware in front of the route may truncate it silently.
 */
export function checkedBody(request: Pick<HttpRequest, 'body' | 'headers'>, deadlines: BodyDeadlines): HttpBody {
  const { body, headers } = request;
  if (!isStream(body)) return body;
  const isChecked = headers['content-length'] !== undefined || deadlines.idleMs + deadlines.totalMs > 0;
  return isChecked ? new TimedBody(body, deadlines, headers) : body;
}

/** The error that ended a checked body, for a reader that may have reported it as another error. */
export function bodyError(body: HttpBody): RequestError | undefined {
  return body instanceof TimedBody ? body.cutBy : undefined;
}

function cutShort(bytes: number, announced: number): RequestError {
  return new RequestError('body_invalid', {
    detail: `The request body was cut on its way: ${String(bytes)} of ${String(announced)} bytes arrived.`,
    hint: 'Raise the limit of the proxy or middleware in front of the route: in Next "proxyClientMaxBodySize", or leave the route out of the matcher of proxy.ts.',
  });
}

/** A body that can be cut while its reader waits: by its deadlines, or from outside. */
class TimedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #deadlines: BodyDeadlines;
  readonly #announced: number;
  #bytes = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #total: ReturnType<typeof setTimeout> | undefined;
  #refuse: ((error: RequestError) => void) | undefined;
  #cutBy: RequestError | undefined;

  constructor(body: AsyncIterable<Uint8Array>, deadlines: BodyDeadlines, headers: HeaderFields) {
    this.#source = body[Symbol.asyncIterator]();
    this.#deadlines = deadlines;
    this.#announced = Number(headers['content-length']) || 0;
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
          if (step.done !== true) this.#bytes += step.value.length;
          else {
            this.#stop();
            if (this.#bytes < this.#announced) this.cut(cutShort(this.#bytes, this.#announced));
          }
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
    // A silent source ends with its next chunk, which is not awaited.
    if (this.#cutBy !== undefined) ended?.catch(() => undefined);
    else await ended;
    return { done: true, value: undefined };
  }

  /** Rejects the reader with this error immediately, and ends the source. */
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

/** Bodies up to this size are small: they have a reserve of their own, which large ones cannot use. */
const SMALL_BODY_BYTES = 65_536;
/** The reserve's part of the total. */
const RESERVED = 0.25;
/** After this time a byte counts half: an early burst must not count as fast forever. */
const HALF_LIFE_MS = 1_000;

/** Settings of a budget. */
export interface BodyBudgetSettings {
  /** Total bytes of request bodies that may be held. */
  readonly limitBytes: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * The memory of request bodies, counted in bytes received, from the first byte until the platform's response has begun.
 *
 * When it is full, the slowest body that is still being read is cut (408), not the newest: otherwise a visitor who
 * stops half-way would lock out the others. The slowest is the one with the fewest recent bytes. If no body can be cut,
 * because all of them wait for the platform, the new body is rejected (503).
 */
export class BodyBudget {
  readonly #now: () => number;
  readonly #small: Pool;
  readonly #large: Pool;

  constructor({ limitBytes, now }: BodyBudgetSettings) {
    this.#now = now;
    this.#small = new Pool(limitBytes * RESERVED);
    this.#large = new Pool(limitBytes * (1 - RESERVED));
  }

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#small.used + this.#large.used;
  }

  /** Raises the limit to at least two bodies of this size: what a site accepts from one visitor must fit. */
  admit(bodyBytes: number): void {
    this.#large.limit = Math.max(this.#large.limit, 2 * bodyBytes);
  }

  /** The reservation of a body that is about to be read; `cut` ends its reading. */
  open(cut: (error: RequestError) => void): BodyReservation {
    return new BodyReservation(this.#small, cut);
  }

  /**
   * The reservation of a body that has already arrived.
   *
   * @throws RequestError `server_busy` when the budget is full.
   */
  hold(bytes: number): BodyReservation {
    const pool = this.#poolOf(bytes);
    const reservation = new BodyReservation(pool, undefined);
    this.#add(pool, reservation, bytes);
    return reservation;
  }

  /**
   * Counts received bytes of a body.
   *
   * @throws RequestError `body_timeout` when this body is the slowest of too many, `server_busy` when the budget is full and no body can be cut.
   */
  charge(reservation: BodyReservation, bytes: number): void {
    const total = reservation.bytes + bytes;
    const pool = this.#poolOf(total);
    let charged = bytes;
    if (pool !== reservation.pool) {
      reservation.release();
      reservation.pool = pool;
      charged = total;
    }
    // A body without bytes is not listed: cutting it would free no memory.
    if (reservation.cut !== undefined && total > 0) pool.reading.set(reservation, reservation.came(bytes, this.#now()));
    this.#add(pool, reservation, charged);
  }

  #add(pool: Pool, reservation: BodyReservation, bytes: number): void {
    reservation.bytes += bytes;
    pool.used += bytes;
    while (pool.used > pool.limit) this.#makeRoom(pool, reservation);
  }

  #poolOf(bytes: number): Pool {
    return bytes > SMALL_BODY_BYTES ? this.#large : this.#small;
  }

  #makeRoom(pool: Pool, reservation: BodyReservation): void {
    const slowest = pool.reading.first;
    if (slowest === undefined || (slowest === reservation && pool.reading.size === 1)) {
      reservation.release();
      const log = 'the memory for request bodies is full of messages that wait for the platform';
      throw refusedForNow('server_busy', 'The server holds too many request bodies.', log);
    }
    const error = late('the memory for request bodies was full, and this one was the slowest');
    slowest.release();
    if (slowest === reservation) throw error;
    slowest.cut?.(error);
  }
}

/** The reservation of one body in the budget. */
export class BodyReservation {
  readonly cut: ((error: RequestError) => void) | undefined;
  pool: Pool;
  bytes: number = 0;
  #recent = 0;
  #cameAt = 0;

  constructor(pool: Pool, cut: ((error: RequestError) => void) | undefined) {
    this.pool = pool;
    this.cut = cut;
  }

  /** The body is complete: it still counts, but can no longer be cut. */
  keep(): void {
    this.pool.reading.delete(this);
  }

  /** The body is no longer in memory. */
  release(): void {
    // Only a body that can be cut is listed.
    if (this.cut !== undefined) this.pool.reading.delete(this);
    this.pool.used -= this.bytes;
    this.bytes = 0;
  }

  /**
   * Counts received bytes. Returns a rank by recently received bytes, of which older ones count less. The logarithm of
   * what is left of them falls equally fast for all bodies, so that ranks of different times can be compared.
   */
  came(bytes: number, now: number): number {
    this.#recent = this.#recent * 2 ** ((this.#cameAt - now) / HALF_LIFE_MS) + bytes;
    this.#cameAt = now;
    return Math.log2(this.#recent) + now / HALF_LIFE_MS;
  }
}

class Pool {
  limit: number;
  used: number = 0;
  /** Bodies that are not complete, the slowest first. */
  readonly reading: MinHeap<BodyReservation> = new MinHeap();

  constructor(limit: number) {
    this.limit = limit;
  }
}

/** The error of a body that is given up; `log` is the reason for operators. */
function late(log: string): RequestError {
  return new RequestError('body_timeout', {
    detail: 'The request body did not arrive in time.',
    hint: 'Send it again.',
    retryable: true,
    log,
  });
}
