import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { listening } from '../../support/listening.mjs';
import type { Site } from '../framework.js';

/** Serves on a free port of this machine. */
export async function listeningSite(listener: RequestListener): Promise<Site> {
  const server = createServer(listener);
  return {
    url: await listening(server),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
