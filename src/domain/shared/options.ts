import { ConfigurationError } from './errors.js';
import { similar } from './nearest.js';

/** Returns the advice for an invalid value, or `undefined` for a valid one. `all` is the whole object the site passed, unless the reader gives the checks something else. */
export type OptionCheck<All extends object = object> = (value: unknown, all: All) => string | undefined;

/** The options of one function. */
export interface OptionShape<Names extends string = string, All extends object = object> {
  /** The check for each value, in this order; a shape if the value is an options object itself. */
  readonly options: Readonly<Record<Names, OptionCheck<All> | OptionShape<string, All>>>;
  readonly required?: readonly Names[];
  /** At most one option of each group may be set; `false` does not count. */
  readonly exclusive?: readonly (readonly Names[])[];
  /** The other name of an option, read as that option. */
  readonly aliases?: Readonly<Partial<Record<Names, Names>>>;
  /** Options that require another one. */
  readonly needs?: Readonly<Partial<Record<Names, Names>>>;
}

/** The names of options that have no default. */
type RequiredName<Options> = {
  readonly [Name in keyof Options & string]-?: undefined extends Options[Name] ? never : Name;
}[keyof Options & string];

/** The shape of these options, which requires each one without a default. */
export type ShapeOf<Options, All extends object = object> = OptionShape<keyof Options & string, All> &
  ([RequiredName<Options>] extends [never] ? unknown : { readonly required: readonly RequiredName<Options>[] });

/** The options that are set. */
export type Given<Options> = { readonly [Name in keyof Options]: Exclude<Options[Name], undefined> };

/**
 * Reads an options object strictly (decision 79). `undefined` and an empty string count as absent; errors never quote a
 * value. `all` is passed to the checks, and `refuse` creates the errors.
 *
 * @throws ConfigurationError naming `maker`, the function the site called, and the option.
 */
export function readOptions<Options extends object, All extends object = object>(
  maker: string,
  shape: OptionShape<keyof Options & string, All>,
  options: Options | undefined = {} as Options,
  all: All = options as object as All,
  refuse: Refusal = refusal,
): Given<Options> {
  const level = { maker, all, path: '', shape: shape as OptionShape, options: options as Level['options'], refuse };
  const hint = members(options, all);
  if (hint === undefined) return read(level) as Given<Options>;
  throw refuse(level, 'Invalid value for', ['options'], hint);
}

/** The position in the options being read. */
export interface Level {
  readonly maker: string;
  readonly all: object;
  /** The path of a nested object, with a trailing dot. */
  readonly path: string;
  /** The options that may be given here, and those that are. */
  readonly shape: OptionShape;
  readonly options: Readonly<Record<string, unknown>>;
  readonly refuse: Refusal;
}

/** Creates the error for options at a level; `others` only appear in its fields. */
export type Refusal = (
  level: Level,
  problem: 'Unknown option' | 'Invalid value for' | 'Missing option' | 'Conflicting options',
  names: readonly string[],
  hint: string,
  others?: readonly string[],
) => ConfigurationError;

function read(level: Level): Record<string, unknown> {
  const { shape, options } = level;
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(shape.options, name)) continue;
    const known = Object.keys(shape.options);
    const near = similar(name, known);
    const hint = near ? `Did you mean "${level.path}${near}"?` : `Known options: ${known.join(', ')}.`;
    throw level.refuse(level, 'Unknown option', [name], hint);
  }
  const given: Record<string, unknown> = {};
  const aliases: Readonly<Record<string, string | undefined>> = shape.aliases ?? {};
  const valueOf = (name = ''): unknown => (options[name] === '' ? undefined : options[name]);
  /** The name the site used. */
  const written = (name: string): string => (valueOf(aliases[name]) === undefined ? name : (aliases[name] ?? name));
  for (const name in shape.options) {
    const option = shape.options[name] as OptionCheck | OptionShape;
    const value = valueOf(name);
    const isAbsent = value === undefined;
    if (isAbsent && shape.required?.includes(written(name)) !== true) continue;
    const isShape = typeof option !== 'function';
    const hint = (isShape ? members : option)(value, level.all);
    if (hint !== undefined) throw level.refuse(level, isAbsent ? 'Missing option' : 'Invalid value for', [name], hint);
    given[name] = isShape
      ? read({ ...level, path: `${level.path}${name}.`, shape: option, options: value as Level['options'] })
      : value;
  }
  for (const [name, alias = ''] of Object.entries(aliases)) {
    if (given[alias] === undefined) continue;
    if (given[name] !== undefined) throw level.refuse(level, 'Conflicting options', [name, alias], 'Keep one of them.');
    given[name] = given[alias];
    delete given[alias];
  }
  for (const group of shape.exclusive ?? []) {
    const set = group.filter((name) => (given[name] ?? false) !== false).map(written);
    if (set.length > 1) throw level.refuse(level, 'Conflicting options', set, 'Keep one of them.');
  }
  for (const [name, other = ''] of Object.entries(shape.needs ?? {})) {
    if (given[name] !== undefined && given[other] === undefined)
      throw level.refuse(level, 'Missing option', [other], `"${level.path}${name}" needs it.`, [name]);
  }
  return given;
}

/** The error about options of a function. */
export const refusal: Refusal = ({ maker, path }, problem, names, hint, others = []) => {
  return new ConfigurationError({
    detail: `${problem} ${names.map((name) => `"${path}${name}"`).join(' and ')} of ${maker}.`,
    hint,
    block: maker,
    fields: [...names, ...others].map((name) => path + name),
  });
};

/** True for an object literal: not a list, and not a class instance, whose members would be read as options. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Each realm (a worker, Next's sandbox) has its own `Object.prototype`, which itself has no prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A check that describes its valid values, such as `a string`. */
export function accept(isRight: (value: unknown) => boolean, words: string): OptionCheck {
  return (value) => (isRight(value) ? undefined : `Set it to ${words}.`);
}

/** Accepts an object of options. A toolkit is an object too, but belongs in the option `toolkit`. */
export const members: OptionCheck = (value) =>
  Object(value).authHeaders
    ? 'Pass a toolkit as { toolkit }.'
    : isPlainObject(value)
      ? undefined
      : 'Set it to an object.';

export const text: OptionCheck = accept((value) => typeof value === 'string', 'a string');
export const flag: OptionCheck = accept((value) => typeof value === 'boolean', 'true or false');
export const callback: OptionCheck = accept((value) => typeof value === 'function', 'a function');
export const texts: OptionCheck = accept(
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  'a list of strings',
);
export const wholeNumber: OptionCheck = accept(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  'a whole number from 0',
);

/**
 * Checks an argument besides the options, which a function needs to work at all.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the argument.
 */
export function checkArgument(maker: string, name: string, value: unknown, check: OptionCheck = callback): void {
  readOptions(maker, { options: { [name]: check }, required: [name] }, { [name]: value });
}

/** A secret that is sent as a header field: one line of visible characters (RFC 9110 §5.5). */
export const headerKey: OptionCheck = accept(
  (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
  'the key alone: ASCII, no spaces',
);

/** A check for an object with these methods. */
export function methods(...names: readonly string[]): OptionCheck {
  return accept((value) => hasMethods(value, names), `an object with ${names.join(' and ')}`);
}

/** True for a value with these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof (Object(value) as Record<string, unknown>)[name] === 'function');
}
