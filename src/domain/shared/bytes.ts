/** Chunks this long are kept as they are: the cost of the object is small beside the bytes. */
const WORTH_KEEPING = 4_096;
const MAX_BLOCK = 65_536;

/**
 * Assembles a body from its chunks. The memory it holds depends on the bytes, not on the number of chunks: as an object
 * of its own, a one-byte chunk costs about 400 bytes. A body of one chunk is returned uncopied.
 */
export class ByteCollector {
  /** Complete blocks. */
  #blocks: Uint8Array[] = [];
  /** Collects small chunks; grows with the body, so that it is at most as large as what precedes it. */
  #tail: Uint8Array | undefined;
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    const { length } = chunk;
    if (length === 0) return;
    if (this.#length === 0 || isWorthKeeping(chunk)) {
      this.#closeTail();
      this.#blocks.push(chunk);
    } else {
      this.#append(chunk);
    }
    this.#length += length;
  }

  /** Returns everything in one piece and empties the collector. */
  take(): Uint8Array {
    const length = this.#length;
    const blocks = this.takeBlocks();
    const [only] = blocks;
    if (only !== undefined && blocks.length === 1) return only;
    const bytes = new Uint8Array(length);
    let offset = 0;
    for (const block of blocks) {
      bytes.set(block, offset);
      offset += block.length;
    }
    return bytes;
  }

  /** Returns everything in few pieces and empties the collector. */
  takeBlocks(): Uint8Array[] {
    this.#closeTail();
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#length = 0;
    return blocks;
  }

  #append(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0) {
      this.#tail ??= new Uint8Array(Math.min(Math.max(this.#length, rest.length), MAX_BLOCK));
      const part = rest.subarray(0, this.#tail.length - this.#used);
      this.#tail.set(part, this.#used);
      this.#used += part.length;
      if (this.#used === this.#tail.length) this.#closeTail();
      rest = rest.subarray(part.length);
    }
  }

  #closeTail(): void {
    if (this.#tail === undefined) return;
    this.#blocks.push(this.#used === this.#tail.length ? this.#tail : this.#tail.slice(0, this.#used));
    this.#tail = undefined;
    this.#used = 0;
  }
}

/** False for a view of a larger buffer, which would keep the whole buffer alive. */
function isWorthKeeping(chunk: Uint8Array): boolean {
  return chunk.length >= WORTH_KEEPING && chunk.length * 2 >= chunk.buffer.byteLength;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes bytes as text, keeping a byte order mark; `undefined` if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A text without percent-encoding; `undefined` if it is not valid. */
export function uriDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
