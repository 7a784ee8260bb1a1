import { type Given, type OptionShape, readOptions } from '../domain/shared/options.js';
import type { HttpHandler } from '../ports/http.js';
import { withToolkit } from './route-options.js';
import { serverState } from './server-state.js';
import type { Toolkit } from './toolkit-type.js';

/** What any other route answers before `configureServer` was called. */
const UNCONFIGURED: HttpHandler = async (request) => (await import('./bare-answers.js')).unconfigured(request);

/** A handler of the toolkit that is current when a request comes, so that a later `configureServer` takes effect. */
export function currentHandler(
  toolkit: Toolkit | undefined,
  handlerOf: (toolkit: Toolkit) => HttpHandler,
  unconfigured: HttpHandler = UNCONFIGURED,
): HttpHandler {
  if (toolkit !== undefined) return handlerOf(toolkit);
  let known: Toolkit | undefined;
  let handler = unconfigured;
  return (request) => {
    const current = serverState().toolkit;
    if (current !== known) {
      handler = current === undefined ? unconfigured : handlerOf(current);
      known = current;
    }
    return handler(request);
  };
}

/** The option every route factory has. */
interface ToolkitOption {
  readonly toolkit?: Toolkit | undefined;
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
  const { toolkit, ...given } = readOptions<ToolkitOption>(
    maker,
    withToolkit(shape) as OptionShape<'toolkit'>,
    options,
  );
  return currentHandler(toolkit, (current) => handlerOf(current, given as Given<Options>), unconfigured);
}

/** What the chat route answers before `configureServer` was called. */
export const UNCONFIGURED_CHAT: HttpHandler = async (request) =>
  (await import('./bare-answers.js')).unconfiguredChat(request);

/** Answers every request with 404. */
export const noSuchRoute: HttpHandler = async (request) => (await import('./bare-answers.js')).noRoute(request);
