import { Pool } from 'undici';
import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { ResponseReader } from './response-reader.js';

/** Connection settings; everything else comes with each request. */
export interface UndiciUpstreamOptions {
  /** Milliseconds to wait for a connection. */
  readonly connectMs: number;
}

/**
 * Calls the platform through undici's dispatcher, one pool of connections per origin.
 * The dispatcher is the cheapest client there is in Node, and has no redirects, retries or decoding to switch off (performance.md §2.1).
 */
export class UndiciUpstream implements HttpUpstream {
  readonly #options: UndiciUpstreamOptions;
  readonly #pools = new Map<string, Pool>();

  constructor(options: UndiciUpstreamOptions) {
    this.#options = options;
  }

  send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    return new Promise((resolve) => {
      const reader = new ResponseReader(request, resolve);
      if (request.signal.aborted) {
        reader.onResponseError(undefined, new Error('aborted before it was sent'));
        return;
      }
      try {
        this.#pool(request.origin).dispatch(
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
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.close()));
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        // Each open stream holds a connection, so a limit here would be a limit on visitors.
        connections: null,
        pipelining: 1,
        connect: { timeout: this.#options.connectMs },
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }
}
