import type { Dispatcher } from 'undici';
import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { exchange, ResponseReader } from './response-reader.js';
import { describeError } from './upstream-failure.js';

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
 * what a slow reader has not taken is held here, and the response that holds most is ended when that is too much.
 */
export class DispatcherUpstream implements HttpUpstream {
  readonly #dispatcher: () => Promise<DispatcherLike>;
  /** In words, for the log. */
  readonly #name: string;
  readonly #held = new Map<DispatcherReader, number>();
  #heldBytes = 0;

  constructor(dispatcher: () => Promise<DispatcherLike>, name: string) {
    this.#dispatcher = dispatcher;
    this.#name = name;
  }

  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    let dispatcher: DispatcherLike;
    try {
      dispatcher = await this.#dispatcher();
    } catch (error) {
      return failure('unreachable', (error as Error).message);
    }
    if (request.signal.aborted) return failure('aborted', 'the browser left before the request was sent');
    return new Promise((resolve) => {
      const reader = new DispatcherReader(request, resolve, {
        dispatch: (options) => dispatcher.dispatch({ ...options, origin: request.origin }, reader),
        hold: (bytes) => this.#hold(reader, bytes),
        name: this.#name,
      });
      // A dispatcher may queue requests, and a proxy may never answer.
      reader.resumeHeadTimer();
      exchange(request, reader);
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #hold(reader: DispatcherReader, bytes: number): void {
    this.#heldBytes += bytes - (this.#held.get(reader) ?? 0);
    if (bytes === 0) this.#held.delete(reader);
    else this.#held.set(reader, bytes);
    if (this.#heldBytes <= MAX_HELD_BYTES) return;
    let [largest, most] = [reader, 0];
    for (const [one, held] of this.#held) if (held > most) [largest, most] = [one, held];
    largest.breakOff();
  }
}

function failure(reason: 'unreachable' | 'aborted', log: string): UpstreamOutcome {
  return { kind: 'failure', reason, log, sent: 'nothing' };
}

/** The upstream of a reader, as the reader sees it. */
interface Way {
  readonly dispatch: (options: Dispatcher.DispatchOptions) => unknown;
  readonly hold: (bytes: number) => void;
  readonly name: string;
}

type Controller = Pick<Dispatcher.DispatchController, 'abort'>;
type Fields = Record<string, string | string[] | undefined>;

/** An exchange through a foreign dispatcher: undici 6 calls the methods of its base, undici 7 and 8 these. */
class DispatcherReader extends ResponseReader {
  readonly paused = false;
  readonly #way: Way;

  constructor(request: UpstreamRequest, resolve: (outcome: UpstreamOutcome) => void, way: Way) {
    super(request, resolve);
    this.#way = way;
  }

  onRequestStart(controller: Controller): void {
    this.onConnect((reason) => controller.abort(reason ?? new Error('aborted')));
  }

  onRequestUpgrade(): void {
    this.onUpgrade();
  }

  onResponseStart(_controller: Controller, status: number, fields: Fields): void {
    // An interceptor may pass the same object to others.
    this.onHead(status, { ...fields });
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.onData(chunk);
  }

  onResponseEnd(): void {
    this.onComplete();
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.onError(error);
  }

  dispatch(options: Dispatcher.DispatchOptions): void {
    this.#way.dispatch(options);
  }

  hold(bytes: number): void {
    this.#way.hold(bytes);
  }

  breakOff(): void {
    this.break(new Error('the browser reads too slowly, and a dispatcher cannot be paused'));
  }

  protected begin(): void {
    // A foreign connection has no facts to read.
  }

  protected isStale(): boolean {
    return false;
  }

  protected fault(): undefined {
    return undefined;
  }

  protected release(): void {
    // The dispatcher has its own connections.
  }

  protected override describe(error: Error): string {
    return `${describeError(error)}; sent through ${this.#way.name}, so a proxy there may be the cause`;
  }
}
