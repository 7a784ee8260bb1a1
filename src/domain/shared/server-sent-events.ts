/** Matches the end of an event: two line ends, each of which is LF, CR or CRLF. */
export const EVENT_END: RegExp = /(?:\r\n|\n|\r(?!\n)){2}/;

/** The data of one event (HTML, "Interpreting an event stream"); `undefined` if it has none, such as a comment. */
export function eventData(event: string): string | undefined {
  const lines = event.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? undefined : lines.map((line) => line.slice(5)).join('\n');
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Tracks if the bytes so far end between two events (HTML, "Parsing an event stream": lines end with LF, CR or CRLF, and an empty line ends an event).
 */
export class EventEnd {
  #isComplete = true;
  #lineEmpty = true;
  #afterCr = false;

  get isComplete(): boolean {
    return this.#isComplete;
  }

  push(chunk: Uint8Array): void {
    // Four bytes are enough: they contain two line ends, or a byte that is not part of one.
    for (let index = Math.max(0, chunk.length - 4); index < chunk.length; index += 1)
      this.#byte(chunk[index] as number);
  }

  #byte(byte: number): void {
    if (byte === LF && this.#afterCr) {
      // The second half of CRLF: the line ended at its CR.
      this.#afterCr = false;
      return;
    }
    this.#afterCr = byte === CR;
    if (byte !== LF && byte !== CR) {
      this.#lineEmpty = false;
      this.#isComplete = false;
      return;
    }
    this.#isComplete = this.#lineEmpty;
    this.#lineEmpty = true;
  }
}
