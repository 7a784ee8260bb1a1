import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { Connections } from './connections.js';
import { ResponseReader } from './response-reader.js';
import { PassingBytes, upload } from './upload.js';

/** Connection settings; everything else comes with each request. */
export interface UndiciUpstreamOptions {
  /** Milliseconds to wait for a connection; 0 waits for ever. */
  readonly connectMs: number;
}

/**
 * Calls the platform through undici's dispatcher, one set of connections per origin.
 * The dispatcher is the cheapest client there is in Node, and has no redirects, retries or decoding to switch off (performance.md §2.1).
 */
export class UndiciUpstream implements HttpUpstream {
  readonly #options: UndiciUpstreamOptions;
  readonly #connections = new Map<string, Connections>();
  #isRetired = false;
  #isEnded = false;

  constructor(options: UndiciUpstreamOptions) {
    this.#options = options;
  }

  send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    return new Promise((resolve) => {
      if (this.#isEnded || request.signal.aborted) {
        const detail = this.#isEnded ? 'the connections are closed' : 'the browser left before the request was sent';
        resolve({ kind: 'failure', reason: 'aborted', detail, sent: 'nothing' });
        return;
      }
      exchange(request, new ResponseReader(request, this.#connectionsTo(request.origin), resolve));
    });
  }

  async close(options?: { readonly graceMs: number }): Promise<void> {
    this.#isRetired = true;
    if (options?.graceMs === 0) this.#end();
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
    for (const connections of this.#connections.values()) connections.destroy(shuttingDown());
  }

  #connectionsTo(origin: string): Connections {
    let connections = this.#connections.get(origin);
    if (connections === undefined) {
      connections = new Connections(origin, this.#options.connectMs);
      if (this.#isRetired) void connections.drain();
      this.#connections.set(origin, connections);
    }
    return connections;
  }
}

/** Apart from whatever lives as long as the answer: nothing here may keep the body of the request. */
function exchange({ path, method, headers, body }: UpstreamRequest, reader: ResponseReader): void {
  const fields = { ...headers };
  // Nothing is decoded here, and some answers are read (reliability-security.md M11).
  fields['accept-encoding'] ??= 'identity';
  const turns = { pauseHeadTimer: () => reader.pauseHeadTimer(), resumeHeadTimer: () => reader.resumeHeadTimer() };
  const sent = upload(body, headers['accept'], turns);
  // undici cannot see its length, and not every platform reads chunks.
  if (sent instanceof PassingBytes) fields['content-length'] = String(sent.length);
  try {
    reader.dispatch({
      path,
      method: method as 'POST',
      headers: fields as Record<string, string | string[]>,
      body: sent as Uint8Array,
      // ResponseReader counts: an upload takes its time, and only the head of an answer tells that it is a stream of events, which may be silent.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  } catch (error) {
    reader.onResponseError(undefined, error as Error);
  }
}

/** Its name says that this side ended the request, not the platform. */
function shuttingDown(): Error {
  return Object.assign(new Error('the server is shutting down'), { name: 'AbortError' });
}
