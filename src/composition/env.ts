import { ConfigurationError } from '../domain/errors.js';
import type { ServerConfig } from './config.js';
import { distance, nearest } from '../domain/shared/nearest.js';

/** Where each variable goes: a field, or block and field. */
const VARIABLES: Readonly<Record<string, readonly [string] | readonly [string, string]>> = {
  A2A_URL: ['a2aUrl'],
  SERVICE_API_URL: ['serviceApiUrl'],
  SERVICE_API_KEY: ['serviceApiKey'],
  SERVICE_PROJECT_ID: ['serviceProjectId'],
  SERVICE_AUTH_STRATEGY: ['serviceAuthStrategy'],
  AUTH_PROVIDER: ['authProvider'],
  SERVICE_ACCOUNT_ID: ['serviceAccount', 'serviceAccountId'],
  SERVICE_ACCOUNT_KEY_ID: ['serviceAccount', 'keyId'],
  SERVICE_ACCOUNT_PRIVATE_KEY: ['serviceAccount', 'privateKeyPem'],
  SERVICE_ACCOUNT_PRIVATE_KEY_PATH: ['serviceAccount', 'privateKeyPath'],
  SERVICE_ACCOUNT_AUDIENCE: ['serviceAccount', 'audience'],
  IDP_A_DOMAIN: ['idpA', 'domain'],
  IDP_A_CLIENT_ID: ['idpA', 'clientId'],
  IDP_A_CLIENT_SECRET: ['idpA', 'clientSecret'],
  IDP_A_AUDIENCE: ['idpA', 'audience'],
  IDP_A_SCOPE: ['idpA', 'scope'],
  IDP_A_REALM: ['idpA', 'realm'],
  IDP_A_SERVICE_USER_USERNAME: ['idpAServiceUser', 'username'],
  IDP_A_SERVICE_USER_PASSWORD: ['idpAServiceUser', 'password'],
  IDP_B_TENANT_ID: ['idpBService', 'tenantId'],
  IDP_B_CLIENT_ID: ['idpBService', 'clientId'],
  IDP_B_SCOPE: ['idpBService', 'scope'],
  IDP_B_CLIENT_SECRET: ['idpBService', 'clientSecret'],
  IDP_B_CERTIFICATE_PATH: ['idpBService', 'certificatePath'],
  IDP_B_PRIVATE_KEY_PATH: ['idpBService', 'privateKeyPath'],
  PUBLIC_URL: ['publicUrl'],
  CACHE_URL: ['cacheStore'],
  CACHE_KEYS: ['cacheKeys'],
};

/** Variables that hold several values, with commas between. */
const LISTS = ['CACHE_KEYS'];

const NAMES = Object.keys(VARIABLES);
/** Nobody else uses these, so every unknown name under them is a mistake. */
const OWN_PREFIXES = ['SERVICE_ACCOUNT_', 'SERVICE_AUTH_', 'IDP_A_', 'IDP_B_'];
/** These may belong to the site too: only a name close to one of ours is a slip of the hand. */
const SHARED_PREFIXES = ['A2A_', 'SERVICE_API_', 'SERVICE_PROJECT_'];
const SLIP = 3;

/**
 * Reads a configuration from environment variables; reads nothing else and sets nothing.
 * Empty variables count as absent.
 *
 * @throws ConfigurationError when a variable under one of our prefixes is misspelt, with the nearest right name.
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
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '') continue;
    const place = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
    if (place === undefined) {
      checkSpelling(name);
      continue;
    }
    const [first, field] = place;
    if (field === undefined) config[first] = LISTS.includes(name) ? list(value) : value;
    else config[first] = { ...(config[first] as object | undefined), [field]: value };
  }
  return config;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function checkSpelling(name: string): void {
  const under = (prefixes: readonly string[]): boolean => prefixes.some((prefix) => name.startsWith(prefix));
  const meant = nearest(name, NAMES);
  if (!under(OWN_PREFIXES) && !(under(SHARED_PREFIXES) && distance(name, meant) <= SLIP)) return;
  throw new ConfigurationError({
    detail: `The environment variable ${name} is none this package reads.`,
    hint: `Did you mean ${meant}?`,
    block: 'environment',
    fields: [name],
  });
}
