import { accept, type OptionCheck, type OptionShape, text as isText } from './options.js';
import { type Secret, secret } from './secret.js';

/**
 * The part of a field in the identity of a credential: `principal`, its owner or its destination; `proof`, only how that is proved; `neither`.
 * Renders and agent cards are shared by one principal, tokens by one principal and proof.
 */
export type Side = 'principal' | 'proof' | 'neither';

/** A value, and the place where it was configured. A value that is secret is a `Secret`. */
export interface Setting<Value = string> {
  readonly value: Value;
  /** The configuration block; `configureServer` outside of all, `route` for an option of a route. */
  readonly block: string;
  readonly field: string;
  readonly side: Side;
}

/** Settings by field. */
export type AnySettings = Readonly<Record<string, Setting<unknown>>>;

/** The settings of a block, complete. `Read` has the fields that are no longer what they were set as. */
export type SettingsOf<Config, Read = object> = {
  readonly [Name in keyof Config]-?: Setting<Name extends keyof Read ? Read[Name] : NonNullable<Config[Name]>>;
};

/** The values of settings. */
export type ValuesOf<Settings> = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer Value> ? Value : never;
};

/** One field: its side, what it may be, what it becomes (without a value: its default), and the environment variable that sets it. */
export interface SettingRow<Value = unknown> {
  readonly side: Side;
  readonly check: OptionCheck | OptionShape;
  /** Reads a value that passed the check; `undefined` where none is set. */
  readonly read: (value: unknown) => Value;
  readonly variable?: string | undefined;
  /** True if the variable holds several values, with commas between. */
  readonly isList?: boolean;
  /** Other forms of the same value, in the same block: whichever is given later counts. */
  readonly replaces?: readonly string[];
  /** Present if a value that is set again is merged field by field. */
  readonly fields?: AnyRows;
}

/** The rows of a table, to be walked. */
export type AnyRows = { readonly [name: string]: Partial<SettingRow> };

/** A row for every setting, and for no other. A block is a row of rows; set again, it is merged field by field. */
export type Rows<Settings> = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer Value>
    ? SettingRow<Value>
    : { readonly fields: Rows<Settings[Name]> };
};

/** The row of a field. */
export function row<Given, Value>(
  side: Side,
  check: OptionCheck | OptionShape,
  read: (value?: Given) => Value,
  variable?: string,
): SettingRow<Value> {
  return { side, check, read: read as (value: unknown) => Value, variable };
}

/** The row of a text, empty by default. */
export function textRow(side: Side, variable?: string): SettingRow<string> {
  return row(side, isText, (value?: string) => value ?? '', variable);
}

/** The row of a secret, empty by default. */
export function secretRow(variable?: string): SettingRow<Secret> {
  return row('proof', isText, (value?: string) => secret(value ?? ''), variable);
}

/** True if a value has fields of the site's own: no list, no promise that nobody awaited, no map, no URL. */
export function hasFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return ['[object Object]', '[object Module]'].includes(Object.prototype.toString.call(value));
}

export const object: OptionCheck = accept(hasFields, 'an object');

/** The values of settings, without their places. */
export function valuesOf<Settings extends object>(settings: Settings): ValuesOf<Settings> {
  const entries = Object.entries(settings).map(([name, { value }]: [string, Setting<unknown>]) => [name, value]);
  return Object.fromEntries(entries) as ValuesOf<Settings>;
}

/** The text of a setting, in the clear. */
export function revealed({ value }: Setting<unknown>): string {
  if (typeof value === 'string') return value;
  return (value as Partial<Secret> | undefined)?.reveal?.() ?? '';
}

/** The first setting that has a value, else the last. */
export function firstFilled<Value>(setting: Setting<Value>, ...others: readonly Setting<Value>[]): Setting<Value> {
  const all = [setting, ...others];
  return all.find((one) => revealed(one) !== '') ?? all.at(-1) ?? setting;
}
