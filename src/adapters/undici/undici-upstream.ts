import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { Connections } from './connections.js';
import { ResponseReader } from './response-reader.js';

/** Connection settings; everything else comes with each request. */
export interface UndiciUpstreamOptions {
  /** Milliseconds to wait for a connection. */
  readonly connectMs: number;
}

/**
 * Calls the platform through undici's dispatcher, one set of connections per origin.
 * The dispatcher is the cheapest client there is in Node, and has no redirects, retries or decoding to switch off (performance.md §2.1).
 */
export class UndiciUpstream implements HttpUpstream {
  readonly #options: UndiciUpstreamOptions;
  readonly #connections = new Map<string, Connections>();

  constructor(options: UndiciUpstreamOptions) {
    this.#options = options;
  }

  send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    return new Promise((resolve) => {
      if (request.signal.aborted) {
        resolve({ kind: 'failure', reason: 'aborted', detail: 'the browser left before the request was sent' });
        return;
      }
      const connections = this.#connectionsTo(request.origin);
      const client = connections.take();
      const reader = new ResponseReader(request, resolve, (complete) => {
        if (complete) connections.release(client);
        else connections.discard(client);
      });
      try {
        client.dispatch(
          {
            path: request.path,
            method: request.method as 'POST',
            headers: request.headers as Record<string, string | string[]>,
            body: request.body as Uint8Array,
            headersTimeout: request.headersMs,
            // Event streams may be silent for ever, and only the head of the answer tells what it is: ResponseReader counts.
            bodyTimeout: 0,
          },
          reader,
        );
      } catch (error) {
        reader.onResponseError(undefined, error as Error);
      }
    });
  }

  async close(): Promise<void> {
    const all = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(all.map((connections) => connections.close()));
  }

  #connectionsTo(origin: string): Connections {
    let connections = this.#connections.get(origin);
    if (connections === undefined) {
      connections = new Connections(origin, this.#options.connectMs);
      this.#connections.set(origin, connections);
    }
    return connections;
  }
}
