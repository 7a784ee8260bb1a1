import { ContainerModule } from 'inversify';
import { systemClock } from '../../adapters/system/system.js';
import {
  observedUpstream,
  OperatorTelemetry,
  RedactedTelemetry,
  silentTelemetry,
  type ReportingToolkit,
} from '../../adapters/telemetry/operator-telemetry.js';
import { redactor } from '../../domain/shared/redaction.js';
import { TerminalTelemetry } from '../../adapters/telemetry/terminal-telemetry.js';
import { PlatformErrors, type PlatformErrorsDependencies } from '../../domain/upstream/platform-error.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { configuredSecrets, type ResolvedConfig } from '../config/resolve-config.js';
import { cacheStores, sameItems } from './cache-stores.js';
import { upstreamSource } from './connections.js';
import { type Connections, type LastingParts, type Parts, provide, type UpstreamSource } from './container.js';
import { processFaults, processMemory } from './process-wide.js';

/** Binds the infrastructure of a site; reuses the parts of `previous` whose settings are unchanged. */
export function platformModule(): ContainerModule {
  return new ContainerModule(({ bind }) => {
    provide(bind, 'clock', [], () => systemClock);
    provide(bind, 'random', [], () => Math.random);
    provide(bind, 'listeners', ['config'], ({ config }) => config.telemetry);
    provide(bind, 'telemetry', ['config', 'listeners', 'previous'], ({ config, listeners, previous }) =>
      siteTelemetry(config, listeners, previous),
    );
    provide(bind, 'upstreamSource', ['config', 'shared'], ({ config, shared }) =>
      upstreamSource(config, shared?.upstream),
    );
    provide(bind, 'connections', ['upstreamSource', 'previous'], ({ upstreamSource, previous }) =>
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
    provide(bind, 'memory', ['clock', 'shared', 'previous'], ({ clock, shared, previous }) => {
      const { data, tokens } = shared?.memory ?? processMemory();
      return previous?.memory ?? { data: data.share(clock), tokens: tokens.share(clock) };
    });
    const needs = ['clock', 'telemetry', 'random', 'memory', 'shared'] as const;
    provide(bind, 'stores', ['config', 'previous', ...needs], (parts) =>
      cacheStores(parts.config, parts, parts.previous?.stores),
    );
  });
}

/**
 * Ends the parts of a replaced toolkit. A shutdown must still find its upstream: a response may stream for hours. Its
 * stores stay open for its last requests, since an action among them has to invalidate renders.
 */
export function retireReplaced(
  previous: LastingParts,
  { connections: { upstream, retired }, stores }: LastingParts,
): void {
  if (previous.stores !== stores) {
    const [earlier, later] = [previous.stores.renders(), stores.renders()];
    if (earlier !== later) earlier.generations.replaceBy(later.generations);
    void previous.gate.idle().then(previous.stores.close);
  }
  const replaced = previous.connections.upstream;
  if (replaced === upstream) return;
  retired.add(replaced);
  const forget = (): unknown => retired.delete(replaced);
  void replaced.close().then(forget, forget);
}

function connections({ key, connect }: UpstreamSource, previous: Connections | undefined): Connections {
  if (previous !== undefined && sameItems(previous.key, key)) return previous;
  return { key, upstream: connect(), retired: previous?.retired ?? new Set() };
}

/** Reuses the telemetry for the same listeners, since reused parts refer to it; costs nothing without listeners. */
export function siteTelemetry(
  config: ResolvedConfig,
  listeners: Parts['listeners'],
  previous: LastingParts | undefined,
): Telemetry {
  if (listeners?.length === 0) return silentTelemetry;
  const toolkit = (): ReportingToolkit => ({ ...config, secrets: configuredSecrets(config) });
  const known = previous?.telemetry;
  const isKnown = known instanceof RedactedTelemetry && sameItems(previous?.listeners ?? [], listeners ?? []);
  const fresh =
    listeners === undefined
      ? new TerminalTelemetry(processFaults(), toolkit())
      : new OperatorTelemetry(listeners, toolkit());
  const telemetry = isKnown ? known : fresh;
  telemetry.learn(toolkit());
  for (const file of config.files) {
    file.onChange = () => {
      telemetry.learn(toolkit());
      if (file.fault) telemetry.emit({ type: 'warning', code: 'secret_file_unusable', detail: file.fault });
    };
    file.onChange();
  }
  return telemetry;
}

/** Without listeners the texts are not read, so only the secrets have to be known. */
function concealer(telemetry: Telemetry): PlatformErrorsDependencies['conceal'] {
  if (telemetry instanceof RedactedTelemetry) return (text, secrets) => telemetry.redact(text, secrets);
  return redactor([]);
}
