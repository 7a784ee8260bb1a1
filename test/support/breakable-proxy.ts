import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Forwards bytes to a local port until `cut` is called. */
export class BreakableProxy {
  readonly origin: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #state: { isDown: boolean };

  private constructor(server: Server, sockets: Set<Socket>, state: { isDown: boolean }) {
    this.#server = server;
    this.#sockets = sockets;
    this.#state = state;
    this.origin = `http://localhost:${String((server.address() as AddressInfo).port)}`;
  }

  static async start(target: string): Promise<BreakableProxy> {
    const sockets = new Set<Socket>();
    const state = { isDown: false };
    const server = createServer((near) => {
      if (state.isDown) {
        near.destroy();
        return;
      }
      const far = connect(Number(new URL(target).port), '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new BreakableProxy(server, sockets, state);
  }

  /** Closes every connection and accepts no new one. */
  cut(): void {
    this.#state.isDown = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  repair(): void {
    this.#state.isDown = false;
  }

  async close(): Promise<void> {
    this.cut();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}
