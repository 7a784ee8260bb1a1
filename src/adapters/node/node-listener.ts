import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { isBelow, originForm } from '../../domain/shared/paths.js';
import type { HttpHandler, HttpResponse, MountedHandler } from '../../ports/http.js';
import { serve } from './exchange.js';
import { type TargetedRequest, requestFields } from './http2-exchange.js';
import { abortResponse } from './http2-response.js';
import { NodeRequest } from './request.js';

/**
 * A request listener for `node:http` and `node:http2`, and a middleware for Connect-style hosts: with `next`, requests
 * outside the routes are passed on.
 *
 * @public
 */
export type NodeListener = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  next?: (error?: unknown) => void,
) => void;

const NOT_NODE =
  "Pass Node's request and response: in Fastify request.raw and reply.raw, in Koa context.req and context.res. For a Request use agent-bff/web.";

/** A listener that passes each request to the route mounted at its path. `otherwise` handles the rest if there is no `next`. */
export function nodeListener(routes: readonly MountedHandler[], otherwise: HttpHandler): NodeListener {
  return (nativeRequest, nativeResponse, next) => {
    const request = nativeRequest as TargetedRequest;
    const response = nativeResponse as ServerResponse;
    // In plain JavaScript a framework's own objects may be passed, which also have `url` and `headers`.
    if (!Object(request).once || !Object(response).setHeader) throw new TypeError(NOT_NODE);
    const target = originForm(request.originalUrl ?? request.url ?? '/');
    const route = routes.find(({ mount }) => isBelow(target, mount));
    if (route === undefined && next !== undefined) {
      next();
      return;
    }
    const { mount, handler } = route ?? { mount: '', handler: otherwise };
    const below = { target: target.slice(mount.length), publicUrl: () => publicUrl(request, mount) };
    const respond = (): Promise<HttpResponse> => handler(new NodeRequest(request, response, below));
    serve(request, response, respond).catch((error: unknown) => {
      if (next !== undefined) next(error);
      else abortResponse(response);
    });
  };
}

/** Forwarded fields are not trusted here: behind a proxy, set `publicUrl`. */
function publicUrl(request: IncomingMessage, mount: string): string {
  const scheme = 'encrypted' in request.socket ? 'https' : 'http';
  return `${scheme}://${String(requestFields(request)['host'] ?? '')}${mount}`;
}
