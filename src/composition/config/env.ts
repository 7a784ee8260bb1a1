import { inspect } from 'node:util';
import { distance, nearest } from '../../domain/shared/nearest.js';
import { accept, checkArgument } from '../../domain/shared/options.js';
import { type AnyRows, hasFields } from '../../domain/shared/setting.js';
import { REDACTED } from '../../domain/shared/secret.js';
import { PROVIDERS } from './providers.js';
import { FIELDS, SERVICE_TOKEN } from './schema.js';
import type { ServerConfig } from './server-config.js';

/** The field that an environment variable sets. */
interface Variable {
  /** The field, or block and field. */
  readonly path: readonly string[];
  readonly isList: boolean;
  /** True if the variable with `_FILE` at its end takes the path of a file instead. */
  readonly hasFile: boolean;
}

const VARIABLES: ReadonlyMap<string, Variable> = new Map(variableRows(FIELDS));
const NAMES = [...VARIABLES].flatMap(([name, { hasFile }]) => (hasFile ? [name, `${name}_FILE`] : [name]));
/** The site, its host and its cluster also have variables with these prefixes: only a name similar to one of ours is a typing mistake. */
const PREFIXES = [
  'A2A_',
  'SERVICE_API_',
  'SERVICE_PROJECT_',
  'SERVICE_AUTH_',
  ...Object.values(PROVIDERS).map(({ prefix }) => prefix),
];
const MAX_SLIPS = 3;
/** Written by some editors at the start of a file. */
const BYTE_ORDER_MARK = '\uFEFF';
/** The first bytes of a UTF-16 file, as Node reads them; its only variable is empty. */
const NOT_UTF8 = '\uFFFD';
/** The variable of a field by the name one would guess: `privateKeyPem` of `serviceAccount` is SERVICE_ACCOUNT_PRIVATE_KEY. */
const BY_FIELD: ReadonlyMap<string, string> = new Map([
  ...[...VARIABLES].map(([name, { path }]) => [path.join('_').replace(/[A-Z]/g, '_$&').toUpperCase(), name] as const),
  ['SERVICE_ACCOUNT_PRIVATE_KEY_FILE', 'SERVICE_ACCOUNT_PRIVATE_KEY_PATH'],
]);
/**
 * Variables that Kubernetes sets in every pod for each service in its namespace, with any name (Kubernetes
 * documentation, "Service", "Discovering services").
 */
const KUBERNETES = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?$/;

/** A problem with the source of a configuration that does not prevent the start. */
interface ConfigWarning {
  readonly code: 'variable_misspelt' | 'variable_ignored' | 'variable_suspect' | 'variable_foreign';
  readonly detail: string;
  /** The environment variable. */
  readonly variable: string;
}

/** The environment that a configuration was read from. */
interface Origin {
  readonly warnings: readonly ConfigWarning[];
  /**
   * True if the value comes from this variable, or neither is set. A function, so that no printed object repeats a
   * secret.
   */
  readonly hasSet: (variable: string, value: unknown) => boolean;
}

/**
 * The member that holds the origin of a configuration. Spread and assignment copy it, and code that iterates fields does
 * not see it. A registered symbol, because bundlers give each entry its own copy of this module.
 */
const ORIGIN: unique symbol = Symbol.for('agent-bff/environment@1') as never;

/**
 * Reads a configuration from environment variables; reads nothing else and sets nothing. Empty variables count as
 * absent, a trailing line end is removed, and other variables are ignored. Printing the result shows no value. A name that is similar to one of ours, a value
 * in quotes or with a placeholder, and a `PUBLIC_URL` that is not an address (other tools use that name for a path),
 * cause a `warning` event of the toolkit made from the configuration: in `telemetry`, otherwise on standard error.
 *
 * @example
 * ```ts
 * import { configFromEnv, configureServer } from 'agent-bff';
 *
 * configureServer(configFromEnv(process.env));
 * ```
 *
 * @public
 */
export function configFromEnv(env: Readonly<Record<string, string | undefined>>): ServerConfig {
  checkArgument('configFromEnv', 'env', env, accept(hasFields, 'process.env'));
  const config: Record<string, unknown> = {};
  const warnings: ConfigWarning[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || (value === '' && !name.startsWith(NOT_UTF8))) continue;
    const secret = name.replace(/_FILE$/, '');
    const isFile = secret !== name && VARIABLES.get(secret)?.hasFile === true;
    const known = VARIABLES.get(isFile ? secret : name);
    const detail = known === undefined ? misspelt(name, env) : ignored(name, value, env);
    const code = known === undefined ? 'variable_misspelt' : 'variable_ignored';
    if (detail !== undefined) warnings.push({ code, detail, variable: name.replace(BYTE_ORDER_MARK, '') });
    if (known === undefined || detail !== undefined) continue;
    // The entry of the file names both.
    if (known.hasFile && !isFile && env[`${name}_FILE`]) continue;
    const [first = '', field] = known.path;
    // A secret mounted as a file often has a trailing line end.
    const text = value.endsWith('\n') ? value.trimEnd() : value;
    const [what, fix] = oddity(text) ?? [];
    if (what !== undefined) {
      warnings.push({ code: 'variable_suspect', detail: `${name}: its value is ${what}. ${fix}`, variable: name });
    }
    const and = env[secret] ? { and: secret } : {};
    const read = isFile ? { path: text, ...and } : known.isList ? text.split(/[\s,]+/).filter(Boolean) : text;
    if (field === undefined) config[first] = read;
    else config[first] = { ...(config[first] as object | undefined), [field]: read };
  }
  const hasSet: Origin['hasSet'] = (variable, value) => value === valueOf(config, variable);
  for (const block of Object.values(config)) if (hasFields(block)) hideValues(block, false);
  // Enumerable: a copy with further fields hides its values from `console.log` too.
  return hideValues(withOrigin(config, { [ORIGIN]: { warnings, hasSet } }), true);
}

/** Shows which fields are set: any value may be a secret, also one in the wrong variable. */
function printed(this: object): object {
  const shown = Object.entries(this).map(([name, value]) => [name, hasFields(value) ? value : REDACTED]);
  return Object.fromEntries(shown) as object;
}

function hideValues<Block extends object>(block: Block, enumerable: boolean): Block {
  const custom = { value: printed, enumerable };
  return Object.defineProperties(block, { [inspect.custom]: custom, toJSON: { value: printed } });
}

/** A configuration that may have an origin. */
interface Originated extends ServerConfig {
  readonly [ORIGIN]?: Origin;
}

/** `providers`: those of the site besides the ones in the configuration. */
export function warningsOf(config: Originated, providers: object = {}): readonly ConfigWarning[] {
  const all = { ...config, identityProviders: { ...config.identityProviders, ...providers } };
  return [...(config[ORIGIN]?.warnings ?? []), ...foreignIn(config, all).map(({ warning }) => warning)];
}

/** The configuration without values of variables that belong to another program; in `configureServer` the same values throw. */
export function withoutForeign(config: Originated, all: object = config): ServerConfig {
  const foreign = foreignIn(config, all);
  return foreign.length === 0
    ? config
    : { ...config, ...Object.fromEntries(foreign.map(({ field }) => [field, undefined])) };
}

/** The fields whose variables other programs use too. */
const COMMON_NAMES = Object.entries(FIELDS).filter(([, { isForeign }]) => isForeign !== undefined);

function foreignIn(config: Originated, all: object): readonly { field: string; warning: ConfigWarning }[] {
  const origin = config[ORIGIN];
  if (origin === undefined) return [];
  return COMMON_NAMES.flatMap(([field, { variable = '', isForeign }]) => {
    const value = valueOf(config, variable);
    const isRead = value !== undefined && !hasFields(value) && origin.hasSet(variable, value);
    if (!isRead || isForeign?.(value, all) !== true) return [];
    const detail = `${variable}: ignored, because its value is none of "${field}". Set "${field}" in configureServer if this variable belongs to another program.`;
    return [{ field, warning: { code: 'variable_foreign', detail, variable } as const }];
  });
}

/** The merged configuration with its origin: warnings of earlier calls have been reported. */
export function withOrigin(merged: ServerConfig, changes: Originated, current: Originated = {}): Originated {
  const origin = changes[ORIGIN] ?? (current[ORIGIN] && { ...current[ORIGIN], warnings: [] });
  return origin === undefined ? merged : { ...merged, [ORIGIN]: origin };
}

/** The variables that set these fields of a block, or the field that is named as a block. */
export function variablesOf(block: string, fields: readonly string[]): readonly string[] {
  const wanted =
    fields.length === 0 ? [block] : fields.map((field) => (block === 'configureServer' ? field : `${block}.${field}`));
  return [...VARIABLES.keys()].filter((name) => wanted.includes(VARIABLES.get(name)?.path.join('.') ?? ''));
}

/** A sentence after a hint: the variables that set these fields, or would. Empty if their values come from elsewhere. */
export function inEnvironment(config: Originated, block: string, fields: readonly string[]): string {
  const names = variablesOf(block, fields).filter((name) => config[ORIGIN]?.hasSet(name, valueOf(config, name)));
  const list = names.map((name) => {
    if (hasFields(valueOf(config, name))) return `${name}_FILE`;
    const [what] = oddity(valueOf(config, name)) ?? [];
    return what === undefined ? name : `${name} (its value is ${what})`;
  });
  return names.length === 0 ? '' : ` In the environment: ${list.join(', ')}.`;
}

/** Values that a shell would have changed: what they are, and the fix. */
const ODD = {
  quoted: ['in quotes', 'Remove them: `docker --env-file` and Kubernetes pass them on, as part of the value.'],
  placeholder: ['a placeholder', 'Replace it with the value.'],
} as const;

function oddity(value: unknown): (typeof ODD)[keyof typeof ODD] | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  // A key is read with its quotes.
  if (/^(["'])(?!-----BEGIN ).+\1$/s.test(text)) return ODD.quoted;
  const isPlaceholder = /\$\{\w+\}|\$\(\w+\)|\{\{[^{}]+\}\}|^<.*>$|^(?:undefined|null)$/.test(text);
  return isPlaceholder ? ODD.placeholder : undefined;
}

function valueOf(config: object, variable: string): unknown {
  const path = VARIABLES.get(variable)?.path ?? [];
  return path.reduce<unknown>(
    (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
    config,
  );
}

/** Every variable of the table, in its order. */
function variableRows(rows: AnyRows, path: readonly string[] = []): (readonly [string, Variable])[] {
  return Object.entries(rows).flatMap(([name, { variable, isList = false, file, fields = {} }]) => {
    const field = [...path, name];
    return [
      ...(variable === undefined ? [] : [[variable, { path: field, isList, hasFile: file !== undefined }] as const]),
      ...variableRows(fields, field),
    ];
  });
}

/** A name similar to one of ours is only a mistake if the right name is not set as well. */
function misspelt(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (name.startsWith(BYTE_ORDER_MARK) && VARIABLES.has(name.slice(1)))
    return `${name.slice(1)}: its file begins with a byte order mark, which is read as part of this name. Save the file without one.`;
  if (name.startsWith(NOT_UTF8))
    return `${name}: its file is not UTF-8 but UTF-16, so that no variable of it is set. Save the file as UTF-8.`;
  const prefix = PREFIXES.find((one) => name.startsWith(one));
  if (KUBERNETES.test(name) || (prefix === undefined && /[a-z]/.test(name))) return undefined;
  const byField = prefix === undefined ? undefined : BY_FIELD.get(name);
  const meant = byField ?? nearest(name, NAMES);
  // The mistake may be in the prefix too; `CACHE_URI` and `PUBLIC_URI` are as likely to belong to another program.
  const isOurs = PREFIXES.some((one) => meant.startsWith(one)) || (meant === SERVICE_TOKEN && usesToken(env));
  if (prefix === undefined && !isOurs) return undefined;
  const most = prefix === undefined ? 1 : Math.min(MAX_SLIPS, Math.ceil((name.length - prefix.length) / 2));
  if (env[meant] !== undefined || (byField === undefined && distance(name, meant) > most)) return undefined;
  return `${name}: unknown environment variable. Did you mean ${meant}?`;
}

function usesToken(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['SERVICE_AUTH_STRATEGY']?.trim() === 'static_token';
}

/** Values of variables with a common name that are meant for another program. */
function ignored(name: string, value: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (name.replace(/_FILE$/, '') === SERVICE_TOKEN && !usesToken(env))
    return `${name}: ignored, because SERVICE_AUTH_STRATEGY is not static_token. Set SERVICE_AUTH_STRATEGY=static_token, or ignore this if ${name} belongs to another program.`;
  // Create React App and others use this variable for a path, such as "/" or ".".
  if (name !== 'PUBLIC_URL' || /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : '')) return undefined;
  return `${name}: ignored, because it is not a URL such as https://site.example. Set "publicUrl" in configureServer if this variable belongs to another program.`;
}
