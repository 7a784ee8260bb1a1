import type { Dispatcher } from 'undici';
import type { HeaderFields, UpstreamFailureReason, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { UpstreamBody } from './upstream-body.js';

const TAIL_BYTES = 4;

type Controller = Dispatcher.DispatchController;

/** Turns undici's callbacks for one exchange into one outcome and a body. */
export class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #request: UpstreamRequest;
  readonly #resolve: (outcome: UpstreamOutcome) => void;
  readonly #done: (complete: boolean) => void;
  #controller: Controller | undefined;
  #body: UpstreamBody | undefined;
  /** The last bytes of an event stream that only the end of its connection ends: undici takes a reset for that end. */
  #tail: Uint8Array | undefined;
  #aborted = false;
  #settled = false;

  /** `done` is called once, when the exchange is over: complete, or broken off. */
  constructor(
    request: UpstreamRequest,
    resolve: (outcome: UpstreamOutcome) => void,
    done: (complete: boolean) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#done = done;
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new Error('aborted'));
  }

  onRequestUpgrade(controller: Controller): void {
    controller.abort(new Error('unexpected upgrade'));
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    if (status > 599) {
      controller.abort(new Error(`status ${String(status)}`));
      return;
    }
    const events = isEventStream(headers);
    this.#body = new UpstreamBody(controller, events ? 0 : this.#request.bodyIdleMs);
    if (events && isCloseDelimited(headers)) this.#tail = new Uint8Array();
    this.#resolve({ kind: 'response', response: { status, headers: headers as HeaderFields, body: this.#body } });
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    if (this.#tail !== undefined) this.#tail = tailOf(this.#tail, chunk);
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#settle(true);
    if (this.#tail !== undefined && !endsEvent(this.#tail))
      this.#body?.fail(new Error('the connection ended inside an event'));
    else this.#body?.end();
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#settle(false);
    if (this.#body !== undefined) {
      this.#body.fail(error);
      return;
    }
    this.#resolve({ kind: 'failure', reason: this.#aborted ? 'aborted' : reasonOf(error), detail: describe(error) });
  }

  #settle(complete: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#done(complete);
  }

  readonly #onAbort = (): void => {
    this.#aborted = true;
    this.#controller?.abort(new Error('the browser left'));
    if (this.#controller !== undefined) return;
    // It still waits for its connection, which nobody needs any more either.
    this.#settle(false);
    this.#resolve({ kind: 'failure', reason: 'aborted', detail: 'the browser left' });
  };
}

function isEventStream(headers: HeaderFields): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^text\/event-stream\s*(?:;|$)/i.test(type);
}

/** RFC 9112 §6.3, rule 8. */
function isCloseDelimited(headers: HeaderFields): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

function tailOf(before: Uint8Array, chunk: Uint8Array): Uint8Array {
  return chunk.length >= TAIL_BYTES
    ? chunk.slice(-TAIL_BYTES)
    : new Uint8Array([...before, ...chunk]).slice(-TAIL_BYTES);
}

/** Whether a stream ends with an empty line, or has not begun. */
function endsEvent(tail: Uint8Array): boolean {
  return tail.length === 0 || /(?:\n\n|\r\r\n?|\n\r\n?)$/.test(String.fromCharCode(...tail));
}

/** undici's and Node's error codes, by what they mean to the caller (reliability-security.md §4.1). */
function reasonOf(error: Error): UpstreamFailureReason {
  const code = codeOf(error);
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
    case 'ETIMEDOUT':
      return 'timeout';
    case 'UND_ERR_SOCKET':
      // "bad upgrade", "bad response": a 101 or 100 nobody asked for.
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
  if (error.name === 'HTTPParserError' || code.startsWith('HPE_')) return 'invalid';
  return /^(?:unexpected upgrade|status \d+)$/.test(error.message) ? 'invalid' : 'unreachable';
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}

/** For operators; undici's messages hold addresses and codes, and never a header field. */
function describe(error: Error): string {
  const code = codeOf(error);
  return code === '' ? `${error.name}: ${error.message}` : `${code}: ${error.message}`;
}
