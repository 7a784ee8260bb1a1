import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that is already listening; its handler is attached later, when its port is known. */
export interface HttpListener {
  readonly server: Server;
  readonly port: number;
  /** Closes every connection, including open streams, and resolves when the port is free again. */
  close(): Promise<void>;
}

/** Listens on `port` of `host`; port 0 is any free one. Rejects with Node's own error on failure. */
export async function openListener(port: number, host: string): Promise<HttpListener> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close: async () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // close() alone would wait for the streams, and a chat stream can last for minutes.
        server.closeAllConnections();
      }),
  };
}
