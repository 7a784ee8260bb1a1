import type { HeaderFields, HttpBody } from '../../ports/http.js';

const encoder = new TextEncoder();
/** A body up to here is little beside what an open stream costs anyway, and is sent in the cheapest way. */
const LITTLE_BYTES = 4_096;

/** Whose turn it is while a body is sent as it comes. */
export interface UploadTurns {
  /** The browser's: its next chunk is awaited. */
  readonly pauseHeadTimer: () => void;
  /** The platform's: it has a chunk to take, or everything to answer. */
  readonly resumeHeadTimer: () => void;
}

/** The body to send; one that streams tells whose turn it is. */
export function upload(body: HttpBody, accept: HeaderFields[string], turns: UploadTurns): HttpBody {
  if (body === null) return body;
  if (body instanceof Uint8Array) return body.length > LITTLE_BYTES ? new PassingBytes(body) : body;
  // An open stream keeps the message that began it. undici puts short texts into a block with others, which is cheaper, but keeps the whole block.
  if (typeof body === 'string') return String(accept).includes('text/event-stream') ? encoder.encode(body) : body;
  return {
    [Symbol.asyncIterator]: () => {
      const source = body[Symbol.asyncIterator]();
      return {
        next: async () => {
          turns.pauseHeadTimer();
          const step = await source.next();
          turns.resumeHeadTimer();
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
 * Bytes that are let go of as they are sent. undici holds on to the body of a request, and so does the function it gives out to abort it, for as
 * long as the response lasts; who begins ten thousand streams with two megabytes each must not fill the memory with them.
 */
export class PassingBytes implements AsyncIterableIterator<Uint8Array> {
  readonly length: number;
  #bytes: Uint8Array | undefined;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.#bytes = bytes;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const bytes = this.#bytes;
    this.#bytes = undefined;
    return Promise.resolve(bytes === undefined ? { done: true, value: undefined } : { done: false, value: bytes });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#bytes = undefined;
    return this.next();
  }
}
