import { createA2AProxyHandlerWithServiceAuth, createServiceProxyHandler, createSurfaceHandler } from 'agent-bff/next';
import { getRequestListener } from '@hono/node-server';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';

/** The handlers of `agent-bff/next` in route files with catch-all parameters. */
export const nextStyleSite: Framework = {
  name: 'route files of Next',
  parsesJson: false,
  isWebStandard: true,
  resolvesPaths: true,
  start: ({ toolkit, auth = nobody, cache }) => {
    const routes = [
      { mount: '/api/a2a', handle: createA2AProxyHandlerWithServiceAuth({ toolkit, strategy: 'demo' }) },
      { mount: '/api/service-surfaces', handle: createSurfaceHandler({ toolkit, auth, cache }) },
      { mount: '/api/service', handle: createServiceProxyHandler({ toolkit, auth }) },
    ];
    const serve = async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      const route = routes.find(({ mount }) => pathname === mount || pathname.startsWith(`${mount}/`));
      if (route === undefined) return new Response('host');
      const path = pathname.slice(route.mount.length + 1).replace(/\/$/, '');
      // Next passes decoded segments.
      const segments = path === '' ? undefined : path.split('/').map(lenientlyDecoded);
      return route.handle(request, { params: Promise.resolve({ path: segments }) });
    };
    return listeningSite(
      getRequestListener(serve, { overrideGlobalObjects: false, autoCleanupIncoming: false }) as never,
    );
  },
};

function lenientlyDecoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
