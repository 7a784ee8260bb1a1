import { type Given, readOptions, refusal, type Refusal } from '../../domain/shared/options.js';
import { optionHint } from '../config/option-hint.js';
import { SHAPE } from '../config/resolve-config.js';
import type { RouteFacts, RouteShape } from './route-shapes.js';

/** Explains an unknown option by those of all routes, and by the configuration. */
const explained: Refusal = (level, problem, names, hint, others) => {
  const [name = ''] = names;
  const elsewhere = problem === 'Unknown option' ? optionHint(name, level, SHAPE) : undefined;
  return refusal(level, problem, names, elsewhere ?? hint, others);
};

/**
 * Reads the options of a route, or of a method of a toolkit.
 *
 * @throws ConfigurationError naming `maker`, the function the site called, and the option.
 */
export function readWithFacts<Options extends object>(
  maker: string,
  shape: RouteShape<keyof Options & string>,
  options: Options | undefined,
  facts: RouteFacts,
): Given<Options> {
  return readOptions(maker, shape, options, facts, explained);
}
