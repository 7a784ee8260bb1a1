import type { IncomingMessage, ServerResponse } from 'node:http';
import { originForm } from '../../domain/shared/paths.js';
import type { HttpHandler, HttpRequest, HttpResponse, MountedHandler } from '../../ports/http.js';
import { type BodyStream, toNodeBody } from '../node/body-stream.js';
import { respond } from '../node/exchange.js';
import { requestFields } from '../node/http2-exchange.js';
import { NodeRequest, type ParsedBody } from '../node/request.js';

/**
 * The part of a Koa router this package uses; the routers of `@koa/router` 15 have it.
 *
 * @public
 */
export interface KoaLikeRouter {
  /** Adds a middleware for every method of a path. The framework defines the type of its context. */
  all(path: string, middleware: never): unknown;
}

/**
 * The `Router` class of `@koa/router`, or the module that exports it. The framework is an argument, so this package
 * never loads it.
 *
 * @public
 */
export type KoaLike<AnyRouter extends KoaLikeRouter> =
  | { new (): KoaLikeRouter; readonly prototype: AnyRouter }
  | { readonly Router: { new (): KoaLikeRouter; readonly prototype: AnyRouter } };

/**
 * Koa's context in the router's own middleware; `any` if the router does not state one.
 *
 * @public
 */
export type KoaContextOf<AnyRouter> = AnyRouter extends {
  routes(): (context: infer NativeContext, ...others: never[]) => unknown;
}
  ? NativeContext
  : // oxlint-disable-next-line typescript/no-explicit-any
    any;

interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Koa's body parsers store their result here. */
  readonly request: ParsedBody;
  /** Raw path and query as the browser sent them, unaffected by mounting. */
  readonly originalUrl: string;
  /** Both follow the application's `proxy` setting. */
  readonly protocol: string;
  readonly host: string;
  /** The parts of the path that match the route's parameters, not decoded. */
  readonly captures?: readonly string[];
  status: number;
  body: unknown;
  /** If false, Koa does not send the response. */
  respond?: boolean;
  set(field: string, value: string | readonly string[]): void;
  append(field: string, value: string | readonly string[]): void;
  remove(field: string): void;
  /** Reports an error to the application, and responds with 500 unless the head is sent. */
  onerror(error: unknown): void;
}

const NO_ROUTER = 'Pass Router itself as the first argument.';

/**
 * A router that passes each request to the handler mounted at its path. The framework is checked before the options in
 * `routes`: swapped arguments are not invalid options.
 */
export function koaRouter<AnyRouter extends KoaLikeRouter>(
  framework: KoaLike<AnyRouter>,
  routes: () => readonly MountedHandler[],
): AnyRouter {
  const Router =
    typeof framework === 'function' ? framework : (Object(framework).Router as typeof framework.Router | undefined);
  // In plain JavaScript it may be missing, or be an application.
  if (typeof Router !== 'function') throw new TypeError(NO_ROUTER);
  const mounted = routes();
  // The cast keeps the class's own type: from its constructor TypeScript would infer `unknown` type parameters.
  const router = new Router() as AnyRouter;
  // Express can be called with `new` too, and returns a function.
  if (typeof router !== 'object') throw new TypeError(NO_ROUTER);
  for (const { mount, handler } of mounted) {
    const route = (path: string, below: (context: KoaContext) => string): void => {
      const middleware = (context: KoaContext): Promise<void> => serve(context, below(context), handler);
      router.all(path, middleware as never);
    };
    route(mount || '/', () => '');
    route(`${mount}/*below`, ({ captures }) => `/${captures?.at(-1) ?? ''}`);
  }
  return router;
}

async function serve(context: KoaContext, below: string, handler: HttpHandler): Promise<void> {
  ignoreDepartures(context);
  const given = await respond(context.req, context.res, () => handler(toRequest(context, below)));
  if (given === undefined) context.respond = false;
  else send(context, given);
}

function toRequest(context: KoaContext, below: string): HttpRequest {
  const { req, res, request } = context;
  const query = req.url?.indexOf('?') ?? -1;
  return new NodeRequest(
    req,
    res,
    { target: query < 0 ? below : below + (req.url ?? '').slice(query), publicUrl: () => publicUrl(context, below) },
    {
      // A host in front of Koa stores its result on Node's own object.
      parsed: request.body === undefined && request.rawBody === undefined ? (req as unknown as ParsedBody) : request,
      native: { request: context, response: res },
    },
  );
}

/** In place of the `Host` field, the host of the target counts. */
function publicUrl({ req, protocol, host: found, originalUrl }: KoaContext, below: string): string {
  const host = found === req.headers.host ? String(requestFields(req)['host']) : found;
  const [path = ''] = originForm(originalUrl).split('?', 1);
  const mount = path.endsWith(below) ? path.slice(0, path.length - below.length) : path;
  return `${protocol}://${host}${mount.replace(/\/$/, '')}`;
}

/** Lets Koa send the response, so that middleware around the routes still sees it and may change it. */
function send(context: KoaContext, { status, headers, body, sendIdleMs = 0 }: HttpResponse): void {
  // With a type set by earlier middleware, Koa would send JSON `null` for a response without a body.
  context.remove('content-type');
  context.body = toNodeBody(body, context.res, sendIdleMs);
  context.status = status; // after the body: without one, Koa sets 204
  context.remove('content-type'); // set by Koa from the body
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || (name === 'connection' && context.req.httpVersionMajor === 2)) continue;
    // What the host has set stays, such as its cookies and the `Vary: Origin` of CORS.
    if (name === 'set-cookie' || name === 'vary') context.append(name, value);
    else context.set(name, value);
  }
}

/** Koa would report an error when the browser leaves, although the application did not fail. */
function ignoreDepartures(context: KoaContext): void {
  const report = context.onerror.bind(context);
  context.onerror = (error) => {
    if (!isDeparture(error, context)) report(error);
  };
}

const CLOSED: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** The platform's connection may break with the same message, but that is a failure of the body. */
function isDeparture(error: unknown, { req, body }: KoaContext): boolean {
  const { stall, failure } = Object(body) as Partial<BodyStream>;
  // A browser that reads nothing is disconnected with an error of our own.
  if (stall !== undefined) return error === stall;
  const { code } = Object(error) as { code?: unknown };
  return req.socket.destroyed && CLOSED.has(code) && error !== failure;
}
