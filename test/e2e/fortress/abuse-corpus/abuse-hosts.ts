import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createA2AProxyHandlerWithServiceAuth, createServiceProxyHandler, createSurfaceHandler } from 'agent-bff/next';
import { createWebHandler } from 'agent-bff/web';
import { type Framework, nobody, type SiteOptions } from '../../../site/framework.js';
import { listeningSite } from '../../../site/frameworks/listening-site.js';

type Handle = (request: Request) => Promise<Response>;

/** A server of the web standard over `node:http`, no cleverer than it has to be. */
function webServer(name: string, handlerOf: (options: SiteOptions) => Handle): Framework {
  return {
    name,
    parsesJson: false,
    isWebStandard: true,
    resolvesPaths: true,
    start: (options) => {
      const handle = handlerOf(options);
      return listeningSite((incoming, response) => {
        answer(incoming, response, handle).catch(() => response.destroy());
      });
    },
  };
}

async function answer(incoming: IncomingMessage, response: ServerResponse, handle: Handle): Promise<void> {
  const request = toRequest(incoming, response);
  if (request === undefined) {
    response.writeHead(400).end();
    return;
  }
  const { status, headers, body } = await handle(request);
  const fields: Record<string, string | string[]> = Object.fromEntries(headers);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) fields['set-cookie'] = cookies;
  response.writeHead(status, fields);
  if (body === null) response.end();
  else
    Readable.fromWeb(body as never)
      .on('error', () => response.destroy())
      .pipe(response);
}

/** `undefined` when the message is none that a `Request` can be. */
function toRequest(incoming: IncomingMessage, response: ServerResponse): Request | undefined {
  const { method = '', url = '', headers, rawHeaders } = incoming;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const fields = new Headers();
  try {
    for (let index = 0; index < rawHeaders.length; index += 2)
      fields.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const framed = headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
    return new Request(url.startsWith('/') ? `http://${headers.host ?? ''}${url}` : url, {
      method,
      headers: fields,
      signal: gone.signal,
      ...(hasBody && framed ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
    } as RequestInit);
  } catch {
    return undefined;
  }
}

/** `createWebHandler`, as Hono, h3 and their like call it. */
export const webSite: Framework = webServer('a web server', ({ toolkit, auth = nobody, cache }) =>
  createWebHandler({ toolkit, surfaces: { auth, cache }, service: { auth } }),
);

/** The handlers of `agent-bff/next` in route files with catch-all parameters. */
export const nextStyleSite: Framework = webServer('route files of Next', ({ toolkit, auth = nobody, cache }) => {
  const routes = [
    { mount: '/api/a2a', handle: createA2AProxyHandlerWithServiceAuth({ toolkit, strategy: 'demo' }) },
    { mount: '/api/service-surfaces', handle: createSurfaceHandler({ toolkit, auth, cache }) },
    { mount: '/api/service', handle: createServiceProxyHandler({ toolkit, auth }) },
  ];
  return async (request) => {
    const { pathname } = new URL(request.url);
    const route = routes.find(({ mount }) => pathname === mount || pathname.startsWith(`${mount}/`));
    if (route === undefined) return new Response('host');
    const path = pathname.slice(route.mount.length + 1).replace(/\/$/, '');
    // Next gives the segments decoded.
    const segments = path === '' ? undefined : path.split('/').map(lenientlyDecoded);
    return route.handle(request, { params: Promise.resolve({ path: segments }) });
  };
});

function lenientlyDecoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
