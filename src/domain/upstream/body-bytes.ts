import { cancel, discard, isStream } from '../shared/body.js';
import type { HttpBody } from '../../ports/http.js';
import { ByteCollector } from '../shared/bytes.js';
import { withTimeout } from '../shared/deadline.js';

/** A body read from its start: all of it, or, if it is too long or broke, the same body from its start again. */
export type ReadBody =
  | { readonly complete: true; readonly bytes: Uint8Array }
  | { readonly complete: false; readonly body: AsyncIterable<Uint8Array> };

/** The start of a body that is not passed on, and a flag if it is complete. */
export interface BodyStart {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/** Reads at most `limitBytes`, plus the rest of the last chunk. */
export async function readAhead(body: HttpBody, limitBytes: number): Promise<ReadBody> {
  if (!isStream(body)) {
    const bytes = storedBytes(body);
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

/** The whole body, or `undefined` if it is longer than `limitBytes` or breaks. */
export async function bodyBytes(body: HttpBody, limitBytes: number): Promise<Uint8Array | undefined> {
  const read = await readAhead(body, limitBytes);
  if (read.complete) return read.bytes;
  discard(read.body);
  return undefined;
}

/** The whole body as UTF-8 text; `undefined` if it is longer than `limitBytes` or breaks. */
export async function bodyText(body: HttpBody, limitBytes: number): Promise<string | undefined> {
  const bytes = await bodyBytes(body, limitBytes);
  return bytes && new TextDecoder().decode(bytes);
}

/** Reads at most `limitBytes`, until `deadline`, then cancels the body so that its connection is free. */
export async function readStart(body: HttpBody, limitBytes: number, deadline: AbortSignal): Promise<BodyStart> {
  if (!isStream(body)) {
    const bytes = storedBytes(body);
    return { bytes: bytes.subarray(0, limitBytes), isWhole: bytes.length <= limitBytes };
  }
  const source = body[Symbol.asyncIterator]();
  const collector = new ByteCollector();
  const toItsEnd = async (): Promise<boolean> => {
    try {
      while (collector.length <= limitBytes && !deadline.aborted) {
        const step = await source.next();
        if (step.done === true) return true;
        collector.push(step.value);
      }
    } catch {
      // The body broke: what arrived before is the result.
    }
    return false;
  };
  const isWhole = await withTimeout(deadline, toItsEnd()).catch(() => false);
  // Not awaited, because a silent source may end with its next chunk only, or never.
  void cancel(source);
  return { bytes: collector.take().subarray(0, limitBytes), isWhole };
}

/** The chunks of a body. A body that is not a stream is one chunk. */
export function chunksOf(body: HttpBody): AsyncIterable<Uint8Array> | readonly Uint8Array[] {
  return isStream(body) ? body : [storedBytes(body)];
}

function storedBytes(body: Uint8Array | string | null): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array());
}

/** Replays what was read already, then the rest. */
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

/** A rest that fails with the same error. */
function broken(error: unknown): AsyncIterator<Uint8Array> {
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors
  return { next: () => Promise.reject(error) };
}
