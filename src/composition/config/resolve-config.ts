import type { KeyvLike } from '../../adapters/keyv/keyv-like.js';
import { readSealingKey, type SealingKey } from '../../adapters/keyv/sealing-key.js';
import { MethodPolicy } from '../../domain/chat/method-policy.js';
import { ConfigurationError } from '../../domain/errors.js';
import { type Secret, secret } from '../../domain/shared/secret.js';
import { type Endpoint, endpoint } from '../../domain/upstream/upstream-request.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { HostName } from '../../adapters/web/host-name.js';
import { allowedHost } from './allowed-hosts.js';
import { type CacheAddress, cacheAddress } from './cache-address.js';
import { BLOCKS, checkConfig, type Completed, completed, FIELDS } from './schema.js';
import type {
  IdpAConfig,
  IdpAServiceUserConfig,
  IdpBServiceConfig,
  ServerConfig,
  ServiceAccountConfig,
  TimeoutsConfig,
} from './server-config.js';
import { type ResolvedUpstream, resolveUpstream } from './upstream-config.js';
import { headerSecret } from './header-secret.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';

/** Fields whose completed form is another one, below. */
type Read =
  'a2aUrl' | 'agentCardUrl' | 'serviceApiUrl' | 'a2aMethods' | 'idpAServiceUser' | 'idpBService' | keyof Derived;

/** A configuration with every default: a text is empty without a value, a secret is wrapped, a number has its default. Behind this type nothing is optional. */
export interface ResolvedConfig extends Omit<Completed<ServerConfig>, Read>, Derived {}

interface Derived {
  readonly agent: Endpoint | undefined;
  /** Where the agent's card is; undefined when it is to be looked for. */
  readonly agentCard: Endpoint | undefined;
  readonly serviceApi: Endpoint | undefined;
  readonly upstream: ResolvedUpstream;
  /** Always with `JSONRPC`, which is what the chat route itself speaks. */
  readonly bindings: readonly string[];
  readonly serviceApiKey: Secret | undefined;
  readonly serviceAccount: ResolvedServiceAccount;
  readonly idpA: ResolvedIdpA;
  readonly idpB: ResolvedIdpB;
  /** Without a trailing slash; empty when not configured. */
  readonly publicUrl: string;
  /** One policy for all credentials when configured; else closed for services and open for sessions. */
  readonly servicePolicy: MethodPolicy;
  readonly sessionPolicy: MethodPolicy;
  readonly timeouts: ResolvedTimeouts;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Empty when any name will do. */
  readonly allowedHosts: readonly HostName[];
  readonly onBehalfOf: ResolvedOnBehalfOf;
  /** Undefined when there is none, or one at `cacheAddress`. */
  readonly cacheStore: CacheStore | KeyvLike | undefined;
  readonly cacheAddress: CacheAddress | undefined;
  readonly cacheKeys: readonly SealingKey[];
  /** Undefined: faults go to the terminal. */
  readonly telemetry: readonly Telemetry[] | undefined;
  readonly customProviders: ReadonlySet<string>;
}

/** The `serviceAccount` block, complete. */
export interface ResolvedServiceAccount extends Omit<
  Completed<ServiceAccountConfig>,
  'privateKeyPem' | 'audience' | 'claims'
> {
  readonly filled: boolean;
  readonly privateKeyPem: Secret | undefined;
  readonly audience: string | readonly string[] | false;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The blocks `idpA` and `idpAServiceUser`, complete. */
export interface ResolvedIdpA
  extends Completed<IdpAConfig, 'clientSecret'>, Completed<IdpAServiceUserConfig, 'password'> {}

/** The block `idpBService`, complete. */
export interface ResolvedIdpB extends Completed<IdpBServiceConfig, 'clientSecret'> {}

/** The exchange of users' tokens, complete: what the `onBehalfOf` block leaves out comes from the provider's own block. */
export interface ResolvedOnBehalfOf {
  /** Whether every session route exchanges. */
  readonly configured: boolean;
  readonly provider: string;
  readonly idpA: { readonly audience: string; readonly scope: string; readonly subjectTokenType: string };
  readonly idpB: ResolvedIdpB;
}

/** All deadlines in milliseconds. */
export interface ResolvedTimeouts extends Completed<TimeoutsConfig> {
  /** For chat messages, whose agents may work for minutes before they speak. */
  readonly chat: Pick<Completed<TimeoutsConfig>, 'headersMs' | 'bodyIdleMs' | 'bodyMs'>;
}

/**
 * Checks a configuration and completes it by the table of `schema.ts`.
 *
 * @throws ConfigurationError naming block and field.
 */
export function resolveConfig(config: ServerConfig, customProviders: ReadonlySet<string>): ResolvedConfig {
  checkConfig(config, customProviders);
  const { a2aUrl, agentCardUrl, serviceApiUrl, serviceApiKey: _key, a2aMethods, ...fields } = completed(FIELDS, config);
  const { cacheStore, publicUrl } = fields;
  return {
    ...fields,
    agent: a2aUrl === '' ? undefined : endpoint('a2aUrl', a2aUrl),
    agentCard: agentCardUrl === '' ? undefined : endpoint('agentCardUrl', agentCardUrl),
    upstream: resolveUpstream(config.upstream),
    bindings: [...new Set(['JSONRPC', ...(config.bindings ?? [])])],
    serviceApi: serviceApiUrl === '' ? undefined : endpoint('serviceApiUrl', serviceApiUrl),
    serviceApiKey: headerSecret(config.serviceApiKey),
    serviceAccount: serviceAccount(config),
    idpA: idpA(config),
    idpB: idpB(config),
    publicUrl: publicUrl === '' ? '' : withoutSlash(publicAddress(publicUrl)),
    servicePolicy: new MethodPolicy(a2aMethods ?? 'chat'),
    sessionPolicy: new MethodPolicy(a2aMethods ?? 'all'),
    timeouts: {
      ...completed(BLOCKS.timeouts, config.timeouts),
      chat: {
        headersMs: config.timeouts?.headersMs ?? CHAT_SILENCE_MS,
        bodyIdleMs: config.timeouts?.bodyIdleMs ?? CHAT_SILENCE_MS,
        bodyMs: config.timeouts?.bodyMs ?? 0,
      },
    },
    allowedOrigins: new Set((config.allowedOrigins ?? []).map(allowedOrigin)),
    allowedHosts: (config.allowedHosts ?? []).map(allowedHost),
    onBehalfOf: onBehalfOf(config),
    cacheStore: typeof cacheStore === 'string' ? undefined : cacheStore,
    cacheAddress: typeof cacheStore === 'string' && cacheStore !== '' ? cacheAddress(cacheStore) : undefined,
    cacheKeys: (config.cacheKeys ?? []).map(sealingKey),
    telemetry: listeners(config.telemetry),
    customProviders,
  };
}

/** An agent may work for minutes before it speaks (decision 86). */
const CHAT_SILENCE_MS = 300_000;

function listeners(telemetry: ServerConfig['telemetry']): readonly Telemetry[] | undefined {
  if (telemetry === undefined || telemetry === 'silent') return telemetry && [];
  return [telemetry].flat();
}

function serviceAccount({ serviceAccount: block = {}, serviceApiUrl = '' }: ServerConfig): ResolvedServiceAccount {
  const { privateKeyPem = '', audience } = block;
  const { privateKeyPem: _pem, claims = {}, ...fields } = completed(BLOCKS.serviceAccount, block);
  return {
    ...fields,
    filled: Object.values(block).some((value) => value !== undefined && value !== ''),
    privateKeyPem: privateKeyPem === '' ? undefined : secret(privateKeyPem),
    audience: audience === undefined || audience === '' ? withoutSlash(serviceApiUrl) : audience,
    subject: orElse(block.subject, fields.serviceAccountId),
    issuer: orElse(block.issuer, fields.serviceAccountId),
    claims,
  };
}

function idpA({ idpA: block, idpAServiceUser: user }: ServerConfig): ResolvedIdpA {
  return {
    ...completed<IdpAConfig, 'clientSecret'>(BLOCKS.idpA, block),
    ...completed<IdpAServiceUserConfig, 'password'>(BLOCKS.idpAServiceUser, user),
  };
}

function idpB({ idpBService: block }: ServerConfig): ResolvedIdpB {
  return completed<IdpBServiceConfig, 'clientSecret'>(BLOCKS.idpBService, block);
}

function onBehalfOf(config: ServerConfig): ResolvedOnBehalfOf {
  const { onBehalfOf: block = {}, authProvider = '' } = config;
  const a = idpA(config);
  const b = idpB(config);
  // A certificate or a secret of the block stands for itself: half of one and half of the other fits nobody.
  const ownCredential = [block.clientSecret, block.certificatePath, block.privateKeyPath].some(
    (value) => value !== undefined && value !== '',
  );
  return {
    configured: config.onBehalfOf !== undefined,
    provider: orElse(block.provider, authProvider === 'idp_a' ? 'idp_a' : 'idp_b'),
    idpA: {
      audience: orElse(block.audience, a.audience),
      scope: orElse(block.scope, a.scope),
      subjectTokenType: block.subjectTokenType ?? '',
    },
    idpB: {
      tenantId: orElse(block.tenantId, b.tenantId),
      clientId: orElse(block.clientId, b.clientId),
      scope: orElse(block.scope, b.scope),
      clientSecret: ownCredential ? secret(block.clientSecret ?? '') : b.clientSecret,
      certificatePath: ownCredential ? (block.certificatePath ?? '') : b.certificatePath,
      privateKeyPath: ownCredential ? (block.privateKeyPath ?? '') : b.privateKeyPath,
    },
  };
}

function sealingKey(text: string): SealingKey {
  const reading = readSealingKey(secret(text));
  if (reading.kind === 'key') return reading.key;
  throw new ConfigurationError({
    detail: 'Invalid key in "cacheKeys".',
    hint: reading.advice,
    block: 'configureServer',
    fields: ['cacheKeys'],
  });
}

function publicAddress(address: string): string {
  const { origin, path } = endpoint('publicUrl', address);
  return origin + path;
}

function allowedOrigin(origin: string): string {
  // Browsers leave the scheme's own port out.
  if (/^https?:\/\/[^/\\?#*\s,@]+$/i.test(origin) && URL.canParse(origin)) return new URL(origin).origin;
  throw new ConfigurationError({
    detail: 'Invalid origin in "allowedOrigins".',
    hint: 'List scheme and host only, such as https://shop.example.',
    block: 'configureServer',
    fields: ['allowedOrigins'],
  });
}

function orElse(value: string | undefined, fallback: string): string {
  return value === undefined || value === '' ? fallback : value;
}

function withoutSlash(address: string): string {
  return withoutTrailingSlashes(address.trim());
}
