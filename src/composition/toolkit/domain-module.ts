import { ContainerModule } from 'inversify';
import { pause, sha256 } from '../../adapters/system/system.js';
import { ChatConfig } from '../../domain/chat/chat-config.js';
import { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import { SurfaceService } from '../../domain/surfaces/surface-service.js';
import { PlatformCall } from '../../domain/upstream/platform-call.js';
import { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import { PlatformStyles } from '../../domain/upstream/platform-styles.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { provide } from './container.js';

/** Maximum number of callers whose look-ups and agent cards are cached. */
const MAX_LOOKUPS = 1_000;
/** Total bytes of cached texts of one kind: cards, or projects and brands. */
const MAX_LOOKUP_BYTES = 8_388_608;

/** Maximum number of checked brands, and of checked themes, that are cached. */
const MAX_STYLES = 1_000;

const deadline = (ms: number): AbortSignal => AbortSignal.timeout(ms);

/** Binds the domain, which the routes call. */
export function domainModule(config: ResolvedConfig): ContainerModule {
  const { agent, agentCard, timeouts, serviceApi, upstream: names, serviceProjectId } = config;
  const { mediaOrigins, trustBrandCss, publicUrl } = config;
  const themeOrigins = [...mediaOrigins, ...(publicUrl === '' ? [] : [new URL(publicUrl).origin])].toSorted();
  const { headersMs, bodyIdleMs, bodyMs, streamIdleMs, lookupMs } = timeouts;
  const platformTimeouts = { headersMs, bodyIdleMs, bodyMs, streamIdleMs };
  const chatTimeouts = { ...timeouts.chat, streamIdleMs };
  const lookups = {
    timeouts: { headersMs, bodyIdleMs },
    lookupMs,
    deadline,
    hash: sha256,
    maxEntries: MAX_LOOKUPS,
    maxBytes: MAX_LOOKUP_BYTES,
  };
  const platformOrigin = serviceApi?.origin;
  const api = {
    endpoint: serviceApi,
    projectId: serviceProjectId,
    projectIdHeader: names.headers.projectId,
    paths: names.paths,
    place: config.place,
  };
  return new ContainerModule(({ bind }) => {
    provide(
      bind,
      'call',
      ['upstream', 'credentials', 'errors', 'telemetry'],
      (parts) => new PlatformCall({ ...parts, pause }),
    );
    provide(
      bind,
      'forwarder',
      ['call', 'telemetry', 'chatConfig'],
      ({ chatConfig, ...parts }) =>
        new ChatForwarder({
          ...parts,
          agent,
          timeouts: chatTimeouts,
          card: (version, caller) => chatConfig.card(version, caller),
        }),
    );
    provide(
      bind,
      'styles',
      ['telemetry'],
      ({ telemetry }) =>
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
      'directory',
      ['call', 'clock', 'telemetry', 'styles'],
      (parts) => new PlatformDirectory({ ...parts, api, ...lookups }),
    );
    provide(
      bind,
      'chatConfig',
      ['call', 'clock', 'directory', 'telemetry'],
      (parts) =>
        new ChatConfig({
          ...parts,
          agent,
          cardAddress: agentCard,
          platformOrigin,
          mediaOrigins: [...mediaOrigins],
          ...lookups,
        }),
    );
    provide(
      bind,
      'httpJson',
      ['call', 'chatConfig'],
      ({ call, chatConfig }) =>
        new HttpJsonBinding({
          call,
          timeouts: chatTimeouts,
          agent,
          platformOrigin,
          card: (version, caller) => chatConfig.card(version, caller),
        }),
    );
    provide(
      bind,
      'surfaces',
      ['call', 'styles'],
      (parts) => new SurfaceService({ ...parts, timeouts: platformTimeouts, api }),
    );
    provide(
      bind,
      'conversations',
      ['call'],
      // Records have any size: a streaming body has no total time limit.
      ({ call }) => new ConversationProxy({ call, timeouts: { ...platformTimeouts, bodyMs: 0 }, api }),
    );
  });
}
