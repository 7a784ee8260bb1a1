import type { IncomingMessage } from 'node:http';
import { hasBody, maybeTruncated, refuseRest } from './http2-exchange.js';

type Step = IteratorResult<Uint8Array>;

const DONE: Step = { done: true, value: undefined };

/** Requests whose bodies were taken whole: Node calls them complete only when it has parsed on. */
const taken = new WeakSet<IncomingMessage>();

/** True while the end of a request's body has not arrived. */
export function isComing(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request) && !taken.has(request);
}

/**
 * The body of a request as it comes.
 *
 * A reader that stops early does not destroy the socket, or the browser would never see why. The rest is drained, as some browsers read no
 * response before they have sent everything; `unread-body.ts` says for how long.
 */
export class RequestBody implements AsyncIterableIterator<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #chunks = new ChunkCount();
  #steps: AsyncIterator<Uint8Array> | undefined;
  #isOver = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  /**
   * All of it, when it is there already: a short message mostly comes together with its head. Who takes this reads nothing else, and pays
   * for no events, promises and deadlines.
   */
  whole(): Uint8Array | undefined {
    const request = this.#request;
    const { readableLength: length, headers } = request;
    const isThere = length > 0 && Number(headers['content-length']) === length;
    if (!isThere || this.#isOver || this.#steps !== undefined) return undefined;
    this.#isOver = true;
    taken.add(request);
    const bytes = request.read() as Uint8Array;
    // Node ends a request for its host only when somebody reads on.
    request.resume();
    return bytes;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    if (this.#isOver) return DONE;
    this.#steps ??= this.#request.iterator({ destroyOnReturn: false });
    const step = (await this.#steps.next()) as Step;
    if (step.done === true ? !maybeTruncated(this.#request) : !this.#chunks.add(step.value)) return step;
    void this.return();
    throw new Error(step.done === true ? 'the request is incomplete' : 'the chunks are too small');
  }

  return(): Promise<Step> {
    if (!this.#isOver) {
      this.#isOver = true;
      void this.#steps?.return?.();
      drain(this.#request, this.#chunks);
    }
    return Promise.resolve(DONE);
  }
}

const wasteful = new WeakSet<IncomingMessage>();

/** True for a request whose body is not read any more, because its chunks are too small. */
export function isWasteful(request: IncomingMessage): boolean {
  return wasteful.has(request);
}

/** Reads what is left of a body and drops it; stops where its chunks are too small. */
export function drain(request: IncomingMessage, chunks: ChunkCount = new ChunkCount()): void {
  if (chunks.areTooSmall) {
    wasteful.add(request);
    request.pause();
  } else {
    request.on('data', (chunk: Uint8Array) => {
      if (chunks.add(chunk)) refuseRest(request);
    });
    request.resume();
  }
}

/** Chunks of any size that a body may have, beside one for each 16 bytes. */
const FREE_CHUNKS = 500;
const MIN_BYTES_PER_CHUNK = 16;

/**
 * Knows bodies that come in chunks much smaller than anybody needs. Node tells of each by itself, and each costs the same whatever its length:
 * in chunks of one byte, two megabytes take seconds in which nobody else is served.
 */
class ChunkCount {
  areTooSmall: boolean = false;
  #bytes = 0;
  #chunks = 0;

  /** Counts a chunk; true when they are too small. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    this.#chunks += 1;
    return (this.areTooSmall = this.#chunks > FREE_CHUNKS + this.#bytes / MIN_BYTES_PER_CHUNK);
  }
}
