import { ContainerModule } from 'inversify';
import { writtenDisposition } from '../../adapters/content-disposition/written-disposition.js';
import { requestId } from '../../adapters/telemetry/request-scope.js';
import { leftOutReporter, type SiteSettings } from '../../adapters/web/serve-route.js';
import { RequestGate } from '../../adapters/web/request-gate.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { hostPolicy } from '../config/addresses.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { provide, TOKENS } from './container.js';
import { processBodies } from './process-wide.js';
import { SiteHandlers } from './site-handlers.js';

/** Binds the routes of a site, and the site itself. */
export function siteModule(config: ResolvedConfig): ContainerModule {
  const { maxInFlight, timeouts } = config;
  return new ContainerModule(({ bind }) => {
    provide(bind, TOKENS.RequestGate, [], () => new RequestGate({ maxInFlight, sendIdleMs: timeouts.sendIdleMs }));
    provide(
      bind,
      TOKENS.SiteHandlers,
      [
        TOKENS.RequestGate,
        TOKENS.RouteCredentials,
        TOKENS.ChatForwarder,
        TOKENS.ChatConfig,
        TOKENS.HttpJsonBinding,
        TOKENS.SurfaceService,
        TOKENS.ConversationProxy,
        TOKENS.CacheStores,
        TOKENS.Clock,
        TOKENS.Telemetry,
      ],
      (gate, credentials, forwarder, chatConfig, httpJson, surfaces, conversations, { renders }, clock, telemetry) =>
        new SiteHandlers({
          config,
          site: siteSettings(config, clock, telemetry),
          gate,
          credentials,
          forwarder,
          chatConfig,
          httpJson,
          surfaces,
          conversations,
          renders,
          clock,
        }),
    );
    provide(
      bind,
      TOKENS.Site,
      [
        TOKENS.SiteHandlers,
        TOKENS.RequestGate,
        TOKENS.CredentialBroker,
        TOKENS.PlatformDirectory,
        TOKENS.OperatorFaults,
        TOKENS.Connections,
        TOKENS.CacheStores,
      ],
      (handlers, gate, broker, directory, faults, connections, stores) => ({
        handlers,
        gate,
        broker,
        directory,
        lasting: { faults, connections, stores },
      }),
    );
  });
}

function siteSettings(config: ResolvedConfig, clock: Clock, telemetry: Telemetry): SiteSettings {
  const { publicUrl, allowedOrigins } = config;
  const hosts = hostPolicy(config);
  return {
    telemetry,
    origins: { publicOrigin: publicUrl === '' ? '' : new URL(publicUrl).origin, allowedOrigins },
    ...(hosts === undefined ? {} : { hosts }),
    fields: { disposition: writtenDisposition, leftOut: leftOutReporter(telemetry) },
    bodyLimitBytes: config.bodyLimitBytes,
    bodies: processBodies(config.bodyLimitBytes),
    requestBodyMs: config.timeouts.requestBodyMs,
    requestIdleMs: config.timeouts.requestIdleMs,
    keepAliveMs: config.keepAliveMs,
    authUnavailableStatus: config.authUnavailableStatus,
    newRequestId: requestId,
    ...(config.chatLimit === undefined ? {} : { chatLimit: config.chatLimit }),
    clock,
  };
}
