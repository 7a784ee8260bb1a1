import { ContainerModule } from 'inversify';
import { sha256 } from '../../adapters/system/system.js';
import { ChatConfig } from '../../domain/chat/chat-config.js';
import { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import { SurfaceService } from '../../domain/surfaces/surface-service.js';
import { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import { PlatformStyles } from '../../domain/upstream/platform-styles.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { provide, TOKENS } from './container.js';

/** Callers whose look-ups, and agent cards, are remembered at most. */
const MAX_LOOKUPS = 1_000;
/** Text of all that is remembered of one kind: cards, or projects and brands. */
const MAX_LOOKUP_BYTES = 8_388_608;

/** Texts of brands, and of themes, that are remembered as they are sent. */
const MAX_STYLES = 1_000;

/** Binds the domain: what the routes call. */
export function domainModule(config: ResolvedConfig): ContainerModule {
  const { agent, agentCard, timeouts, serviceApi, upstream: names, serviceProjectId } = config;
  const { mediaOrigins, trustBrandCss, publicUrl } = config;
  const themeOrigins = [...mediaOrigins, ...(publicUrl === '' ? [] : [new URL(publicUrl).origin])].toSorted();
  const { headersMs, bodyIdleMs, bodyMs, streamIdleMs, lookupMs } = timeouts;
  const deadlines = { headersMs, bodyIdleMs, bodyMs, streamIdleMs };
  const chatDeadlines = { ...timeouts.chat, streamIdleMs };
  const lookupTime = { lookupMs, deadline: (ms: number) => AbortSignal.timeout(ms) };
  const api = {
    endpoint: serviceApi,
    projectId: serviceProjectId,
    projectIdHeader: names.headers.projectId,
    paths: names.paths,
    place: config.place,
  };
  return new ContainerModule(({ bind }) => {
    const call = [TOKENS.Upstream, TOKENS.CredentialBroker, TOKENS.Excerpts] as const;
    provide(
      bind,
      TOKENS.ChatForwarder,
      [...call, TOKENS.Telemetry],
      (upstream, credentials, excerpts, telemetry) =>
        new ChatForwarder({ upstream, credentials, excerpts, telemetry, agent, ...chatDeadlines }),
    );
    provide(
      bind,
      TOKENS.PlatformStyles,
      [TOKENS.Telemetry],
      (telemetry) =>
        new PlatformStyles({
          checker: async () => {
            const { CssChecker } = await import('../../adapters/css/css-checker.js');
            return new CssChecker(new Set(themeOrigins));
          },
          telemetry,
          hash: sha256,
          trustBrandCss,
          themeOrigins,
          maxEntries: MAX_STYLES,
          maxBytes: MAX_LOOKUP_BYTES,
        }),
    );
    provide(
      bind,
      TOKENS.PlatformDirectory,
      [...call, TOKENS.Clock, TOKENS.Telemetry, TOKENS.PlatformStyles],
      (upstream, credentials, excerpts, clock, telemetry, styles) =>
        new PlatformDirectory({
          upstream,
          credentials,
          excerpts,
          headersMs,
          bodyIdleMs,
          ...lookupTime,
          api,
          clock,
          telemetry,
          styles,
          hash: sha256,
          maxEntries: MAX_LOOKUPS,
          maxBytes: MAX_LOOKUP_BYTES,
        }),
    );
    provide(
      bind,
      TOKENS.ChatConfig,
      [...call, TOKENS.Clock, TOKENS.PlatformDirectory],
      (upstream, credentials, excerpts, clock, directory) =>
        new ChatConfig({
          upstream,
          credentials,
          excerpts,
          clock,
          directory,
          agent,
          cardAddress: agentCard,
          platformOrigin: serviceApi?.origin,
          mediaOrigins: [...mediaOrigins],
          hash: sha256,
          headersMs,
          bodyIdleMs,
          ...lookupTime,
          maxEntries: MAX_LOOKUPS,
          maxBytes: MAX_LOOKUP_BYTES,
        }),
    );
    provide(
      bind,
      TOKENS.HttpJsonBinding,
      [...call, TOKENS.ChatConfig],
      (upstream, credentials, excerpts, chatConfig) =>
        new HttpJsonBinding({
          upstream,
          credentials,
          excerpts,
          ...chatDeadlines,
          agent,
          platformOrigin: serviceApi?.origin,
          card: (version, caller) => chatConfig.card(version, caller),
        }),
    );
    provide(
      bind,
      TOKENS.SurfaceService,
      [...call, TOKENS.PlatformStyles],
      (upstream, credentials, excerpts, styles) =>
        new SurfaceService({ upstream, credentials, excerpts, ...deadlines, api, styles }),
    );
    provide(
      bind,
      TOKENS.ConversationProxy,
      call,
      // Records are as large as they are: what streams through has no time for the whole.
      (upstream, credentials, excerpts) =>
        new ConversationProxy({ upstream, credentials, excerpts, ...deadlines, bodyMs: 0, api }),
    );
  });
}
