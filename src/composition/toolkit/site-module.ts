import { ContainerModule } from 'inversify';
import { writtenDisposition } from '../../adapters/content-disposition/written-disposition.js';
import { withReadings } from '../../adapters/rate-limit/rate-limiter.js';
import { chatDigest } from '../../adapters/system/system.js';
import { requestId } from '../../adapters/telemetry/request-scope.js';
import { leftOutReporter } from '../../domain/upstream/browser-fields.js';
import type { SiteSettings } from '../../adapters/web/door.js';
import { RequestGate } from '../../adapters/web/request-gate.js';
import { hostPolicy } from '../config/addresses.js';
import { type Parts, provide } from './container.js';
import { processBodies } from './process-wide.js';
import { SiteHandlers } from './site-handlers.js';

/** Binds the routes of a site. */
export function siteModule(): ContainerModule {
  return new ContainerModule(({ bind }) => {
    provide(
      bind,
      'gate',
      ['config'],
      ({ config: { maxInFlight, timeouts } }) => new RequestGate({ maxInFlight, sendIdleMs: timeouts.sendIdleMs }),
    );
    provide(bind, 'site', ['config', 'clock', 'telemetry', 'gate'], siteSettings);
    const routes = ['chatConfig', 'forwarder', 'surfaces', 'conversations', 'call'] as const;
    const needs = ['config', 'site', 'routeCredentials', 'gate', 'stores', 'clock'] as const;
    provide(bind, 'handlers', [...routes, ...needs], (parts) => new SiteHandlers(parts));
  });
}

function siteSettings({
  config,
  clock,
  telemetry,
  gate,
}: Pick<Parts, 'config' | 'clock' | 'telemetry' | 'gate'>): SiteSettings {
  const { publicUrl, allowedOrigins } = config;
  return {
    telemetry,
    origins: { publicOrigin: publicUrl === '' ? '' : new URL(publicUrl).origin, allowedOrigins },
    hosts: hostPolicy(config),
    fields: { disposition: writtenDisposition, leftOut: leftOutReporter(telemetry) },
    bodyLimitBytes: config.bodyLimitBytes,
    bodies: processBodies(config.bodyLimitBytes),
    requestBodyMs: config.timeouts.requestBodyMs,
    requestIdleMs: config.timeouts.requestIdleMs,
    gate,
    keepAliveMs: config.keepAliveMs,
    authUnavailableStatus: config.authUnavailableStatus,
    variables: config.variables,
    digest: telemetry.chatEvents === true ? chatDigest(config.cacheKeys[0]?.key) : undefined,
    newRequestId: requestId,
    chatLimit: config.chatLimit && withReadings(config.chatLimit),
    userLimit: config.userLimit && withReadings(config.userLimit),
    clock,
  };
}
