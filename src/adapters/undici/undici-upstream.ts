import type { Dispatcher } from 'undici';
import { isEventStream } from '../../domain/shared/body.js';
import type {
  HeaderFields,
  HttpBody,
  HttpUpstream,
  UpstreamFailureReason,
  UpstreamOutcome,
  UpstreamRequest,
} from '../../ports/http.js';
import { Connections, type ExchangeEnd, type UndiciParts, undiciParts } from './connection.js';
import { type BodyControl, type Framing, responseFraming, UpstreamBody } from './upstream-body.js';
import { describeError, reasonOf } from './upstream-failure.js';

/** Connection settings; everything else is part of each request. */
export interface UndiciUpstreamOptions {
  /** Milliseconds to wait for a connection; 0 means no limit. */
  readonly connectMs: number;
}

/**
 * Calls the platform through undici's dispatcher, with one set of connections per origin. The dispatcher is the
 * cheapest client in Node, and has no redirects, retries or decoding to disable.
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
    // Starts loading now, so that the first request seldom waits for it.
    this.#loading = undiciParts().then((undici) => {
      this.#undici = undici;
    });
  }

  send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    const undici = this.#undici;
    if (undici === undefined) return this.#loading.then(() => this.send(request));
    return new Promise((resolve) => {
      if (this.#isEnded || request.signal.aborted) {
        const log = this.#isEnded ? 'the connections are closed' : 'the browser left before the request was sent';
        resolve({ kind: 'failure', reason: 'aborted', log, sent: 'nothing' });
        return;
      }
      const connections = this.#connections.get(request.origin) ?? this.#connect(request.origin, undici);
      exchange(request, connections.acquire(), resolve);
    });
  }

  async close(options?: { readonly graceMs: number }): Promise<void> {
    this.#isRetired = true;
    if (options?.graceMs === 0) this.#end();
    // Requests that wait for it count as running.
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
    // The name of the error shows that this side aborted the request, not the platform.
    const reason = Object.assign(new Error('the server is shutting down'), { name: 'AbortError' });
    for (const connections of this.#connections.values()) connections.destroy(reason);
  }

  #connect(origin: string, undici: UndiciParts): Connections {
    const connections = new Connections(undici, origin, this.#connectMs);
    if (this.#isRetired) void connections.drain();
    this.#connections.set(origin, connections);
    return connections;
  }
}

/** A function of its own, so that nothing that lives as long as the response keeps the body of the request alive. */
export function exchange(request: UpstreamRequest, line: Line, resolve: (outcome: UpstreamOutcome) => void): void {
  const { path, method, headers, body } = request;
  const reader = new ResponseReader(request, line, resolve);
  // Bodies are not decoded here, and some responses are parsed.
  const fields: Record<string, HeaderFields[string]> = { 'accept-encoding': 'identity', ...headers };
  if (fields['accept-encoding'] === undefined) fields['accept-encoding'] = 'identity';
  const sent = upload(body, headers['accept'], reader);
  // undici cannot see its length, and not every platform accepts chunked bodies.
  if (body instanceof Uint8Array && sent !== body) fields['content-length'] = String(body.length);
  try {
    const options: Dispatcher.DispatchOptions = {
      path,
      method: method as 'POST',
      headers: fields as Record<string, string | string[]>,
      body: sent as Uint8Array,
      // ResponseReader has its own timers: an upload takes time, and only the response head shows whether it is an
      // event stream, which may be silent.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    line.dispatch(options, reader);
  } catch (error) {
    reader.onError(error instanceof Error ? error : new Error('the dispatcher threw no error', { cause: error }));
  }
}

const encoder = new TextEncoder();
/** Up to this size a body is small compared to an open stream, and is sent in the cheapest way. */
const LITTLE_BYTES = 4_096;

/** The body to send. While a streaming body waits for the browser, the response head is not late. */
function upload(body: HttpBody, accept: HeaderFields[string], reader: ResponseReader): HttpBody {
  if (body === null) return body;
  if (body instanceof Uint8Array) return body.length > LITTLE_BYTES ? passing([body]) : body;
  // An open stream keeps its request message alive. undici places short texts in a shared block, which is cheaper, but
  // keeps the whole block alive.
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
 * Bytes that are released while they are sent. undici, and the abort function it returns, keep the body of a request
 * alive as long as the response lasts. Ten thousand streams with two megabytes each would exhaust the memory.
 */
async function* passing(bytes: [Uint8Array]): AsyncGenerator<Uint8Array> {
  yield bytes.pop() as Uint8Array;
}

/** The connection of one exchange, or the way to one. */
export interface Line {
  dispatch(options: Dispatcher.DispatchOptions, reader: ResponseReader): void;
  /** Called before the first byte of a request is sent. */
  begin(): void;
  /** True if the request was sent on a connection that may have been closed before. */
  readonly isStale: boolean;
  /** The error that broke the connection, if undici does not report it. */
  readonly fault: Error | undefined;
  /** Takes the number of bytes that wait for a reader while they are many, and once they are few; true if it is paused. */
  hold(bytes: number, reader: ResponseReader): boolean;
  /** True if other exchanges follow on it. */
  readonly isReused: boolean;
  /** Called once, when the exchange is over. */
  release(end: ExchangeEnd): void;
  /** Added to the log of a failure. */
  readonly note: string;
}

/**
 * Turns undici's callbacks for one exchange into one outcome and a body; returns the connection when the exchange is over.
 *
 * These are the callbacks of undici 6, which 7 takes too. The newer ones come with a controller that keeps the fields of
 * the response, and with them its first bytes, alive as long as the response lasts.
 */
export class ResponseReader implements Dispatcher.DispatchHandler, BodyControl {
  /** All but the body: a stream that stays open for hours must not keep its request message alive. */
  readonly #request: Omit<UpstreamRequest, 'origin' | 'path' | 'headers' | 'body'>;
  readonly #accepted: HeaderFields[string];
  readonly #line: Line;
  #resolve: ((outcome: UpstreamOutcome) => void) | undefined;
  #abort: ((reason: Error) => void) | undefined;
  #body: UpstreamBody | undefined;
  #end: Framing | undefined;
  #headTimer: NodeJS.Timeout | undefined;
  #gaveUp: 'aborted' | 'timeout' | undefined;
  #settled = false;

  constructor(
    { method, headers, signal, headersMs, bodyIdleMs, bodyMs = 0, streamIdleMs = 0 }: UpstreamRequest,
    line: Line,
    resolve: (outcome: UpstreamOutcome) => void,
  ) {
    this.#request = { method, signal, headersMs, bodyIdleMs, bodyMs, streamIdleMs };
    this.#accepted = headers['accept-encoding'];
    this.#line = line;
    this.#resolve = resolve;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort;
    this.#line.begin();
    if (this.#gaveUp === undefined) this.resumeHeadTimer();
    else abort(new Error('aborted'));
  }

  /**
   * The platform's turn: the deadline of the response head runs from now. Our own timer, because undici's includes the
   * time of an upload.
   */
  resumeHeadTimer(): void {
    clearTimeout(this.#headTimer);
    const { headersMs } = this.#request;
    if (headersMs === 0 || this.#body !== undefined || this.#settled) return;
    this.#headTimer = setTimeout(() => {
      this.#giveUp('timeout', `no response head within ${String(headersMs)} ms`);
    }, headersMs);
    this.#headTimer.unref();
  }

  /** The browser's turn: the platform cannot be late. */
  pauseHeadTimer(): void {
    clearTimeout(this.#headTimer);
  }

  onUpgrade(): void {
    this.abort(new Error('unexpected upgrade'));
  }

  onHeaders(status: number, fields: RawFields | Fields): boolean {
    if (this.#settled || (status > 101 && status < 200)) return true;
    // For a status below 100, or a 101 without its fields, undici would throw a bare assertion. To build its message,
    // Node 20 reads the whole source file, which takes minutes for a bundle.
    if (status < 200 || status > 599) {
      this.abort(new Error(`status ${String(status)}`));
      return true;
    }
    const headers = Array.isArray(fields) ? fieldsOf(fields) : { ...fields };
    const unreadable = unreadableField(headers, this.#accepted);
    if (unreadable !== undefined) {
      this.abort(new Error(`unreadable ${unreadable}`));
      return true;
    }
    clearTimeout(this.#headTimer);
    const { method, bodyIdleMs, bodyMs = 0, streamIdleMs = 0 } = this.#request;
    const isStream = isEventStream(headers as HeaderFields);
    const body = isStream ? new UpstreamBody(this, streamIdleMs, 0) : new UpstreamBody(this, bodyIdleMs, bodyMs);
    this.#body = body;
    const end = responseFraming(method, status, headers as HeaderFields);
    if (end.kind === 'checked') this.#end = end.check;
    const closeDelimited = end.kind === 'unknown';
    // By then undici has reported everything that arrived with the head: a short response is complete, and needs no waiting.
    queueMicrotask(() => {
      const whole = isStream ? undefined : body.whole();
      if (whole === undefined) body.watch();
      const response = { status, headers: headers as HeaderFields, body: whole ?? body };
      this.#respond({
        kind: 'response',
        response: closeDelimited ? { ...response, closeDelimited: closeDelimited } : response,
      });
    });
    return true;
  }

  onData(chunk: Uint8Array): boolean {
    this.#end?.push(chunk);
    this.#body?.push(chunk);
    return true;
  }

  abort(reason: Error): void {
    this.#abort?.(reason);
  }

  hold(bytes: number): boolean {
    return this.#settled && this.#line.isReused ? false : this.#line.hold(bytes, this);
  }

  /** Ends the exchange of a reader that is too slow. */
  break(reason: Error): void {
    this.#body?.break(reason);
  }

  onComplete(): void {
    const fault =
      this.#line.fault ??
      (this.#end?.isComplete === false ? new Error('the connection ended inside a response') : undefined);
    this.#settle(fault === undefined ? 'complete' : 'broken');
    if (fault === undefined) this.#body?.end();
    else this.#body?.fail(fault);
  }

  onError(error: Error): void {
    if (this.#body !== undefined) {
      this.#settle('broken');
      this.#body.fail(error);
      return;
    }
    const reason = this.#gaveUp ?? reasonOf(error);
    const isStale = reason === 'reset' && this.#abort !== undefined && this.#line.isStale;
    this.#settle(isStale ? 'stale' : 'broken');
    this.#fail(reason, describeError(error, isStale) + this.#line.note, isStale);
  }

  #fail(reason: UpstreamFailureReason, log: string, isStale: boolean): void {
    // undici calls `onConnect` when it begins to write.
    const sent = this.#abort === undefined ? 'nothing' : isStale ? 'on-stale-connection' : undefined;
    this.#respond({ kind: 'failure', reason, log, ...(sent === undefined ? {} : { sent }) });
  }

  /** Releases the outcome: its response may stay open for hours. */
  #respond(outcome: UpstreamOutcome): void {
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }

  #settle(end: ExchangeEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#headTimer);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#line.release(end);
  }

  readonly #onAbort = (): void => {
    this.#giveUp('aborted', 'the browser left');
  };

  #giveUp(reason: 'aborted' | 'timeout', why: string): void {
    this.#gaveUp ??= reason;
    // A request that waits for its connection is not sent any more.
    if (this.#abort === undefined) this.onError(new Error(why));
    else this.#abort(new Error(why));
  }
}

type RawFields = (Buffer | string)[];
type Fields = Record<string, string | string[] | undefined>;

/** The fields of a response by their names in lower case; a repeated one is a list. */
function fieldsOf(raw: RawFields): Fields {
  const fields: Fields = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toString('latin1').toLowerCase();
    const value = (raw[at + 1] ?? '').toString('latin1');
    const known = fields[name];
    if (typeof known === 'string') fields[name] = [known, value];
    else if (Array.isArray(known)) known.push(value);
    // A member of every object, such as `constructor`, is no field.
    else fields[name] = value;
  }
  return fields;
}

/** Codings that every browser and host supports, even if not requested. */
const COMMON_CODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br']);

/**
 * The field that makes a response unreadable, so that it is rejected (decision 85): a coding on top of another, an
 * unknown one, or one that was not requested. A field without a coding is dropped. Several types become one field, which
 * means the same (RFC 9110 §5.3) and which every host can write.
 */
function unreadableField(
  headers: Record<string, string | string[] | undefined>,
  accepted: HeaderFields[string],
): string | undefined {
  const { 'content-type': type, 'content-encoding': coding } = headers;
  if (Array.isArray(type)) headers['content-type'] = [...new Set(type)].join(', ');
  if (coding === undefined) return undefined;
  const name = String(coding).trim().toLowerCase();
  if (name === '' || name === 'identity') headers['content-encoding'] = undefined;
  else if (!isReadable(name, accepted)) return 'content-encoding';
  return undefined;
}

/** True for a coding that the request accepts, or that every client supports. */
function isReadable(coding: string, accepted: HeaderFields[string]): boolean {
  if (COMMON_CODINGS.has(coding)) return true;
  const names = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => (one.split(';', 1)[0] ?? '').trim());
  return !coding.includes(',') && (names.includes(coding) || names.includes('*'));
}
