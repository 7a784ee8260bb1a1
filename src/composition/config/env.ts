import { distance, nearest } from '../../domain/shared/nearest.js';
import { VARIABLES } from './schema.js';
import type { ServerConfig } from './server-config.js';
import { type ConfigWarning, withWarnings } from './warnings.js';

const NAMES = VARIABLES.map(({ name }) => name);
/** The site, its host and its cluster have variables under these too: only a name close to one of ours is a slip of the hand. */
const PREFIXES = ['A2A_', 'SERVICE_API_', 'SERVICE_PROJECT_', 'SERVICE_AUTH_', 'SERVICE_ACCOUNT_', 'IDP_A_', 'IDP_B_'];
const MAX_SLIPS = 3;
/** What Kubernetes tells every pod of the services beside it, whatever they are called (Kubernetes documentation, "Service", "Discovering services"). */
const KUBERNETES = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?$/;

/**
 * Reads a configuration from environment variables; reads nothing else and sets nothing.
 * Empty variables count as absent, and variables of others are left alone. A name that is nearly one of ours, and a `PUBLIC_URL` that is no address
 * (other tools use that name for a path), are told as a `warning` event by the toolkit made from it: to `telemetry`, else on standard error.
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
  const config: Record<string, unknown> = {};
  const warnings: ConfigWarning[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '') continue;
    const variable = VARIABLES.find((one) => one.name === name);
    const warning = variable === undefined ? misspelt(name, env) : ignored(name, value);
    if (warning !== undefined) warnings.push(warning);
    if (variable === undefined || warning !== undefined) continue;
    const { block, field, isList } = variable;
    if (block === '') config[field] = isList ? list(value) : value;
    else config[block] = { ...(config[block] as object | undefined), [field]: value };
  }
  return withWarnings(config, warnings);
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** A name near one of ours is a mistake only where the right name is not set as well. */
function misspelt(name: string, env: Readonly<Record<string, string | undefined>>): ConfigWarning | undefined {
  const prefix = PREFIXES.find((one) => name.startsWith(one));
  if (prefix === undefined || KUBERNETES.test(name)) return undefined;
  const meant = nearest(name, NAMES);
  const most = Math.min(MAX_SLIPS, Math.ceil((name.length - prefix.length) / 2));
  if (env[meant] !== undefined || distance(name, meant) > most) return undefined;
  const detail = `${name}: agent-bff reads no such environment variable. Did you mean ${meant}?`;
  return { code: 'variable_misspelt', detail, variable: name };
}

/** Create React App and others have a path in a variable of this name, such as "/" or ".". */
function ignored(name: string, value: string): ConfigWarning | undefined {
  if (name !== 'PUBLIC_URL' || /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : '')) return undefined;
  const detail = `${name}: ignored, because it is no address such as https://site.example. Set "publicUrl" in configureServer where this variable belongs to another program.`;
  return { code: 'variable_ignored', detail, variable: name };
}
