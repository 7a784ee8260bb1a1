import { createHmac } from 'node:crypto';
import { MemoryCacheStore } from '../adapters/keyv/memory-cache-store.js';
import { silentTelemetry } from '../adapters/telemetry/silent-telemetry.js';
import { systemClock } from '../adapters/system/system-clock.js';
import { UndiciUpstream } from '../adapters/undici/undici-upstream.js';
import { TokenCache } from '../domain/credentials/token-cache.js';
import type { CacheStore } from '../ports/cache-store.js';
import type { Clock } from '../ports/clock.js';
import type { Telemetry } from '../ports/telemetry.js';
import type { PlatformParts } from './platform-module.js';
import type { ToolkitPorts } from './ports.js';
import type { ResolvedConfig } from './resolve-config.js';
import { sealedStore, sharedStore, tokenStore } from './cache-stores.js';

const MOST_TOKENS = 10_000;
// Renders, and beside each the marks and names that say what an action drops.
const MOST_RENDERS = 10_000;
const MOST_RENDER_BYTES = 67_108_864;

/** The parts, and what they were made from: a part is kept while that stays the same. */
export interface KeptParts extends PlatformParts {
  readonly connectMs: number;
  readonly storeSettings: readonly unknown[];
  /** Where renders are kept. */
  readonly renders: CacheStore;
}

/** Makes what a site runs on, or takes it over from the toolkit before; a part that is replaced is closed. */
export function platformParts(config: ResolvedConfig, ports: ToolkitPorts, kept: KeptParts | undefined): KeptParts {
  const clock = ports.clock ?? systemClock;
  const telemetry = ports.telemetry ?? config.telemetry ?? silentTelemetry;
  const { connectMs, cacheMs } = config.timeouts;
  const storeSettings = [clock, telemetry, cacheMs, config.cacheStore, ...config.cacheKeys.map(({ id }) => id)];
  const sameStore = kept !== undefined && sameItems(kept.storeSettings, storeSettings);
  const sameUpstream = kept !== undefined && kept.connectMs === connectMs && ports.upstream === undefined;
  if (kept !== undefined && !sameUpstream) void kept.upstream.close();
  return {
    clock,
    telemetry,
    connectMs,
    storeSettings,
    fingerprintKey: sameStore ? kept.fingerprintKey : fingerprintKey(config),
    upstream: sameUpstream ? kept.upstream : (ports.upstream ?? new UndiciUpstream({ connectMs })),
    renders: sameStore ? kept.renders : renderStore(config, clock, telemetry),
    tokens: sameStore ? kept.tokens : tokenCache(config, ports, clock, telemetry),
  };
}

function tokenCache(config: ResolvedConfig, ports: ToolkitPorts, clock: Clock, telemetry: Telemetry): TokenCache {
  const shared = tokenStore(config, sharedStore(config, clock, telemetry), clock, telemetry);
  return new TokenCache({
    clock,
    telemetry,
    random: ports.random ?? Math.random,
    maxEntries: MOST_TOKENS,
    ...(shared === undefined ? {} : { shared }),
  });
}

function renderStore(config: ResolvedConfig, clock: Clock, telemetry: Telemetry): CacheStore {
  return (
    sealedStore(config, sharedStore(config, clock, telemetry), clock, telemetry, 'agent-bff:render:') ??
    new MemoryCacheStore({ clock, maxEntries: MOST_RENDERS, maxBytes: MOST_RENDER_BYTES })
  );
}

/** Processes that share tokens must name one credential alike; without a shared key nobody else reads the names. */
function fingerprintKey({ cacheKeys: [first] }: ResolvedConfig): Uint8Array {
  if (first === undefined) return crypto.getRandomValues(new Uint8Array(32));
  return createHmac('sha256', first.key).update('agent-bff credential fingerprint').digest();
}

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
