import type { Dispatcher } from 'undici';
import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { type Connection, Connections, type ExchangeEnd, type UndiciParts, undiciParts } from './connection.js';
import { exchange, ResponseReader } from './response-reader.js';
import { HIGH_WATER_BYTES } from './upstream-body.js';

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
      exchange(request, new ConnectionReader(request, connections, resolve));
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

/** An exchange on a connection of its own, which is paused while the reader is slow. */
class ConnectionReader extends ResponseReader {
  readonly #connections: Connections;
  readonly #connection: Connection;
  #isOver = false;
  paused = false;

  constructor(request: UpstreamRequest, connections: Connections, resolve: (outcome: UpstreamOutcome) => void) {
    super(request, resolve);
    this.#connections = connections;
    this.#connection = connections.acquire();
  }

  dispatch(options: Dispatcher.DispatchOptions): void {
    this.#connection.client.dispatch(options, this);
  }

  hold(bytes: number): void {
    const isFull = bytes >= HIGH_WATER_BYTES;
    if (isFull === this.paused || this.#isOver) return;
    this.paused = isFull;
    if (isFull) this.#connection.pause();
    else this.#connection.resume();
  }

  protected begin(): void {
    this.#connection.begin();
  }

  protected isStale(): boolean {
    return this.#connection.isStale;
  }

  protected fault(): Error | undefined {
    return this.#connection.fault;
  }

  protected release(end: ExchangeEnd): void {
    this.#isOver = true;
    if (this.paused) this.#connection.unpause();
    this.paused = false;
    this.#connections.release(this.#connection, end);
  }
}
