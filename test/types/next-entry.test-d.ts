import type { SessionTokenSource, Toolkit } from 'agent-bff';
import {
  createA2AProxyHandler,
  createA2AProxyHandlerWithServiceAuth,
  createGetHeadersForSession,
  createServiceProxyHandler,
  createSurfaceHandler,
  createSurfaceHandlerWithServiceAuth,
  handleA2AConfigWebGET,
  handleA2AWebPOST,
} from 'agent-bff/next';
import { describe, expectTypeOf, it } from 'vitest';

declare const source: SessionTokenSource;
declare const toolkit: Toolkit;

/** The type of a request in Next. */
interface NextRequest extends Request {
  readonly nextUrl: URL;
}

/** The type that Next requires of an export of a route file. */
type RouteExport = (
  request: NextRequest,
  context: { params: Promise<{ path?: string[] }> },
) => Promise<Response | void> | Response | void;

describe('the Next entry', () => {
  it('returns handlers that a route file can export, whole or by method', () => {
    const handler = createA2AProxyHandlerWithServiceAuth({ strategy: 'service_account', apiKey: 'key', toolkit });
    const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = handler;
    for (const route of [handler, GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE]) {
      expectTypeOf(route).toExtend<RouteExport>();
    }
    expectTypeOf(handleA2AWebPOST).toExtend<RouteExport>();
    expectTypeOf(handleA2AConfigWebGET).toExtend<RouteExport>();
  });

  it('accepts the option names of the spec', () => {
    createA2AProxyHandler({
      idp: source,
      audience: 'https://platform.example',
      apiKey: 'key',
      exchange: 'on_behalf_of',
    });
    createSurfaceHandlerWithServiceAuth({ apiKey: 'key', cache: { enabled: true, freshMs: 1_000 }, strategy: 'okta' });
    createSurfaceHandler({
      auth: source,
      audience: 'a',
      apiKey: 'key',
      requireSession: true,
      cache: { enabled: true },
    });
    createServiceProxyHandler({ auth: source, audience: 'a', apiKey: 'key' });
    const getHeaders = createGetHeadersForSession({ authClient: source, audience: 'a', apiKey: 'key' });
    expectTypeOf(handleA2AConfigWebGET({} as NextRequest, { getHeaders })).resolves.toEqualTypeOf<Response>();
    void handleA2AConfigWebGET({} as NextRequest, {
      getHeaders: (request: NextRequest) => ({ 'x-from': request.nextUrl.href }),
    });
  });

  it('passes Next’s request to functions of the site, which may use its own members', () => {
    createSurfaceHandler({ auth: (request) => request.headers.get('authorization') });
    createA2AProxyHandlerWithServiceAuth({ configGetHeaders: (request) => request.headers });
    const POST = (request: Request) => handleA2AWebPOST(request, { headers: ({ headers }) => headers });
    const GET = (request: Request) => handleA2AConfigWebGET(request, { getHeaders: ({ headers }) => headers });
    createSurfaceHandlerWithServiceAuth({ headers: ({ nextUrl }: NextRequest) => ({ 'x-host': nextUrl.host }) });
    for (const route of [GET, POST]) expectTypeOf(route).toExtend<RouteExport>();
  });

  it('rejects missing and unknown options', () => {
    // @ts-expect-error a session route needs a session source
    createA2AProxyHandler({ audience: 'a' });
    // @ts-expect-error a session route needs a session source
    createServiceProxyHandler({});
    // @ts-expect-error a route has one credential
    createA2AProxyHandler({ idp: source, strategy: 'service_account' });
    // @ts-expect-error misspelt
    createSurfaceHandler({ requiresSession: true });
  });
});
