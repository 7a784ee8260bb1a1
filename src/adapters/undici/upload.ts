import type { HeaderFields, HttpBody } from '../../ports/http.js';

const encoder = new TextEncoder();

/** Whose turn it is while a body is sent as it comes. */
export interface UploadTurns {
  /** The browser's: its next chunk is awaited. */
  readonly holdHead: () => void;
  /** The platform's: it has a chunk to take, or everything to answer. */
  readonly expectHead: () => void;
}

/** The body to send; one that streams tells whose turn it is. */
export function upload(body: HttpBody, accept: HeaderFields[string], turns: UploadTurns): HttpBody {
  if (body === null || body instanceof Uint8Array) return body;
  // An open stream keeps the message that began it. undici puts short texts into a block with others, which is cheaper, but keeps the whole block.
  if (typeof body === 'string') return String(accept).includes('text/event-stream') ? encoder.encode(body) : body;
  return {
    [Symbol.asyncIterator]: () => {
      const source = body[Symbol.asyncIterator]();
      return {
        next: async () => {
          turns.holdHead();
          const step = await source.next();
          turns.expectHead();
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
