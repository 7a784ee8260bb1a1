import { createHmac } from 'node:crypto';
import { MemoryCacheStore } from '../../adapters/keyv/memory-cache-store.js';
import type { RedisStore } from '../../adapters/keyv/redis-store.js';
import { OperatorTelemetry } from '../../adapters/telemetry/operator-telemetry.js';
import { redactor } from '../../adapters/telemetry/redact.js';
import { RedactedTelemetry } from '../../adapters/telemetry/redacted-telemetry.js';
import { silentTelemetry } from '../../adapters/telemetry/silent-telemetry.js';
import { TerminalTelemetry } from '../../adapters/telemetry/terminal-telemetry.js';
import { systemClock } from '../../adapters/system/system-clock.js';
import { UndiciUpstream } from '../../adapters/undici/undici-upstream.js';
import { TokenCache } from '../../domain/credentials/token-cache.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { PlatformParts } from './platform-module.js';
import { processFaults } from './process-faults.js';
import type { ToolkitPorts } from './ports.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { configuredSecrets } from '../config/configured-secrets.js';
import { sealedStore, sharedStore, storeAtAddress, tokenStore } from './cache-stores.js';

const MOST_TOKENS = 10_000;
// 10 000 renders, and beside each the marks and names that say what an action drops; their bytes are the real limit.
const MOST_RENDERS = 40_000;
const MOST_RENDER_BYTES = 67_108_864;

/** The parts, and what they were made from: a part is kept while that stays the same. */
export interface KeptParts extends PlatformParts {
  readonly connectMs: number;
  readonly storeSettings: readonly unknown[];
  /** Undefined where faults go to the terminal. */
  readonly listeners: readonly Telemetry[] | undefined;
  /** Upstreams of earlier configurations whose last answers still run. */
  readonly retired: Set<HttpUpstream>;
  /** Where renders are kept. */
  readonly renders: CacheStore;
  /** The connection to the store of `cacheStore`, where that is an address. */
  readonly redis: RedisStore | undefined;
}

/** Makes what a site runs on, or takes it over from the toolkit before; a part that is replaced is closed. */
export function platformParts(config: ResolvedConfig, ports: ToolkitPorts, kept: KeptParts | undefined): KeptParts {
  const clock = ports.clock ?? systemClock;
  const listeners = ports.telemetry === undefined ? config.telemetry : [ports.telemetry];
  const telemetry = operatorTelemetry(listeners, configuredSecrets(config), kept);
  const { connectMs, cacheMs } = config.timeouts;
  const storeSettings = [
    clock,
    telemetry,
    cacheMs,
    config.cacheStore,
    config.cacheAddress?.url.reveal(),
    ...config.cacheKeys.map(({ id }) => id),
  ];
  const sameStore = kept !== undefined && sameItems(kept.storeSettings, storeSettings);
  const sameUpstream = kept !== undefined && kept.connectMs === connectMs && ports.upstream === undefined;
  const redis = sameStore ? kept.redis : storeAtAddress(config);
  if (!sameStore) void kept?.redis?.close();
  const retired = kept?.retired ?? new Set();
  if (kept !== undefined && !sameUpstream) void retire(kept.upstream, retired);
  return {
    clock,
    telemetry,
    conceal: concealer(telemetry),
    listeners,
    retired,
    connectMs,
    storeSettings,
    redis,
    fingerprintKey: sameStore ? kept.fingerprintKey : fingerprintKey(config),
    upstream: sameUpstream ? kept.upstream : (ports.upstream ?? new UndiciUpstream({ connectMs })),
    renders: sameStore ? kept.renders : renderStore(config, redis, clock, telemetry),
    tokens: sameStore ? kept.tokens : tokenCache(config, redis, ports, clock, telemetry),
  };
}

/** A shutdown must still find it: an answer may stream for hours. */
async function retire(upstream: HttpUpstream, retired: Set<HttpUpstream>): Promise<void> {
  retired.add(upstream);
  await upstream.close().catch(() => undefined);
  retired.delete(upstream);
}

function tokenCache(
  config: ResolvedConfig,
  redis: RedisStore | undefined,
  ports: ToolkitPorts,
  clock: Clock,
  telemetry: Telemetry,
): TokenCache {
  const shared = tokenStore(config, sharedStore(config, redis, clock, telemetry), clock, telemetry);
  return new TokenCache({
    clock,
    telemetry,
    random: ports.random ?? Math.random,
    maxEntries: MOST_TOKENS,
    ...(shared === undefined ? {} : { shared }),
  });
}

function renderStore(
  config: ResolvedConfig,
  redis: RedisStore | undefined,
  clock: Clock,
  telemetry: Telemetry,
): CacheStore {
  return (
    sealedStore(config, sharedStore(config, redis, clock, telemetry), clock, telemetry, 'agent-bff:render:') ??
    new MemoryCacheStore({ clock, maxEntries: MOST_RENDERS, maxBytes: MOST_RENDER_BYTES })
  );
}

/** One for the same listeners, since parts that are kept hold on to it; where nobody is to be told, nothing is paid. */
function operatorTelemetry(
  listeners: readonly Telemetry[] | undefined,
  secrets: readonly string[],
  kept: KeptParts | undefined,
): Telemetry {
  if (listeners?.length === 0) return silentTelemetry;
  const known = kept?.telemetry;
  if (known instanceof RedactedTelemetry && sameItems(kept?.listeners ?? [], listeners ?? [])) {
    known.learn(secrets);
    return known;
  }
  return listeners === undefined
    ? new TerminalTelemetry(processFaults(), secrets)
    : new OperatorTelemetry(listeners, secrets);
}

/** Where nobody is told, nobody reads the texts, and nothing but their secrets matters. */
function concealer(telemetry: Telemetry): PlatformParts['conceal'] {
  if (telemetry instanceof RedactedTelemetry) return (text, secrets) => telemetry.redact(text, secrets);
  return redactor([]);
}

/** Processes that share tokens must name one credential alike; without a shared key nobody else reads the names. */
function fingerprintKey({ cacheKeys: [first] }: ResolvedConfig): Uint8Array {
  if (first === undefined) return crypto.getRandomValues(new Uint8Array(32));
  return createHmac('sha256', first.key).update('agent-bff credential fingerprint').digest();
}

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
