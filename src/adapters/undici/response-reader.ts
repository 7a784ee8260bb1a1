import type { Dispatcher } from 'undici';
import type { HeaderFields, UpstreamFailureReason, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import type { Connection, Connections, ExchangeEnd } from './connection.js';
import { isEventStream } from '../../domain/shared/body.js';
import { networkFault } from '../../domain/shared/network-fault.js';
import { type Framing, responseFraming, UpstreamBody } from './upstream-body.js';

type Controller = Dispatcher.DispatchController;

/** Turns undici's callbacks for one exchange into one outcome and a body; gives the connection back when the exchange is over. */
export class ResponseReader implements Dispatcher.DispatchHandler {
  /** All but the body: a stream that stays open for hours must not keep the message that began it. */
  readonly #request: Pick<
    UpstreamRequest,
    'method' | 'signal' | 'headersMs' | 'bodyIdleMs' | 'bodyMs' | 'streamIdleMs'
  >;
  readonly #accepted: HeaderFields[string];
  readonly #connections: Connections;
  readonly #connection: Connection;
  #resolve: ((outcome: UpstreamOutcome) => void) | undefined;
  #controller: Controller | undefined;
  #body: UpstreamBody | undefined;
  #end: Framing | undefined;
  #headTimer: NodeJS.Timeout | undefined;
  #gaveUp: 'aborted' | 'timeout' | undefined;
  #settled = false;

  constructor(
    { method, headers, signal, headersMs, bodyIdleMs, bodyMs = 0, streamIdleMs = 0 }: UpstreamRequest,
    connections: Connections,
    resolve: (outcome: UpstreamOutcome) => void,
  ) {
    this.#request = { method, signal, headersMs, bodyIdleMs, bodyMs, streamIdleMs };
    this.#accepted = headers['accept-encoding'];
    this.#connections = connections;
    this.#connection = connections.acquire();
    this.#resolve = resolve;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Sends on the connection that was taken for this exchange. */
  dispatch(options: Dispatcher.DispatchOptions): void {
    this.#connection.client.dispatch(options, this);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#connection.begin();
    if (this.#gaveUp === undefined) this.resumeHeadTimer();
    else controller.abort(new Error('aborted'));
  }

  /** It is the platform's turn: the deadline of the head runs from now. Our own timer, because undici's counts the time of an upload too. */
  resumeHeadTimer(): void {
    clearTimeout(this.#headTimer);
    const { headersMs } = this.#request;
    if (headersMs === 0 || this.#body !== undefined || this.#settled) return;
    this.#headTimer = setTimeout(() => {
      this.#gaveUp = 'timeout';
      this.#controller?.abort(new Error(`no response head within ${String(headersMs)} ms`));
    }, headersMs);
    this.#headTimer.unref();
  }

  /** It is the browser's turn: the platform cannot be late. */
  pauseHeadTimer(): void {
    clearTimeout(this.#headTimer);
  }

  onRequestUpgrade(controller: Controller): void {
    controller.abort(new Error('unexpected upgrade'));
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status > 101 && status < 200) return;
    // Of a status below 100, or a 101 without its fields, undici would make a bare assertion, for whose message Node 20 reads the whole file it stands in: minutes, where that is a bundle.
    if (status < 200 || status > 599) {
      controller.abort(new Error(`status ${String(status)}`));
      return;
    }
    const unreadable = unreadableField(headers, this.#accepted);
    if (unreadable !== undefined) {
      controller.abort(new Error(`unreadable ${unreadable}`));
      return;
    }
    clearTimeout(this.#headTimer);
    // Views of the first bytes that came, all of which they would keep for as long as the response lasts.
    controller.rawHeaders = null;
    const { method, bodyIdleMs, bodyMs = 0, streamIdleMs = 0 } = this.#request;
    const isStream = isEventStream(headers as HeaderFields);
    const body = isStream
      ? new UpstreamBody(controller, streamIdleMs, 0)
      : new UpstreamBody(controller, bodyIdleMs, bodyMs);
    this.#body = body;
    const end = responseFraming(method, status, headers as HeaderFields);
    if (end.kind === 'checked') this.#end = end.check;
    const closeDelimited = end.kind === 'unknown';
    // By then undici has told what came together with the head: a short response is complete, and nobody needs to wait for it.
    queueMicrotask(() => {
      const whole = isStream ? undefined : body.whole();
      if (whole === undefined) body.watch();
      const response = { status, headers: headers as HeaderFields, body: whole ?? body };
      this.#respond({
        kind: 'response',
        response: closeDelimited ? { ...response, closeDelimited: closeDelimited } : response,
      });
    });
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#end?.push(chunk);
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    const fault =
      this.#connection.fault ??
      (this.#end?.isComplete === false ? new Error('the connection ended inside a response') : undefined);
    this.#settle(fault === undefined ? 'complete' : 'broken');
    if (fault === undefined) this.#body?.end();
    else this.#body?.fail(fault);
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    if (this.#body !== undefined) {
      this.#settle('broken');
      this.#body.fail(error);
      return;
    }
    const reason = this.#gaveUp ?? reasonOf(error);
    const isStale = reason === 'reset' && this.#controller !== undefined && this.#connection.isStale;
    this.#settle(isStale ? 'stale' : 'broken');
    this.#fail(reason, describeError(error), isStale);
  }

  #fail(reason: UpstreamFailureReason, detail: string, isStale: boolean): void {
    // undici names the controller when it begins to write.
    const sent = this.#controller === undefined ? 'nothing' : isStale ? 'on-stale-connection' : undefined;
    this.#respond({ kind: 'failure', reason, detail, ...(sent === undefined ? {} : { sent }) });
  }

  /** Releases the outcome: the response in it may stay open for hours. */
  #respond(outcome: UpstreamOutcome): void {
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }

  #settle(end: ExchangeEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#headTimer);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#connections.release(this.#connection, end);
  }

  readonly #onAbort = (): void => {
    this.#gaveUp ??= 'aborted';
    this.#controller?.abort(new Error('the browser left'));
    if (this.#controller !== undefined) return;
    // It still waits for its connection, which nobody needs any more either.
    this.#settle('broken');
    this.#fail('aborted', 'the browser left', false);
  };
}

/** Codings every browser and every host of ours knows, also when nobody asked for them. */
const COMMON_CODINGS: ReadonlySet<string> = new Set(['identity', 'gzip', 'x-gzip', 'deflate', 'br']);

/**
 * The field of a response that nobody could read for sure, whose response is refused (decision 85): a coding upon another, one that is unknown,
 * or one that was not asked for. Several types become one field, which says the same (RFC 9110 §5.3) and which every host can write.
 */
function unreadableField(
  headers: Record<string, string | string[] | undefined>,
  accepted: HeaderFields[string],
): string | undefined {
  const { 'content-type': type, 'content-encoding': coding } = headers;
  if (Array.isArray(type)) headers['content-type'] = [...new Set(type)].join(', ');
  if (coding === undefined) return undefined;
  return typeof coding === 'string' && isReadable(coding.trim().toLowerCase(), accepted)
    ? undefined
    : 'content-encoding';
}

/** True for a coding that the request accepts, or that everyone knows. */
function isReadable(coding: string, accepted: HeaderFields[string]): boolean {
  if (COMMON_CODINGS.has(coding)) return true;
  const names = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => (one.split(';', 1)[0] ?? '').trim());
  return !coding.includes(',') && (names.includes(coding) || names.includes('*'));
}

/** undici's and Node's error codes, by what they mean to the caller. */
function reasonOf(error: Error): UpstreamFailureReason {
  const code = codeOf(error);
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'timeout';
    case 'UND_ERR_SOCKET':
      // "bad upgrade", "bad response": a 101 nobody asked for, or bytes without a request.
      return error.message.startsWith('bad ') ? 'invalid' : 'reset';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'reset';
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'ERR_ASSERTION':
      return 'invalid';
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'unreachable';
    default:
      break;
  }
  if (error.name === 'AbortError') return 'aborted';
  if (error.name === 'HTTPParserError' || code.startsWith('HPE_')) return 'invalid';
  return /^(?:unexpected upgrade|status \d+|unreadable [a-z-]+)$/.test(error.message) ? 'invalid' : 'unreachable';
}

/** For operators; undici's messages hold addresses and codes, and never a header field. */
function describeError(error: Error): string {
  const code = codeOf(error);
  if (code === '') return `${error.name}: ${error.message}`;
  const fault = networkFault(code);
  return `${code}: ${error.message}${fault === undefined ? '' : ` (${fault})`}`;
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}
