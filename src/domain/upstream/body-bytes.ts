import type { HttpBody } from '../../ports/http.js';
import { ByteCollector } from '../shared/byte-collector.js';
import { isStream } from './body-kind.js';
import { discardBody } from './body-text.js';

/** A body read from its start: all of it, or, when it is too long or broke, the same body as if nobody had read yet. */
export type ReadBody =
  | { readonly complete: true; readonly bytes: Uint8Array }
  | { readonly complete: false; readonly body: AsyncIterable<Uint8Array> };

/** Reads at most `limitBytes` and what comes with them. */
export async function readAhead(body: HttpBody, limitBytes: number): Promise<ReadBody> {
  if (!isStream(body)) {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array());
    return bytes.length > limitBytes
      ? { complete: false, body: new ReplayedBody([bytes], undefined) }
      : { complete: true, bytes };
  }
  const source = body[Symbol.asyncIterator]();
  const collector = new ByteCollector();
  try {
    for (;;) {
      const step = await source.next();
      if (step.done === true) break;
      collector.push(step.value);
      if (collector.length > limitBytes) {
        return { complete: false, body: new ReplayedBody(collector.takeBlocks(), source) };
      }
    }
  } catch (error) {
    return { complete: false, body: new ReplayedBody(collector.takeBlocks(), broken(error)) };
  }
  return { complete: true, bytes: collector.take() };
}

/** The whole body, or `undefined` when it is longer than `limitBytes` or breaks. */
export async function bodyBytes(body: HttpBody, limitBytes: number): Promise<Uint8Array | undefined> {
  const read = await readAhead(body, limitBytes);
  if (read.complete) return read.bytes;
  await discardBody(read.body);
  return undefined;
}

/** Gives what was read already, then the rest. */
class ReplayedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #read: Uint8Array[];
  readonly #rest: AsyncIterator<Uint8Array> | undefined;

  constructor(read: Uint8Array[], rest: AsyncIterator<Uint8Array> | undefined) {
    this.#read = read;
    this.#rest = rest;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#read.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    return this.#rest?.next() ?? Promise.resolve({ done: true, value: undefined });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#read.length = 0;
    await this.#rest?.return?.();
    return { done: true, value: undefined };
  }
}

/** A rest that breaks again where it broke. */
function broken(error: unknown): AsyncIterator<Uint8Array> {
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors
  return { next: () => Promise.reject(error) };
}
