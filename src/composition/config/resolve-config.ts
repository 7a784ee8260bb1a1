import { MethodPolicy } from '../../domain/chat/method-policy.js';
import { ConfigurationError } from '../../domain/shared/errors.js';
import { nearest, similar } from '../../domain/shared/nearest.js';
import type { Secret } from '../../domain/shared/secret.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Endpoint } from '../../domain/upstream/platform-call.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { KeyvLike } from '../../adapters/keyv/keyv-cache-store.js';
import { principalOf } from './identity-fields.js';
import { type CacheAddress, cacheAddress } from './cache-address.js';
import { type AnyRows, type ConfigFields, FIELDS, isObject, object, type Values } from './schema.js';
import type { ServerConfig } from './server-config.js';
import { AUTH_PROVIDERS } from './provider-flows.js';
import { nameHint, STRATEGIES } from './strategy-names.js';

type Derived = 'a2aUrl' | 'agentCardUrl' | 'serviceApiUrl' | 'a2aMethods' | 'idpAServiceUser' | 'idpBService';

/** Text fields are empty when absent; secrets are wrapped. Behind this type nothing has a default any more. */
export interface ResolvedConfig extends Omit<ConfigFields, Derived | 'serviceAccount' | 'timeouts' | 'onBehalfOf'> {
  readonly agent: Endpoint | undefined;
  /** Where the agent's card is; undefined when it is to be looked for. */
  readonly agentCard: Endpoint | undefined;
  readonly serviceApi: Endpoint | undefined;
  readonly serviceAccount: ResolvedServiceAccount;
  readonly idpA: ResolvedIdpA;
  readonly idpB: ResolvedIdpB;
  /** One policy for all credentials when configured; else closed for services and open for sessions. */
  readonly servicePolicy: MethodPolicy;
  readonly sessionPolicy: MethodPolicy;
  readonly timeouts: ResolvedTimeouts;
  readonly onBehalfOf: ResolvedOnBehalfOf;
  /** Undefined when there is none, or one at `cacheAddress`. */
  readonly cacheStore: CacheStore | KeyvLike | undefined;
  readonly cacheAddress: CacheAddress | undefined;
  readonly customProviders: ReadonlySet<string>;
  /** Tells the platform, as this configuration addresses it, from others that share a store. */
  readonly place: string;
}

/** The `serviceAccount` block, complete. */
export type ResolvedServiceAccount = ConfigFields['serviceAccount'] & { readonly filled: boolean };

/** The blocks `idpA` and `idpAServiceUser`, complete. */
export type ResolvedIdpA = ConfigFields['idpA'] & ConfigFields['idpAServiceUser'];

/** The block `idpBService`, complete. */
export type ResolvedIdpB = ConfigFields['idpBService'];

/** The exchange of users' tokens, complete: what the `onBehalfOf` block leaves out comes from the provider's own block. */
export interface ResolvedOnBehalfOf {
  /** Whether every session route exchanges; else those that ask for it. */
  readonly configured: boolean;
  readonly provider: string;
  /** The fields whose value, or want of one, is of this block; the others are of the provider's own. */
  readonly own: ReadonlySet<string>;
  readonly idpA: Pick<ConfigFields['onBehalfOf'], 'audience' | 'scope' | 'subjectTokenType'>;
  readonly idpB: ResolvedIdpB;
}

/** All deadlines in milliseconds. */
export type ResolvedTimeouts = ConfigFields['timeouts'] & {
  /** For chat messages, whose agents may work for minutes before they speak. */
  readonly chat: Pick<ConfigFields['timeouts'], 'headersMs' | 'bodyIdleMs' | 'bodyMs'>;
};

/**
 * Checks a configuration and completes it, with further providers of a toolkit: the table of fields says how, and here is what is made of several fields.
 *
 * @throws ConfigurationError naming block and field.
 */
export function resolveConfig(
  config: ServerConfig,
  { identityProviders = {} }: Pick<ServerConfig, 'identityProviders'> = {},
): ResolvedConfig {
  check(config);
  const providers = { ...config.identityProviders, ...identityProviders };
  const customProviders: ReadonlySet<string> = new Set(Object.keys(providers));
  checkName('serviceAuthStrategy', config.serviceAuthStrategy, [...STRATEGIES, ...customProviders]);
  checkName('provider', config.onBehalfOf?.provider, AUTH_PROVIDERS, 'onBehalfOf');
  checkName('authProvider', config.authProvider, [...AUTH_PROVIDERS, ...customProviders]);
  const fields = read(FIELDS, config as Values) as ConfigFields;
  const { a2aUrl, agentCardUrl, serviceApiUrl, a2aMethods, idpAServiceUser, idpBService, cacheStore, ...same } = fields;
  return {
    ...same,
    agent: a2aUrl,
    agentCard: agentCardUrl,
    serviceApi: serviceApiUrl,
    serviceAccount: serviceAccount(fields.serviceAccount, config),
    idpA: { ...fields.idpA, ...idpAServiceUser },
    idpB: idpBService,
    servicePolicy: new MethodPolicy(a2aMethods ?? 'chat'),
    sessionPolicy: new MethodPolicy(a2aMethods ?? 'all'),
    timeouts: {
      ...fields.timeouts,
      chat: {
        headersMs: config.timeouts?.headersMs ?? CHAT_SILENCE_MS,
        bodyIdleMs: config.timeouts?.bodyIdleMs ?? CHAT_SILENCE_MS,
        bodyMs: config.timeouts?.bodyMs ?? 0,
      },
    },
    onBehalfOf: onBehalfOf(fields, config.onBehalfOf !== undefined),
    cacheStore: typeof cacheStore === 'string' ? undefined : cacheStore,
    cacheAddress: typeof cacheStore === 'string' && cacheStore !== '' ? cacheAddress(cacheStore) : undefined,
    identityProviders: providers,
    customProviders,
    place: principalOf(FIELDS, fields as unknown as Values),
  };
}

/** An agent may work for minutes before it speaks (decision 86). */
const CHAT_SILENCE_MS = 300_000;

/** Every secret of a configuration, for the one place that takes them out of texts. */
export function configuredSecrets(config: ResolvedConfig): string[] {
  return secretsIn(config, 4);
}

/** Refuses values of a wrong kind and unknown fields. Values are never quoted: a secret may sit in the wrong field. */
function check(values: unknown, rows: AnyRows = FIELDS, block = ''): void {
  const { place, inside } = placeOf(block);
  if (!isObject(values)) {
    const hint = 'Pass an object to configureServer.';
    throw new ConfigurationError({ detail: 'The configuration is not an object.', hint, block: place });
  }
  for (const [name, row] of Object.entries(rows)) {
    const value = values[name];
    if (value === undefined) continue;
    const hint = (row.check ?? object)(value, values);
    if (hint !== undefined) {
      throw invalid(name, block, hint);
    }
    if (row.check === undefined) check(value, row.fields, name);
  }
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(rows, name));
  if (unknown === undefined) return;
  const detail = `Unknown field "${unknown}" in ${inside}.`;
  const hint = unknownHint(unknown, Object.keys(values), Object.keys(rows));
  throw new ConfigurationError({ detail, hint, block: place, fields: [unknown] });
}

function unknownHint(unknown: string, names: readonly string[], known: readonly string[]): string {
  // `process.env` itself.
  if (names.some((name) => /^[A-Z][A-Z\d_]+$/.test(name))) return 'Pass variables through configFromEnv(process.env).';
  const shortened = known.filter((name) => isShortened(unknown, name));
  const meant = similar(unknown, known) ?? nearest(unknown, shortened);
  return meant === '' ? `Known fields: ${known.join(', ')}.` : `Did you mean "${meant}"?`;
}

/** Whether a name has letters of another in their order, as "kid" has those of "keyId", and "apiKey" of "serviceApiKey". */
function isShortened(short: string, name: string): boolean {
  const letters = short.toLowerCase();
  let found = 0;
  for (const letter of name.toLowerCase()) if (letter === letters[found]) found += 1;
  return found === letters.length;
}

function placeOf(block: string): { readonly place: string; readonly inside: string } {
  if (block === '') return { place: 'configureServer', inside: 'configureServer' };
  return { place: block, inside: `the "${block}" configuration block` };
}

function invalid(field: string, block: string, hint: string): ConfigurationError {
  const { place, inside } = placeOf(block);
  return new ConfigurationError({
    detail: `Invalid value for "${field}" in ${inside}.`,
    hint,
    block: place,
    fields: [field],
  });
}

function checkName(field: string, value: string | undefined, known: readonly string[], block = ''): void {
  const hint = value === undefined || value === '' ? undefined : nameHint(value, known);
  if (hint === undefined) return;
  throw invalid(field, block, hint);
}

function read(rows: AnyRows, values: Values): Values {
  const entries = Object.entries(rows).map(([name, row]) => {
    const value = values[name];
    return [name, row.read === undefined ? read(row.fields ?? {}, (value ?? {}) as Values) : row.read(value)];
  });
  return Object.fromEntries(entries) as Values;
}

function serviceAccount(
  block: ConfigFields['serviceAccount'],
  { serviceAccount: given = {}, serviceApiUrl = '' }: ServerConfig,
): ResolvedServiceAccount {
  return {
    ...block,
    filled: Object.values(given).some((value) => value !== undefined && value !== ''),
    audience: block.audience === '' ? withoutTrailingSlashes(serviceApiUrl.trim()) : block.audience,
    subject: block.subject || block.serviceAccountId,
    issuer: block.issuer || block.serviceAccountId,
  };
}

function onBehalfOf(
  { onBehalfOf: block, idpA, idpBService: idpB, authProvider }: ConfigFields,
  configured: boolean,
): ResolvedOnBehalfOf {
  // A certificate or a secret of the block stands for itself: half of one and half of the other fits nobody.
  const hasCredential = [block.clientSecret.reveal(), block.certificatePath, block.privateKeyPath].some(Boolean);
  const { clientSecret, certificatePath, privateKeyPath } = hasCredential ? block : idpB;
  const provider = block.provider || (authProvider === 'idp_a' ? 'idp_a' : 'idp_b');
  const credential = { clientSecret, certificatePath, privateKeyPath };
  const { tenantId, clientId, scope, audience, subjectTokenType } = block;
  const texts = Object.entries(provider === 'idp_a' ? { scope, audience } : { tenantId, clientId, scope });
  const own = texts.filter(([name, value]) => value !== '' || (clientId !== '' && idpB[name as 'scope'] === ''));
  return {
    configured,
    provider,
    own: new Set([...own.map(([name]) => name), ...(hasCredential ? Object.keys(credential) : [])]),
    idpA: { audience: audience || idpA.audience, scope: scope || idpA.scope, subjectTokenType },
    idpB: {
      tenantId: tenantId || idpB.tenantId,
      authority: idpB.authority,
      clientId: clientId || idpB.clientId,
      scope: scope || idpB.scope,
      ...credential,
    },
  };
}

function secretsIn(value: unknown, depth: number): string[] {
  if (isSecret(value)) return [value.reveal()];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  // Only plain blocks: what a site brings, such as a store, is not ours to look into.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return [];
  return Object.values(value).flatMap((inner) => secretsIn(inner, depth - 1));
}

function isSecret(value: unknown): value is Secret {
  return typeof (Object(value) as Partial<Secret>).reveal === 'function';
}
