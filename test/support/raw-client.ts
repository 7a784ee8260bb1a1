import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A raw connection of a browser. It sends exactly the bytes that the test writes. */
export class RawClient {
  readonly socket: Socket;
  #received = '';
  #onData: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#onData?.();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.#onData?.());
  }

  /** Half open: keeps sending after the server has ended its side. */
  static async connect(url: string, { allowHalfOpen = false } = {}): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** Resolves when the operating system has accepted the bytes, so a server that stops reading blocks the test. */
  async send(bytes: string | Uint8Array): Promise<void> {
    if (this.socket.closed || this.socket.write(bytes)) return;
    await new Promise<void>((resolve) => {
      this.socket.once('drain', resolve).once('close', () => {
        resolve();
      });
    });
  }

  /** Everything received, once it contains `text` this many times. */
  async until(text: string, times = 1): Promise<string> {
    const isThere = (): boolean =>
      times === 1 ? this.#received.includes(text) : this.#received.split(text).length > times;
    while (!isThere()) {
      if (this.socket.closed)
        throw new Error(`the connection ended without ${JSON.stringify(text)}: ${this.#received}`);
      await new Promise<void>((resolve) => {
        this.#onData = resolve;
      });
    }
    return this.#received;
  }

  /** Everything received, once the server has closed the connection. */
  async ending(): Promise<string> {
    while (!this.socket.closed) {
      await new Promise<void>((resolve) => {
        this.#onData = resolve;
      });
    }
    return this.#received;
  }

  close(): void {
    this.socket.destroy();
  }
}
