import type { Socket } from 'node:net';

/** As far as the status of a head: `HTTP/1.1 100`. */
const STATUS_END = 12;
const HEAD_END = '\r\n\r\n';
const NOTHING = Buffer.alloc(0);
// Longer ones go to the parser, which refuses them.
const MAX_BYTES = 32_768;

/**
 * Leaves out what a platform says with 100 (Continue) though nobody asked: a client must be able to read it, and may ignore it (RFC 9110 §15.2).
 * undici ends the connection instead, after the platform has the message. Sits between the socket and undici, and looks at the first bytes of each response only.
 */
export class UnsolicitedContinue {
  readonly #read: Socket['read'];
  /** What came of a head so far; undefined when nothing is to be looked at until the next request. */
  #head: Buffer | undefined;

  constructor(socket: Socket) {
    this.#read = socket.read.bind(socket);
    socket.read = this.#next;
  }

  /** A response comes next. */
  expectHead(): void {
    this.#head = NOTHING;
  }

  readonly #next = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = this.#read(size) as Buffer | null;
      if (chunk === null || this.#head === undefined) return chunk;
      // Most heads come whole and are no interim ones, as their tenth byte tells.
      if (this.#head === NOTHING && chunk.length >= STATUS_END && chunk[9] !== 0x31) {
        this.#head = undefined;
        return chunk;
      }
      const rest = this.#without(this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]));
      if (rest !== undefined) return rest;
    }
  };

  /** What follows the interim responses; undefined when more has to come first. */
  #without(bytes: Buffer): Buffer | undefined {
    let rest = bytes;
    for (;;) {
      const end = isContinue(rest) ? rest.indexOf(HEAD_END) : -1;
      const isShort = rest.length < STATUS_END || isContinue(rest);
      if (end < 0 && isShort && rest.length < MAX_BYTES) {
        this.#head = rest;
        return undefined;
      }
      if (end < 0) {
        this.#head = undefined;
        return rest;
      }
      rest = rest.subarray(end + HEAD_END.length);
    }
  }
}

function isContinue(head: Buffer): boolean {
  // Of all others the tenth byte tells.
  return (
    head.length >= STATUS_END && head[9] === 0x31 && /^HTTP\/1\.\d 100$/.test(head.toString('latin1', 0, STATUS_END))
  );
}
