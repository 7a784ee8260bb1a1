import { createServer, type RequestListener } from 'node:http';
import { closeAll, listening } from '../../support/listening.mjs';
import type { HostMiddleware, Site } from '../framework.js';

/** Serves on a free port of this machine, behind a middleware if there is one. */
export async function listeningSite(listener: RequestListener, before?: HostMiddleware): Promise<Site> {
  const server = createServer((request, response) => {
    const serve = (): void => {
      listener(request, response);
    };
    if (before === undefined) serve();
    else before(request, response, serve);
  });
  return { url: await listening(server), close: () => closeAll(server) };
}
