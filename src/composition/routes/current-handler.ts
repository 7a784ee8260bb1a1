import { accept, hasMethods, type Given, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { HttpHandler } from '../../ports/http.js';
import { serverState, siteSessions } from '../server-state.js';
import type { Toolkit, ToolkitOption } from '../toolkit/toolkit-type.js';
import { CHAT, PROXY, SURFACE_ROUTER } from './option-shapes.js';
import type { ChatHandlerOptions, ServiceProxyOptions, SurfaceRouterOptions } from './route-options.js';

/** The chat route before `configureServer` was called. */
export const UNCONFIGURED_CHAT: HttpHandler = lazyHandler('unconfiguredChat');

/** Answers every request with 404. */
export const noSuchRoute: HttpHandler = lazyHandler('noRoute');

const TOOLKIT = accept((value) => hasMethods(value, ['authHeaders']), 'a toolkit');

/** A handler of the toolkit that is current when a request comes, so that a later `configureServer` takes effect. */
export function currentHandler(
  toolkit: Toolkit | undefined,
  handlerOf: (toolkit: Toolkit) => HttpHandler,
  handler: HttpHandler = lazyHandler('unconfigured'),
): HttpHandler {
  if (toolkit !== undefined) return handlerOf(toolkit);
  let known: Toolkit | undefined;
  return (request) => {
    const { toolkit: current } = serverState();
    if (current !== undefined && current !== known) {
      known = current;
      try {
        handler = handlerOf(current);
      } catch (error) {
        // Of options that only this toolkit refuses, such as a field that carries its API key.
        handler = lazyHandler('misconfigured', error);
      }
    }
    return handler(request);
  };
}

/**
 * Reads the options of a function that may be given a toolkit; else the current one decides what they may be.
 *
 * @throws ConfigurationError naming `maker`, before any request.
 */
export function readRouteOptions<Options extends ToolkitOption>(
  maker: string,
  shape: OptionShape<Exclude<keyof Options, 'toolkit'> & string>,
  options: Options | undefined,
): Given<Options> {
  // Looked at first: a toolkit knows further strategies, and which fields may cross.
  const taken = { ...shape, options: { toolkit: TOOLKIT, ...shape.options } } as unknown;
  return readOptions<Options>(maker, taken as OptionShape<keyof Options & string>, options, {
    ...options,
    toolkit: options?.toolkit ?? serverState().toolkit,
  });
}

/**
 * A handler of the current toolkit from the options of a factory.
 *
 * @throws ConfigurationError naming `maker`, before any request.
 */
export function routeHandler<Options extends object>(
  maker: string,
  shape: OptionShape<keyof Options & string>,
  options: (Options & ToolkitOption) | undefined,
  handlerOf: (toolkit: Toolkit, options: Given<Options>) => HttpHandler,
  unconfigured?: HttpHandler,
): HttpHandler {
  const { toolkit, ...given } = readRouteOptions<ToolkitOption>(maker, shape as unknown as OptionShape<never>, options);
  // Of conversation records nothing is kept, so their sessions need no names.
  if (toolkit === undefined && (shape as unknown) !== PROXY) noteSession(given);
  return currentHandler(toolkit, (current) => handlerOf(current, given as Given<Options>), unconfigured);
}

/** Lets the toolkit know a route's session library before the first request, of whatever route. */
export function noteSession(options: object | undefined): void {
  const { getSessionToken, idp, auth } = (options ?? {}) as Readonly<Record<string, SessionTokenLike | undefined>>;
  const session = getSessionToken ?? idp ?? auth;
  if (session !== undefined) siteSessions().add(session);
}

/** The chat routes, for `createA2ARouter`. */
export function chatHandler(options: (ChatHandlerOptions & ToolkitOption) | undefined): HttpHandler {
  return routeHandler<ChatHandlerOptions>(
    'createA2ARouter',
    CHAT,
    options,
    (current, given) => current.chatHandler(given),
    UNCONFIGURED_CHAT,
  );
}

/** The widget routes, for `createServiceSurfaceRouter`. */
export function surfaceHandler(options: (SurfaceRouterOptions & ToolkitOption) | undefined): HttpHandler {
  return routeHandler<SurfaceRouterOptions>('createServiceSurfaceRouter', SURFACE_ROUTER, options, (current, given) =>
    current.surfaceRouter(given),
  );
}

/** The proxy for conversation records; `maker` is the function the site called. */
export function conversationHandler(maker: string, options: ServiceProxyOptions & ToolkitOption): HttpHandler {
  return routeHandler<ServiceProxyOptions>(maker, PROXY, options, (current, given) =>
    current.conversationHandler(given),
  );
}

function lazyHandler(
  name: 'unconfigured' | 'unconfiguredChat' | 'noRoute' | 'misconfigured',
  error?: unknown,
): HttpHandler {
  return async (request) => (await import('./unconfigured-responses.js'))[name](request, error);
}
