import type { HeaderFields, RequestContext } from '../../ports/http.js';

/** A framework's own request as session sources take it: a Web `Request`, Express's `req`, a Koa context, or nothing (Next finds it itself). */
export function sessionRequest(request: unknown): RequestContext {
  const { headers, res } = Object(request) as { headers?: unknown; res?: unknown };
  return {
    headers: headers instanceof Headers ? Object.fromEntries(headers) : ((headers ?? {}) as HeaderFields),
    native: { request, ...(res === undefined ? {} : { response: res }) },
  };
}
