import { AgentBffError, ConfigurationError, type ErrorFacts, isAgentBffError } from './errors.js';
import { type OptionCheck, type OptionShape, text as isText } from './options.js';
import { type Secret, secret } from './secret.js';

/**
 * The part of a field in the identity of a credential: `principal`, its owner or its destination; `proof`, only how
 * that is proved; `neither`. Renders and agent cards are shared per principal, tokens per principal and proof.
 */
export type Side = 'principal' | 'proof' | 'neither';

/** A value, and where it was configured. Secret values are of type `Secret`. */
export interface Setting<Value = string> {
  readonly value: Value;
  /** The configuration block; `configureServer` for fields outside a block, `route` for an option of a route. */
  readonly block: string;
  readonly field: string;
  readonly side: Side;
}

/** The sentence that names the environment variables of these fields, with a space before it; empty if there are none. */
export type VariableHint = (block: string, fields: readonly string[]) => string;

/** The error for an invalid value of one field or option; `block` is the configuration block, or the function that takes it. */
export function invalidField(
  field: string,
  detail: string,
  hint: string,
  block: string = 'configureServer',
): ConfigurationError {
  return new ConfigurationError({ detail, hint, block, fields: [field] });
}

/**
 * A copy of an error whose hint also names the environment variables of its fields: several callers may share one error.
 * Anything else, and an error that names them already, is returned as it is.
 */
export function withVariables<Thrown>(error: Thrown, variables: VariableHint | undefined): Thrown {
  if (!isAgentBffError(error)) return error;
  const { code, block = 'configureServer', fields, hint = '' } = error;
  const more = variables?.(block, fields) ?? '';
  if (hint === '' || hint.endsWith(more)) return error;
  const copy = new AgentBffError(code, { ...(error as ErrorFacts), hint: hint + more, log: error.logDetail() });
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object) as Thrown;
}

/** Settings by field. */
export type AnySettings = Readonly<Record<string, Setting<unknown>>>;

/** The settings of a block, complete. `Read` has the fields whose type changes when they are read. */
export type SettingsOf<Config, Read = object> = {
  readonly [Name in keyof Config]-?: Setting<Name extends keyof Read ? Read[Name] : NonNullable<Config[Name]>>;
};

/** The values of settings. */
export type ValuesOf<Settings> = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer Value> ? Value : never;
};

/** One field: its side, its check, how it is read (without a value: its default), and its environment variable. */
export interface SettingRow<Value = unknown> {
  readonly side: Side;
  readonly check: OptionCheck | OptionShape;
  /** Converts a checked value; called with `undefined` if none is set. */
  readonly read: (value: unknown) => Value;
  readonly variable?: string | undefined;
  /** True if the variable holds several values, separated by commas. */
  readonly isList?: boolean;
  /** Set if `{ path }` of a file, or the variable with `_FILE` at its end, may take the place of the value. */
  readonly file?: 'watched' | 'read at start';
  /** True for a value of the variable that belongs to another program. */
  readonly isForeign?: (value: unknown, all: object) => boolean;
  /** Alternative forms of the same value, in the same block: the one given later counts. */
  readonly replaces?: readonly string[];
  /** Present if a value that is set again is merged field by field. */
  readonly fields?: AnyRows;
}

/** The rows of a table, for iterating. */
export type AnyRows = { readonly [name: string]: Partial<SettingRow> };

/** A row for every setting, and for no other. A block is a row of rows; if set again, it is merged field by field. */
export type Rows<Settings> = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer Value>
    ? SettingRow<Value>
    : { readonly fields: Rows<Settings[Name]> };
};

/** Creates the row of a field. */
export function row<Given, Value>(
  side: Side,
  check: OptionCheck | OptionShape,
  read: (value?: Given) => Value,
  variable?: string,
): SettingRow<Value> {
  return { side, check, read: read as (value: unknown) => Value, variable };
}

/** Creates the row of a text, empty by default. */
export function textRow(side: Side, variable?: string): SettingRow<string> {
  return row(side, isText, (value?: string) => value ?? '', variable);
}

/** Creates the row of a secret, empty by default. */
export function secretRow(variable?: string): SettingRow<Secret> {
  return watched(row('proof', isText, (value?: string) => secret(value ?? ''), variable));
}

/** The row of a secret that may be in a file. */
export function watched<Value>(row: SettingRow<Value>): SettingRow<Value> {
  return { ...row, file: 'watched' };
}

/** The names of fields, as part of a sentence. */
export function quoted(names: readonly string[], separator: string = ', '): string {
  return names.map((name) => `"${name}"`).join(separator);
}

/** True if a value is an object with fields: not a list, a promise, a map or a URL. */
export function hasFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return ['[object Object]', '[object Module]'].includes(Object.prototype.toString.call(value));
}

/** The values of settings, without their places. */
export function valuesOf<Settings extends object>(settings: Settings): ValuesOf<Settings> {
  const values: Record<string, unknown> = {};
  for (const name in settings) values[name] = (settings[name] as Setting<unknown>).value;
  return values as ValuesOf<Settings>;
}

/** The text of a setting, unredacted. */
export function revealed({ value }: Pick<Setting<unknown>, 'value'>): string {
  if (typeof value === 'string') return value;
  return (value as Partial<Secret> | undefined)?.reveal?.() ?? '';
}

/** The first setting with a value, otherwise the last. */
export function firstFilled<Value>(setting: Setting<Value>, ...others: readonly Setting<Value>[]): Setting<Value> {
  const all = [setting, ...others];
  return all.find((one) => revealed(one) !== '') ?? all.at(-1) ?? setting;
}
