import type { RequestHandler } from 'express';

const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Rejects requests under another host name. The demo only listens on this machine, but browsers on it also run pages of
 * other sites, whose host name may resolve to this machine (DNS rebinding). A site with its own name sets `publicUrl`
 * and `allowedHosts` instead.
 */
export const loopbackNamesOnly: RequestHandler = (request, response, next) => {
  if (LOOPBACK.test(request.headers.host ?? '')) next();
  else response.status(421).type('text').send('This demo is served as localhost, and by no other name.\n');
};
