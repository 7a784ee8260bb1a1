import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MESSAGE } from './visitor.js';

/** A browser that sends one request and reads nothing of its response until it is told to. */
export class StalledVisitor {
  readonly #socket: Socket;
  #received = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
  }

  /** Sends a chat message, or a GET of another path. */
  static async arrive(url: string, path = '/api/a2a', fields = ''): Promise<StalledVisitor> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).pause();
    await once(socket, 'connect');
    const isChat = path === '/api/a2a';
    const head = `${isChat ? 'POST' : 'GET'} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${fields}`;
    const length = `Content-Type: application/json\r\nContent-Length: ${String(MESSAGE.length)}\r\n\r\n${MESSAGE}`;
    socket.write(head + (isChat ? length : '\r\n'));
    return new StalledVisitor(socket);
  }

  /** Reads on, and gives the number of bytes that came before the connection ended. */
  async readOn(): Promise<number> {
    const closed = once(this.#socket, 'close');
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
    });
    this.#socket.resume();
    await closed;
    return this.#received;
  }

  /** Reads a quarter of a megabyte at a time, after each of which something else happens, as long as `until` is not reached. */
  async readSlowly(until: number, meanwhile: () => Promise<unknown>): Promise<number> {
    let read = 0;
    while (this.#received < until && !this.#socket.destroyed) {
      const chunk = this.#socket.read() as Buffer | null;
      if (chunk === null) {
        await once(this.#socket, 'readable');
        continue;
      }
      this.#received += chunk.length;
      read += chunk.length;
      if (read < 262_144) continue;
      read = 0;
      await meanwhile();
    }
    return this.#received;
  }

  leave(): void {
    this.#socket.destroy();
  }
}
