import { type Given, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { HttpHandler } from '../../ports/http.js';
import { withToolkit } from './route-options.js';
import { serverState } from '../server-state.js';
import type { Toolkit } from '../toolkit/toolkit-type.js';

/** What any other route answers before `configureServer` was called. */
const UNCONFIGURED: HttpHandler = bareHandler('unconfigured');

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
      known = current;
      try {
        handler = current === undefined ? unconfigured : handlerOf(current);
      } catch (error) {
        // Of options that only this toolkit refuses, such as a field that carries its API key.
        handler = bareHandler('misconfigured', error);
      }
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
export const UNCONFIGURED_CHAT: HttpHandler = bareHandler('unconfiguredChat');

/** Answers every request with 404. */
export const noSuchRoute: HttpHandler = bareHandler('noRoute');

function bareHandler(
  answer: 'unconfigured' | 'unconfiguredChat' | 'noRoute' | 'misconfigured',
  error?: unknown,
): HttpHandler {
  return async (request) => (await import('./unconfigured-responses.js'))[answer](request, error);
}
