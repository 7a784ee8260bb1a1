import { ContainerModule } from 'inversify';
import { nextTurn, pause, sha256 } from '../../adapters/system/system.js';
import { ChatConfig } from '../../domain/chat/chat-config.js';
import { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import { SurfaceService } from '../../domain/surfaces/surface-service.js';
import type { LookupsDependencies } from '../../domain/upstream/lookups.js';
import type { PlatformApi } from '../../domain/upstream/platform-api.js';
import { type CallTimeouts, PlatformCall } from '../../domain/upstream/platform-call.js';
import { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import { PlatformStyles } from '../../domain/upstream/platform-styles.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { type Parts, provide } from './container.js';

const deadline = (ms: number): AbortSignal => AbortSignal.timeout(ms);

/** Binds the domain, which the routes call. */
export function domainModule(): ContainerModule {
  return new ContainerModule(({ bind }) => {
    const needs = ['upstream', 'credentials', 'errors', 'telemetry'] as const;
    provide(bind, 'call', needs, (parts) => new PlatformCall({ ...parts, pause }));
    provide(bind, 'forwarder', ['config', 'call', 'chatConfig', 'telemetry'], (parts) => {
      const { call, telemetry, chatConfig, config } = parts;
      const { agent, serviceApi, timeouts } = config;
      return new ChatForwarder({
        call,
        agent,
        telemetry,
        platformOrigin: serviceApi?.origin,
        timeouts: { ...timeouts.chat, streamIdleMs: timeouts.streamIdleMs },
        card: (version, caller) => chatConfig.card(version, caller),
        nextTurn,
      });
    });
    provide(bind, 'styles', ['config', 'telemetry', 'memory', 'clock'], ({ config, telemetry, memory, clock }) => {
      const { mediaOrigins, trustBrandCss, publicUrl } = config;
      const themeOrigins = [...mediaOrigins, ...(publicUrl === '' ? [] : [new URL(publicUrl).origin])].toSorted();
      return new PlatformStyles({
        checker: async () => {
          const { CssChecker } = await import('../../adapters/css/css-checker.js');
          return new CssChecker(new Set(themeOrigins));
        },
        telemetry,
        hash: sha256,
        trustBrandCss,
        themeOrigins,
        memory: memory.data,
        clock,
      });
    });
    provide(bind, 'directory', ['config', 'call', 'clock', 'telemetry', 'styles', 'memory'], (parts) => {
      const { config, call, telemetry, styles } = parts;
      return new PlatformDirectory({ call, telemetry, styles, api: apiOf(config), ...lookups(config, parts) });
    });
    provide(bind, 'chatConfig', ['config', 'call', 'clock', 'directory', 'telemetry', 'memory'], (parts) => {
      const { config, call, directory, telemetry } = parts;
      return new ChatConfig({
        call,
        directory,
        telemetry,
        agent: config.agent,
        cardAddress: config.agentCard,
        platformOrigin: config.serviceApi?.origin,
        mediaOrigins: [...config.mediaOrigins],
        ...lookups(config, parts),
      });
    });
    provide(
      bind,
      'surfaces',
      ['config', 'call', 'styles'],
      ({ config, call, styles }) =>
        new SurfaceService({ call, styles, timeouts: callTimeouts(config), api: apiOf(config) }),
    );
    provide(
      bind,
      'conversations',
      ['config', 'call'],
      // Records have any size: a streaming body has no total time limit.
      ({ config, call }) =>
        new ConversationProxy({ call, timeouts: { ...callTimeouts(config), bodyMs: 0 }, api: apiOf(config) }),
    );
  });
}

function callTimeouts({ timeouts }: ResolvedConfig): Required<CallTimeouts> {
  const { headersMs, bodyIdleMs, bodyMs, streamIdleMs } = timeouts;
  return { headersMs, bodyIdleMs, bodyMs, streamIdleMs };
}

function lookups(
  { timeouts }: ResolvedConfig,
  { clock, memory }: Pick<Parts, 'clock' | 'memory'>,
): LookupsDependencies & { readonly timeouts: CallTimeouts } {
  const { headersMs, bodyIdleMs, lookupMs } = timeouts;
  return { timeouts: { headersMs, bodyIdleMs }, lookupMs, deadline, hash: sha256, clock, memory: memory.data };
}

function apiOf({ serviceApi, serviceProjectId, upstream: names, platformKey }: ResolvedConfig): PlatformApi {
  return {
    endpoint: serviceApi,
    projectId: serviceProjectId,
    projectIdHeader: names.headers.projectId,
    paths: names.paths,
    platformKey,
  };
}
