import type { KeyvLike } from '../../adapters/keyv/keyv-like.js';
import { readSealingKey, type SealingKey } from '../../adapters/keyv/sealing-key.js';
import { MethodPolicy } from '../../domain/chat/method-policy.js';
import { ConfigurationError } from '../../domain/errors.js';
import { type Secret, secret } from '../../domain/shared/secret.js';
import { type Endpoint, endpoint } from '../../domain/upstream/upstream-request.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import type { HostName } from '../../adapters/web/host-name.js';
import { allowedHost } from './allowed-hosts.js';
import { type CacheAddress, cacheAddress } from './cache-address.js';
import type { ServerConfig } from './server-config.js';
import { checkConfig } from './schema.js';
import { type ResolvedUpstream, resolveUpstream } from './upstream-config.js';
import { headerSecret } from './header-secret.js';
import { withoutTrailingSlashes } from '../../domain/shared/trailing-slashes.js';

/** Text fields are empty when absent; secrets are wrapped. Behind this type nothing has a default any more. */
export interface ResolvedConfig {
  readonly agent: Endpoint | undefined;
  /** Where the agent's card is; undefined when it is to be looked for. */
  readonly agentCard: Endpoint | undefined;
  readonly serviceApi: Endpoint | undefined;
  readonly upstream: ResolvedUpstream;
  /** Always with `JSONRPC`, which is what the chat route itself speaks. */
  readonly bindings: readonly string[];
  readonly serviceApiKey: Secret | undefined;
  readonly serviceProjectId: string;
  readonly serviceAuthStrategy: string;
  readonly authProvider: string;
  readonly serviceAccount: ResolvedServiceAccount;
  readonly idpA: ResolvedIdpA;
  readonly idpB: ResolvedIdpB;
  /** Without a trailing slash; empty when not configured. */
  readonly publicUrl: string;
  /** One policy for all credentials when configured; else closed for services and open for sessions. */
  readonly servicePolicy: MethodPolicy;
  readonly sessionPolicy: MethodPolicy;
  readonly timeouts: ResolvedTimeouts;
  readonly bodyLimitBytes: number;
  /** 0 sets no limit. */
  readonly maxInFlight: number;
  readonly keepAliveMs: number;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Empty when any name will do. */
  readonly allowedHosts: readonly HostName[];
  readonly authUnavailableStatus: number;
  /** Undefined when users' tokens go as they are, unless a route asks for the exchange. */
  readonly onBehalfOf: ResolvedOnBehalfOf;
  /** Undefined when there is none, or one at `cacheAddress`. */
  readonly cacheStore: CacheStore | KeyvLike | undefined;
  readonly cacheAddress: CacheAddress | undefined;
  readonly cacheKeys: readonly SealingKey[];
  readonly chatLimit: VisitorLimit | undefined;
  /** Undefined: faults go to the terminal. */
  readonly telemetry: readonly Telemetry[] | undefined;
  readonly customProviders: ReadonlySet<string>;
}

/** The `serviceAccount` block, complete. */
export interface ResolvedServiceAccount {
  readonly filled: boolean;
  readonly serviceAccountId: string;
  readonly keyId: string;
  readonly privateKeyPem: Secret | undefined;
  readonly privateKeyPath: string;
  readonly audience: string | readonly string[] | false;
  readonly subject: string;
  readonly issuer: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The blocks `idpA` and `idpAServiceUser`, complete. */
export interface ResolvedIdpA {
  readonly domain: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly audience: string;
  readonly scope: string;
  readonly realm: string;
  readonly username: string;
  readonly password: Secret;
}

/** The block `idpBService`, complete. */
export interface ResolvedIdpB {
  readonly tenantId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly clientSecret: Secret;
  readonly certificatePath: string;
  readonly privateKeyPath: string;
}

/** The exchange of users' tokens, complete: what the `onBehalfOf` block leaves out comes from the provider's own block. */
export interface ResolvedOnBehalfOf {
  /** Whether every session route exchanges. */
  readonly configured: boolean;
  readonly provider: string;
  readonly idpA: { readonly audience: string; readonly scope: string; readonly subjectTokenType: string };
  readonly idpB: ResolvedIdpB;
}

/** All deadlines in milliseconds. */
export interface ResolvedTimeouts {
  /** For chat messages, whose agents may work for minutes before they speak. */
  readonly chat: Pick<ResolvedTimeouts, 'headersMs' | 'bodyIdleMs' | 'bodyMs'>;
  readonly connectMs: number;
  readonly headersMs: number;
  readonly bodyIdleMs: number;
  readonly bodyMs: number;
  readonly streamIdleMs: number;
  readonly requestBodyMs: number;
  readonly requestIdleMs: number;
  readonly sendIdleMs: number;
  readonly lookupMs: number;
  readonly identityProviderMs: number;
  readonly sessionMs: number;
  readonly cacheMs: number;
}

/**
 * Checks a configuration and completes it: the one place where defaults stand.
 *
 * @throws ConfigurationError naming block and field.
 */
export function resolveConfig(config: ServerConfig, customProviders: ReadonlySet<string>): ResolvedConfig {
  checkConfig(config, customProviders);
  const { a2aUrl = '', agentCardUrl = '', serviceApiUrl = '', publicUrl = '', a2aMethods, cacheStore } = config;
  return {
    agent: a2aUrl === '' ? undefined : endpoint('a2aUrl', a2aUrl),
    agentCard: agentCardUrl === '' ? undefined : endpoint('agentCardUrl', agentCardUrl),
    upstream: resolveUpstream(config.upstream),
    bindings: [...new Set(['JSONRPC', ...(config.bindings ?? [])])],
    serviceApi: serviceApiUrl === '' ? undefined : endpoint('serviceApiUrl', serviceApiUrl),
    serviceApiKey: headerSecret(config.serviceApiKey),
    serviceProjectId: config.serviceProjectId ?? '',
    serviceAuthStrategy: config.serviceAuthStrategy ?? '',
    authProvider: config.authProvider ?? '',
    serviceAccount: serviceAccount(config),
    idpA: idpA(config),
    idpB: idpB(config),
    publicUrl: publicUrl === '' ? '' : withoutSlash(publicAddress(publicUrl)),
    servicePolicy: new MethodPolicy(a2aMethods ?? 'chat'),
    sessionPolicy: new MethodPolicy(a2aMethods ?? 'all'),
    timeouts: {
      chat: {
        headersMs: config.timeouts?.headersMs ?? 300_000,
        bodyIdleMs: config.timeouts?.bodyIdleMs ?? 300_000,
        bodyMs: config.timeouts?.bodyMs ?? 0,
      },
      connectMs: config.timeouts?.connectMs ?? 5_000,
      headersMs: config.timeouts?.headersMs ?? 60_000,
      bodyIdleMs: config.timeouts?.bodyIdleMs ?? 60_000,
      bodyMs: config.timeouts?.bodyMs ?? 60_000,
      streamIdleMs: config.timeouts?.streamIdleMs ?? 0,
      requestBodyMs: config.timeouts?.requestBodyMs ?? 60_000,
      requestIdleMs: config.timeouts?.requestIdleMs ?? 30_000,
      sendIdleMs: config.timeouts?.sendIdleMs ?? 60_000,
      lookupMs: config.timeouts?.lookupMs ?? 10_000,
      identityProviderMs: config.timeouts?.identityProviderMs ?? 5_000,
      sessionMs: config.timeouts?.sessionMs ?? 15_000,
      cacheMs: config.timeouts?.cacheMs ?? 50,
    },
    bodyLimitBytes: config.bodyLimitBytes ?? 2_097_152,
    maxInFlight: config.maxInFlight ?? 0,
    keepAliveMs: config.keepAliveMs ?? 15_000,
    allowedOrigins: new Set((config.allowedOrigins ?? []).map(allowedOrigin)),
    allowedHosts: (config.allowedHosts ?? []).map(allowedHost),
    authUnavailableStatus: config.authUnavailableStatus ?? 401,
    onBehalfOf: onBehalfOf(config),
    cacheStore: typeof cacheStore === 'string' ? undefined : cacheStore,
    cacheAddress: typeof cacheStore === 'string' && cacheStore !== '' ? cacheAddress(cacheStore) : undefined,
    cacheKeys: (config.cacheKeys ?? []).map(sealingKey),
    chatLimit: config.chatLimit,
    telemetry: listeners(config.telemetry),
    customProviders,
  };
}

function listeners(telemetry: ServerConfig['telemetry']): readonly Telemetry[] | undefined {
  if (telemetry === undefined || telemetry === 'silent') return telemetry && [];
  return [telemetry].flat();
}

function serviceAccount({ serviceAccount: block = {}, serviceApiUrl = '' }: ServerConfig): ResolvedServiceAccount {
  const serviceAccountId = block.serviceAccountId ?? '';
  const { privateKeyPem = '', audience } = block;
  return {
    filled: Object.values(block).some((value) => value !== undefined && value !== ''),
    serviceAccountId,
    keyId: block.keyId ?? '',
    privateKeyPem: privateKeyPem === '' ? undefined : secret(privateKeyPem),
    privateKeyPath: block.privateKeyPath ?? '',
    audience: audience === undefined || audience === '' ? withoutSlash(serviceApiUrl) : audience,
    subject: orElse(block.subject, serviceAccountId),
    issuer: orElse(block.issuer, serviceAccountId),
    claims: block.claims ?? {},
  };
}

function idpA({ idpA: block = {}, idpAServiceUser: user = {} }: ServerConfig): ResolvedIdpA {
  return {
    domain: block.domain ?? '',
    clientId: block.clientId ?? '',
    clientSecret: secret(block.clientSecret ?? ''),
    audience: block.audience ?? '',
    scope: block.scope ?? '',
    realm: block.realm ?? '',
    username: user.username ?? '',
    password: secret(user.password ?? ''),
  };
}

function idpB({ idpBService: block = {} }: ServerConfig): ResolvedIdpB {
  return {
    tenantId: block.tenantId ?? '',
    clientId: block.clientId ?? '',
    scope: block.scope ?? '',
    clientSecret: secret(block.clientSecret ?? ''),
    certificatePath: block.certificatePath ?? '',
    privateKeyPath: block.privateKeyPath ?? '',
  };
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
    detail: '"cacheKeys" holds a key that cannot seal anything.',
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
    detail: '"allowedOrigins" holds something that is no origin.',
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
