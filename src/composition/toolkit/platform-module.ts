import { ContainerModule } from 'inversify';
import { systemClock } from '../../adapters/system/system.js';
import {
  observedUpstream,
  OperatorTelemetry,
  RedactedTelemetry,
  silentTelemetry,
} from '../../adapters/telemetry/operator-telemetry.js';
import { redactor } from '../../domain/shared/redaction.js';
import { TerminalTelemetry } from '../../adapters/telemetry/terminal-telemetry.js';
import { UndiciUpstream } from '../../adapters/undici/undici-upstream.js';
import { PlatformErrors, type PlatformErrorsDependencies } from '../../domain/upstream/platform-error.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { configuredSecrets, type ResolvedConfig } from '../config/resolve-config.js';
import { cacheStores, sameItems } from './cache-stores.js';
import {
  type CacheStores,
  type Connections,
  type LastingParts,
  type Parts,
  provide,
  type UpstreamSource,
} from './container.js';
import { processFaults } from './process-wide.js';

/** Binds the infrastructure of a site; reuses the parts of `previous` whose settings are unchanged. */
export function platformModule(config: ResolvedConfig, previous: LastingParts | undefined): ContainerModule {
  const { connectMs } = config.timeouts;
  return new ContainerModule(({ bind }) => {
    provide(bind, 'clock', [], () => systemClock);
    provide(bind, 'random', [], () => Math.random);
    provide(bind, 'listeners', [], () => config.telemetry);
    provide(bind, 'telemetry', ['listeners'], ({ listeners }) => siteTelemetry(config, listeners, previous));
    provide(bind, 'upstreamSource', [], () => ({ key: connectMs, connect: () => new UndiciUpstream({ connectMs }) }));
    provide(bind, 'connections', ['upstreamSource'], ({ upstreamSource }) =>
      connections(upstreamSource, previous?.connections),
    );
    provide(
      bind,
      'upstream',
      ['connections', 'telemetry', 'clock'],
      ({ connections: { upstream }, telemetry, clock }) => observedUpstream(upstream, telemetry, clock),
    );
    provide(
      bind,
      'errors',
      ['telemetry'],
      ({ telemetry }) =>
        new PlatformErrors({ deadline: (ms) => AbortSignal.timeout(ms), conceal: concealer(telemetry) }),
    );
    provide(bind, 'stores', ['clock', 'telemetry', 'random'], (parts) => cacheStores(config, parts, previous?.stores));
  });
}

/** Ends the parts of a replaced toolkit. A shutdown must still find its upstream: a response may stream for hours. */
export function retireReplaced(
  previous: LastingParts,
  { connections: { upstream, retired }, stores }: LastingParts,
): void {
  if (previous.stores !== stores) void closeStores(previous.stores);
  const replaced = previous.connections.upstream;
  if (replaced === upstream) return;
  retired.add(replaced);
  const forget = (): unknown => retired.delete(replaced);
  void replaced.close().then(forget, forget);
}

/** Closes the connection to the shared store, and stops listening to a Keyv of the site. */
export async function closeStores({ store, redis }: CacheStores): Promise<void> {
  store?.close();
  await redis?.close();
}

/** A site's own upstream, which is the site's to close: other toolkits may use it. Closing ends only the calls of this toolkit. */
export function borrowed(upstream: HttpUpstream): HttpUpstream {
  const end = new AbortController();
  return {
    send: (request) => upstream.send({ ...request, signal: AbortSignal.any([request.signal, end.signal]) }),
    close: (options) => {
      if (options !== undefined) end.abort();
      return Promise.resolve();
    },
  };
}

function connections({ key, connect }: UpstreamSource, previous: Connections | undefined): Connections {
  if (previous !== undefined && previous.key === key) return previous;
  return { key, upstream: connect(), retired: previous?.retired ?? new Set() };
}

/** Reuses the telemetry for the same listeners, since reused parts refer to it; costs nothing without listeners. */
function siteTelemetry(
  config: ResolvedConfig,
  listeners: Parts['listeners'],
  previous: LastingParts | undefined,
): Telemetry {
  if (listeners?.length === 0) return silentTelemetry;
  const toolkit = { name: config.name, secrets: configuredSecrets(config), variables: config.variables };
  const known = previous?.telemetry;
  if (known instanceof RedactedTelemetry && sameItems(previous?.listeners ?? [], listeners ?? [])) {
    known.learn(toolkit);
    return known;
  }
  if (listeners === undefined) return new TerminalTelemetry(processFaults(), toolkit);
  return new OperatorTelemetry(listeners, toolkit);
}

/** Without listeners the texts are not read, so only the secrets have to be known. */
function concealer(telemetry: Telemetry): PlatformErrorsDependencies['conceal'] {
  if (telemetry instanceof RedactedTelemetry) return (text, secrets) => telemetry.redact(text, secrets);
  return redactor([]);
}
