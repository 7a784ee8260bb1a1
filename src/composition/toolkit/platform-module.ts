import { createHmac, randomBytes } from 'node:crypto';
import { ContainerModule } from 'inversify';
import { systemClock } from '../../adapters/system/system.js';
import {
  ObservedUpstream,
  OperatorTelemetry,
  RedactedTelemetry,
  silentTelemetry,
} from '../../adapters/telemetry/operator-telemetry.js';
import { redactor } from '../../domain/shared/redaction.js';
import { TerminalTelemetry } from '../../adapters/telemetry/terminal-telemetry.js';
import { UndiciUpstream } from '../../adapters/undici/undici-upstream.js';
import { TokenCache } from '../../domain/credentials/token-cache.js';
import { PlatformErrors, type PlatformErrorsDependencies } from '../../domain/upstream/platform-error.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { configuredSecrets, type ResolvedConfig } from '../config/resolve-config.js';
import { memoryStore, sealedStore, sharedStore, storeAtAddress, tokenStore } from './cache-stores.js';
import { provide, TOKENS } from './container.js';
import type { ToolkitPorts } from './ports.js';
import { processFaults } from './process-wide.js';
import type { CacheStores, Connections, LastingParts, OperatorFaults } from './site.js';

const MAX_TOKENS = 10_000;
const PROCESS_KEY = randomBytes(32);

/** Binds what the site runs on; what `previous` has already is kept while the configuration behind it stays the same. */
export function platformModule(
  config: ResolvedConfig,
  ports: ToolkitPorts,
  previous: LastingParts | undefined,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    provide(bind, TOKENS.Clock, [], () => ports.clock ?? systemClock);
    provide(bind, TOKENS.OperatorFaults, [], () => operatorFaults(config, ports, previous?.faults));
    provide(bind, TOKENS.Telemetry, [TOKENS.OperatorFaults], ({ telemetry }) => telemetry);
    provide(bind, TOKENS.Connections, [], () => connections(config, ports, previous?.connections));
    provide(
      bind,
      TOKENS.Upstream,
      [TOKENS.Connections, TOKENS.Telemetry, TOKENS.Clock],
      ({ upstream }, telemetry, clock) => observed(upstream, telemetry, clock),
    );
    provide(
      bind,
      TOKENS.PlatformErrors,
      [TOKENS.Telemetry],
      (telemetry) => new PlatformErrors({ deadline: (ms) => AbortSignal.timeout(ms), conceal: concealer(telemetry) }),
    );
    provide(bind, TOKENS.CacheStores, [TOKENS.Clock, TOKENS.Telemetry], (clock, telemetry) =>
      cacheStores(config, ports, clock, telemetry, previous?.stores),
    );
  });
}

/** Ends what another toolkit has replaced. A shutdown must still find its upstream: a response may stream for hours. */
export function retireReplaced(
  previous: LastingParts,
  { connections: { upstream, retired }, stores }: LastingParts,
): void {
  if (previous.stores !== stores) void previous.stores.redis?.close();
  const replaced = previous.connections.upstream;
  if (replaced === upstream) return;
  retired.add(replaced);
  const forget = (): unknown => retired.delete(replaced);
  void replaced.close().then(forget, forget);
}

function connections(
  { timeouts: { connectMs } }: ResolvedConfig,
  ports: ToolkitPorts,
  previous: Connections | undefined,
): Connections {
  if (previous?.connectMs === connectMs && ports.upstream === undefined) return previous;
  const retired = previous?.retired ?? new Set();
  return { connectMs, retired, upstream: ports.upstream ?? new UndiciUpstream({ connectMs }) };
}

/** Calls are told of only where somebody listens. */
function observed(upstream: HttpUpstream, telemetry: Telemetry, clock: Clock): HttpUpstream {
  return telemetry.callStarted === undefined ? upstream : new ObservedUpstream(upstream, telemetry, clock);
}

function cacheStores(
  config: ResolvedConfig,
  ports: ToolkitPorts,
  clock: Clock,
  telemetry: Telemetry,
  previous: CacheStores | undefined,
): CacheStores {
  const settings = [
    clock,
    telemetry,
    config.timeouts.cacheMs,
    config.cacheStore,
    config.cacheAddress?.url.reveal(),
    ...config.cacheKeys.map(({ id }) => id),
  ];
  if (previous !== undefined && sameItems(previous.settings, settings)) return previous;
  const redis = storeAtAddress(config);
  const sharedTokens = tokenStore(config, sharedStore(config, redis, clock, telemetry), clock, telemetry);
  const sharedRenders = sealedStore(config, sharedStore(config, redis, clock, telemetry), clock, telemetry);
  // What is in this process alone has nothing to do with the store, nor with the keys that seal what goes there.
  const isKept = previous !== undefined && sameItems(previous.settings.slice(0, 2), settings.slice(0, 2));
  const own: CacheStores['own'] = isKept ? previous.own : {};
  const random = ports.random ?? Math.random;
  const newTokens = (shared: { readonly shared?: CacheStore }): TokenCache =>
    new TokenCache({ clock, telemetry, random, maxEntries: MAX_TOKENS, ...shared });
  const tokens = sharedTokens === undefined ? (own.tokens ?? newTokens({})) : newTokens({ shared: sharedTokens });
  const renders = sharedRenders ?? own.renders ?? memoryStore(clock, telemetry);
  return {
    settings,
    redis,
    renders,
    tokens,
    own: {
      ...(sharedRenders === undefined ? { renders } : {}),
      ...(sharedTokens === undefined ? { tokens } : {}),
    },
    proofKey: proofKey(config),
  };
}

/** One telemetry for the same listeners, since parts that are kept hold on to it; where nobody is to be told, nothing is paid. */
function operatorFaults(
  config: ResolvedConfig,
  ports: ToolkitPorts,
  previous: OperatorFaults | undefined,
): OperatorFaults {
  const listeners = ports.telemetry === undefined ? config.telemetry : [ports.telemetry];
  if (listeners?.length === 0) return { listeners, telemetry: silentTelemetry };
  const secrets = configuredSecrets(config);
  const known = previous?.telemetry;
  if (known instanceof RedactedTelemetry && sameItems(previous?.listeners ?? [], listeners ?? [])) {
    known.learn(secrets);
    return { listeners, telemetry: known };
  }
  const telemetry =
    listeners === undefined
      ? new TerminalTelemetry(processFaults(), secrets)
      : new OperatorTelemetry(listeners, secrets);
  return { listeners, telemetry };
}

/** Where nobody is told, nobody reads the texts, and nothing but their secrets matters. */
function concealer(telemetry: Telemetry): PlatformErrorsDependencies['conceal'] {
  if (telemetry instanceof RedactedTelemetry) return (text, secrets) => telemetry.redact(text, secrets);
  return redactor([]);
}

/** Processes that share tokens must name one proof alike; without a shared key nobody else reads the names. */
function proofKey({ cacheKeys: [first] }: ResolvedConfig): Uint8Array {
  if (first === undefined) return PROCESS_KEY;
  return createHmac('sha256', first.key).update('agent-bff proof').digest();
}

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
