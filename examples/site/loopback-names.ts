import type { RequestHandler } from 'express';

const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Refuses requests that name another host. The demo listens for this machine alone, but the browser on it also runs pages of others,
 * whose own name may lead here (DNS rebinding). A site with a name of its own sets `publicUrl` and `allowedHosts` instead.
 */
export const loopbackNamesOnly: RequestHandler = (request, response, next) => {
  if (LOOPBACK.test(request.headers.host ?? '')) next();
  else response.status(421).type('text').send('This demo is served as localhost, and by no other name.\n');
};
