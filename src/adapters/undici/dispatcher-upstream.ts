import type { Dispatcher } from 'undici';
import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { exchange, type Line, type ResponseReader } from './undici-upstream.js';
import { HIGH_WATER_BYTES } from './upstream-body.js';

/**
 * The part of a dispatcher of undici (6, 7 or 8) that is used, such as a `ProxyAgent`, an `EnvHttpProxyAgent`, or an
 * `Agent` with certificates.
 *
 * @public
 */
export interface DispatcherLike {
  /** Sends a request, and reports its response to the handler. */
  dispatch(options: object, handler: object): boolean;
}

/** Bytes that the responses of one dispatcher may hold together. */
const MAX_HELD_BYTES = 67_108_864;

/**
 * Calls the platform through a dispatcher of the site, which is not ours to close. Only its `dispatch` is used: a
 * response that is paused by undici's own means ends the process if its connection closes meanwhile (decision 177). So
 * bytes that a slow reader has not taken are held here, and the response that holds most is ended when they are too many.
 */
export class DispatcherUpstream implements HttpUpstream {
  readonly #dispatcher: () => Promise<DispatcherLike>;
  /** Added to the log of a failure. */
  readonly #note: string;
  readonly #held = new Map<ResponseReader, number>();
  #heldBytes = 0;

  /** `name`: the dispatcher as an operator knows it. */
  constructor(dispatcher: () => Promise<DispatcherLike>, name: string) {
    this.#dispatcher = dispatcher;
    this.#note = `; sent through ${name}, so a proxy there may be the cause`;
  }

  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    let dispatcher: DispatcherLike;
    try {
      dispatcher = await this.#dispatcher();
    } catch (error) {
      return failure('unreachable', (error as Error).message);
    }
    if (request.signal.aborted) return failure('aborted', 'the browser left before the request was sent');
    return new Promise((resolve) => exchange(request, this.#line(dispatcher, request.origin), resolve));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** A function of its own: a stream keeps its line alive, which must not keep the request. */
  #line(dispatcher: DispatcherLike, origin: string): Line {
    return {
      dispatch: (options, reader) => {
        // A dispatcher may queue requests, and a proxy may never answer.
        reader.resumeHeadTimer();
        dispatcher.dispatch({ ...options, origin }, handlerOf(reader));
      },
      hold: (bytes, reader) => this.#hold(bytes, reader),
      ...UNKNOWN,
      note: this.#note,
    };
  }

  #hold(bytes: number, reader: ResponseReader): boolean {
    const before = this.#held.get(reader) ?? 0;
    const now = bytes < HIGH_WATER_BYTES ? 0 : bytes;
    this.#heldBytes += now - before;
    if (now === 0) this.#held.delete(reader);
    else this.#held.set(reader, now);
    if (this.#heldBytes > MAX_HELD_BYTES) {
      let [largest, most] = [reader, 0];
      for (const [one, held] of this.#held) if (held > most) [largest, most] = [one, held];
      largest.break(new Error('the browser reads too slowly, and a dispatcher cannot be paused'));
    }
    return false;
  }
}

function failure(reason: 'unreachable' | 'aborted', log: string): UpstreamOutcome {
  return { kind: 'failure', reason, log, sent: 'nothing' };
}

/** A dispatcher does not say which connection it uses. */
const UNKNOWN: Omit<Line, 'dispatch' | 'hold' | 'note'> = {
  begin: () => undefined,
  isStale: false,
  fault: undefined,
  isReused: false,
  release: () => undefined,
};

/** A reader for undici 6, 7 and 8: the last calls the newer callbacks only. */
function handlerOf(reader: ResponseReader): Dispatcher.DispatchHandler {
  return {
    onConnect: (abort) => reader.onConnect(abort),
    onUpgrade: () => reader.onUpgrade(),
    onHeaders: (status, fields) => reader.onHeaders(status, fields),
    onData: (chunk) => reader.onData(chunk),
    onComplete: () => reader.onComplete(),
    onError: (error) => reader.onError(error),
    onRequestStart: (controller) => reader.onConnect((reason) => controller.abort(reason ?? new Error('aborted'))),
    onRequestUpgrade: () => reader.onUpgrade(),
    onResponseStart: (_controller, status, fields) => void reader.onHeaders(status, fields),
    onResponseData: (_controller, chunk) => void reader.onData(chunk),
    onResponseEnd: () => reader.onComplete(),
    onResponseError: (_controller, error) => reader.onError(error),
  };
}
