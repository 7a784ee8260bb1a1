import type { HeaderFields } from '../../ports/http.js';

/** Looks at an answer that only the end of its connection ends, and tells whether it can have ended there (RFC 9112 §6.3, rule 8). */
export interface Framing {
  push(chunk: Uint8Array): void;
  readonly isComplete: boolean;
}

/** How the end of an answer is known. */
export type AnswerEnd =
  /** By its length, or its last chunk. */
  | { readonly kind: 'framed' }
  /** By what is in it. */
  | { readonly kind: 'checked'; readonly check: Framing }
  /** Not at all: an answer that was cut looks like a whole one. */
  | { readonly kind: 'unknown' };

export function responseFraming(method: string, status: number, headers: HeaderFields): AnswerEnd {
  const isFramed = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const isEmpty = method === 'HEAD' || status === 204 || status === 304;
  if (isFramed || isEmpty) return { kind: 'framed' };
  const coding = headers['content-encoding'];
  // Compressed bytes tell nothing of the text; their reader misses their own end when they were cut.
  if (coding !== undefined && coding !== 'identity') return { kind: 'unknown' };
  if (isEventStream(headers)) return { kind: 'checked', check: new EventEnd() };
  return isJson(headers) ? { kind: 'checked', check: new JsonEnd() } : { kind: 'unknown' };
}

export function isEventStream(headers: HeaderFields): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(typeOf(headers));
}

function isJson(headers: HeaderFields): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(typeOf(headers));
}

function typeOf(headers: HeaderFields): string {
  const type = headers['content-type'];
  return typeof type === 'string' ? type : '';
}

const TAIL_BYTES = 4;

/** A stream of events ends with an empty line, or has not begun. */
class EventEnd implements Framing {
  #tail: Uint8Array = new Uint8Array();

  push(chunk: Uint8Array): void {
    this.#tail =
      chunk.length >= TAIL_BYTES
        ? chunk.slice(-TAIL_BYTES)
        : new Uint8Array([...this.#tail, ...chunk]).slice(-TAIL_BYTES);
  }

  get isComplete(): boolean {
    return this.#tail.length === 0 || /(?:\n\n|\r\r\n?|\n\r\n?)$/.test(String.fromCharCode(...this.#tail));
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** A JSON text ends when all its brackets and quotes are closed. Whether it is valid is not asked. */
class JsonEnd implements Framing {
  #depth = 0;
  #inText = false;
  #isEscaped = false;

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === QUOTE) this.#inText = !this.#inText;
      else if (this.#inText) this.#isEscaped = byte === BACKSLASH;
      else if (OPENING.has(byte)) this.#depth += 1;
      else if (CLOSING.has(byte)) this.#depth -= 1;
    }
  }

  get isComplete(): boolean {
    return this.#depth === 0 && !this.#inText;
  }
}
