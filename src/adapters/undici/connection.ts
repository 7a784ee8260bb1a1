import type { Socket } from 'node:net';
import type { buildConnector, Client } from 'undici';
import UndiciClient from 'undici/lib/dispatcher/client.js';
import { UnsolicitedContinue } from './unsolicited-continue.js';

// Node's own limit is 16 KB and can be raised from outside; ours is the same everywhere (reliability-security.md §4.2).
const MAX_HEAD_BYTES = 32_768;

/** The place of a connection that is not idle. */
export const BUSY = -1;

/** One connection to the platform, and what undici does not tell of it. */
export class Connection {
  readonly client: Client;
  /** Where it stands among the idle ones, so that one that times out is taken out at once. */
  place: number = BUSY;
  #socket: Socket | undefined;
  #filter: UnsolicitedContinue | undefined;
  #exchanges = 0;
  #readBefore = 0;
  #fault: Error | undefined;

  constructor(origin: URL, connect: buildConnector.connector) {
    this.client = new UndiciClient(origin, {
      pipelining: 1,
      maxHeaderSize: MAX_HEAD_BYTES,
      connect: (options, callback) => {
        connect(options, (...result) => {
          if (result[0] === null) this.#opened(result[1]);
          callback(...result);
        });
      },
    });
  }

  /** The first byte of a request is about to be sent. */
  begin(): void {
    this.#readBefore = this.#socket?.bytesRead ?? 0;
    this.#filter?.expectHead();
  }

  /** An exchange is complete, and the next one may follow on the same socket. */
  finish(): void {
    this.#exchanges += 1;
  }

  /** Whether it served before and has given no byte since: the other side may have closed it while the request was on its way. */
  get isStale(): boolean {
    return this.#exchanges > 0 && this.#socket?.bytesRead === this.#readBefore;
  }

  /** What broke the socket. undici takes a reset for the end of an answer that only the end of its connection ends. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Ends it at once; what runs on it fails with this error. */
  destroy(error: Error | null = null): void {
    this.client.destroy(error).catch(() => undefined);
  }

  #opened(socket: Socket): void {
    this.#socket = socket;
    this.#filter = new UnsolicitedContinue(socket);
    this.#exchanges = 0;
    this.#fault = undefined;
    // Before undici's own listener, which may end the answer.
    socket.on('error', (error) => {
      this.#fault = error;
    });
  }
}
