import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MESSAGE } from './visitor.js';

/** A browser that sends one request and does not read the response until the test calls a read method. */
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

  /** Resumes reading. Returns the number of bytes received before the connection ended. */
  async readOn(): Promise<number> {
    // A reset ends the connection too; only some versions of Node report it to the reader.
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
    });
    this.#socket.resume();
    await closed;
    return this.#received;
  }

  /** Reads `total` bytes evenly over a span of milliseconds, while other work runs. Returns the number of bytes received. */
  async readSlowly(total: number, ms: number, meanwhile: () => Promise<unknown>): Promise<number> {
    const began = performance.now();
    while (this.#received < total && !this.#socket.destroyed) {
      const chunk = this.#socket.read() as Buffer | null;
      this.#received += chunk?.length ?? 0;
      if (chunk === null) await this.#more();
      while (performance.now() - began < (this.#received / total) * ms) await meanwhile();
    }
    return this.#received;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        this.#socket.off('readable', goOn).off('close', goOn);
        resolve();
      };
      this.#socket.on('readable', goOn).on('close', goOn);
    });
  }

  leave(): void {
    this.#socket.destroy();
  }
}
