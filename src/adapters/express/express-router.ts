import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasMethods } from '../../domain/shared/options.js';
import { originForm } from '../../domain/shared/paths.js';
import type { MountedHandler } from '../../ports/http.js';
import { serve } from '../node/exchange.js';
import { requestFields } from '../node/http2-exchange.js';
import { NodeRequest } from '../node/request.js';

/**
 * The part of an Express router this package uses; `express.Router` of Express 4 and 5 has it.
 *
 * @public
 */
export interface ExpressLikeRouter {
  /** Adds a handler for every method and every path below this one. */
  use(path: string, handler: (request: never, response: never, next: (error?: unknown) => void) => void): unknown;
}

/**
 * The request type of the framework a router belongs to, such as `express.Request`; `any` if the router does not state
 * one.
 *
 * @public
 */
export type ExpressRequestOf<AnyRouter> = AnyRouter extends (
  request: infer NativeRequest,
  ...others: never[]
) => unknown
  ? NativeRequest
  : // oxlint-disable-next-line typescript/no-explicit-any
    any;

interface ExpressRequest extends IncomingMessage {
  /** Path and query below the mount point. */
  url: string;
  /** Path and query as received. */
  originalUrl: string;
  /** The path the application and its routers are mounted at. */
  baseUrl: string;
  /** Follows the application's `trust proxy` setting. */
  protocol: string;
  /** The host without its port; follows `trust proxy` too. */
  hostname?: string;
}

/**
 * A router that passes each request to the handler mounted at its path. The framework is checked before the options in
 * `routes`: swapped arguments are not invalid options.
 */
export function expressRouter<AnyRouter extends ExpressLikeRouter>(
  framework: { Router(): AnyRouter },
  routes: () => readonly MountedHandler[],
): AnyRouter {
  // In plain JavaScript it may be missing, or be an application or a router.
  if (!hasMethods(framework, ['Router'])) throw new TypeError('Pass express itself as the first argument.');
  const mounted = routes();
  const router = framework.Router();
  for (const { mount, handler } of mounted) {
    router.use(mount || '/', (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => {
      const at = { target: targetOf(request), publicUrl: () => publicUrl(request) };
      serve(request, response, () => handler(new NodeRequest(request, response, at))).catch(next);
    });
  }
  return router;
}

/** After the mount point, Express 4 strips one of two slashes: the path must mean the same in both versions. */
function targetOf({ url, originalUrl, baseUrl }: ExpressRequest): string {
  const below = originForm(url);
  return originForm(originalUrl) === `${baseUrl}/${below}` ? `/${below}` : below;
}

/**
 * Protocol and host follow `trust proxy`: a forwarded one only counts if the application trusts it. Express has the
 * trusted host in `hostname`, without its port; the field it came from has both. In place of the `Host` field, the host
 * of the target counts.
 */
function publicUrl(request: ExpressRequest): string {
  const { protocol, hostname, baseUrl, headers } = request;
  const own = String(requestFields(request)['host'] ?? '');
  const isTrusted = (field: string): boolean => field.trim().replace(/:\d+$/, '') === hostname;
  const forwarded = String(headers['x-forwarded-host'] ?? '').split(',', 1);
  const host = isTrusted(String(headers.host ?? own)) ? own : forwarded.find(isTrusted);
  return `${protocol}://${(host ?? hostname ?? own).trim()}${baseUrl}`;
}
