import { similar } from '../../domain/shared/nearest.js';
import { isPlainObject, type OptionShape, type Level } from '../../domain/shared/options.js';
import { quoted } from '../../domain/shared/setting.js';
import { ALL_ROUTES, type RouteShape } from '../routes/route-shapes.js';

/** The options of the functions that serve all routes. */
const EVERY_OPTION: RouteShape = { options: { toolkit: () => undefined, ...ALL_ROUTES.options } };

/**
 * The hint for an option that is unknown where it was written, but known elsewhere: at another place of the same
 * options, or in the configuration.
 */
export function optionHint(name: string, { path, shape, options }: Level, config: OptionShape): string | undefined {
  const [route = ''] = path.split('.', 1);
  const isOfAllRoutes = Object.hasOwn(shape.options, 'a2a') || Object.hasOwn(ALL_ROUTES.options, route);
  const root: RouteShape = isOfAllRoutes ? EVERY_OPTION : shape;
  const value = options[name];
  const paths = pathsOf(name, root);
  if (paths.length > 0) return didYouMean(paths);
  if (similar(name, Object.keys(shape.options)) !== undefined) return undefined;
  const held = (isPlainObject(value) ? Object.keys(value) : []).map((one) => pathsOf(one, root));
  if (held.length > 0 && held.every(({ length }) => length > 0)) return didYouMean(held.flat());
  const fields = pathsOf(name, config);
  return fields.length === 0
    ? undefined
    : `It is a field of the configuration: pass ${quoted(fields, ' or ')} to configureServer.`;
}

/** The hint for a field that the configuration does not have, but the routes; `undefined` if neither has it. */
export function routeHint(name: string): string | undefined {
  const paths = pathsOf(name, ALL_ROUTES);
  if (paths.length === 0) return undefined;
  const alone = paths.includes(name) ? '' : `, or "${name}" to the function of one route`;
  return `It is an option of the routes: pass ${quoted(paths, ' or ')} to createHandlers${alone}.`;
}

/** The path of every option with this name. */
export function pathsOf(wanted: string, { options }: OptionShape<string, never>, path = ''): readonly string[] {
  return Object.entries(options).flatMap(([name, option]) => [
    ...(name === wanted ? [path + name] : []),
    ...(typeof option === 'function' ? [] : pathsOf(wanted, option, `${path}${name}.`)),
  ]);
}

export function didYouMean(paths: readonly string[]): string {
  return `Did you mean ${quoted(paths, ' or ')}?`;
}
