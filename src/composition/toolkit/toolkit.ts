import { Container } from 'inversify';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import { accept, type Given, type OptionShape, readOptions } from '../../domain/shared/options.js';
import { resolveConfig } from '../config/resolve-config.js';
import type { ServerConfig } from '../config/server-config.js';
import { warningsOf } from '../config/env.js';
import { chosenNames } from '../config/upstream-config.js';
import {
  CHAT,
  PROXY,
  SERVICE_HEADERS,
  SERVICE_SURFACES,
  SESSION_HEADERS,
  SURFACE_ROUTER,
  SURFACES,
} from '../routes/option-shapes.js';
import { sessionRequest } from '../routes/route-auths.js';
import { forwardHint } from '../routes/site-fields.js';
import { resolve, TOKENS } from './container.js';
import { domainModule } from './domain-module.js';
import { configurationCheck, credentialCheck } from './health.js';
import { identityModule } from './identity-module.js';
import { platformModule, retireReplaced } from './platform-module.js';
import { PORTS, type ToolkitPorts } from './ports.js';
import { provideExchange } from './process-wide.js';
import { shutDown } from './shut-down.js';
import type { LastingParts } from './site.js';
import { siteModule } from './site-module.js';
import type { HealthCheck, Toolkit } from './toolkit-type.js';

/**
 * Builds everything the routes need from one configuration; keeps no global state, so a process may have many.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming block and field, or the port.
 *
 * @example
 * ```ts
 * import { createToolkit } from 'agent-bff';
 *
 * const toolkit = createToolkit({
 *   a2aUrl: 'https://agent.example/a2a',
 *   serviceApiUrl: 'https://platform.example/api',
 *   serviceAccount: { serviceAccountId: 'sa-1', keyId: 'key-1', privateKeyPath: '/run/secrets/agent.pem' },
 * });
 * ```
 *
 * @public
 */
export function createToolkit(config: ServerConfig, ports?: ToolkitPorts): Toolkit {
  return buildToolkit(config, readOptions('createToolkit', PORTS, ports), undefined);
}

/**
 * Builds a toolkit that keeps what a change of configuration does not touch: tokens by their identity, connections by their settings.
 * `sessions`: the session libraries of its routes; each further route adds its own.
 */
export function buildToolkit(
  config: ServerConfig,
  ports: ToolkitPorts,
  previous: Toolkit | undefined,
  sessions: Set<SessionTokenLike> = new Set(),
): Toolkit {
  const resolved = resolveConfig(config, ports);
  provideExchange();
  const kept = previous === undefined ? undefined : LASTING.get(previous);
  const container = new Container({ defaultScope: 'Singleton', jitless: true });
  container.load(
    platformModule(resolved, ports, kept),
    identityModule(resolved, ports, sessions),
    domainModule(resolved),
    siteModule(resolved),
  );
  const { handlers, gate, auths, broker, directory, lasting } = resolve(container, TOKENS.Site);
  if (kept !== undefined) retireReplaced(kept, lasting);
  let closing: Promise<void> | undefined;
  const read = <Options extends object>(
    method: string,
    shape: OptionShape<keyof Options & string>,
    options: Options | undefined,
  ): Given<Options> => readOptions(`toolkit.${method}`, shape, options, { toolkit });
  const toolkit: Toolkit = {
    chatHandler: (options) => handlers.chat(read('chatHandler', CHAT, options)),
    surfaceRouter: (options) => {
      const given = read('surfaceRouter', SURFACE_ROUTER, options);
      return handlers.surfaces(auths.surfaceRouter(given), given);
    },
    surfaceHandler: (options) => {
      const given = read('surfaceHandler', SURFACES, options);
      return handlers.surfaces(auths.surfaces(given), given);
    },
    serviceSurfaceHandler: (options) => {
      const given = read('serviceSurfaceHandler', SERVICE_SURFACES, options);
      return handlers.surfaces(auths.service(given), given);
    },
    conversationHandler: (options) => handlers.conversations(read('conversationHandler', PROXY, options)),
    projectId: async (options) => {
      const auth = auths.service(read('projectId', SERVICE_HEADERS, options));
      return (await directory.resolve('project', auth, NO_REQUEST)).value;
    },
    brandCss: async (options) => {
      const auth = auths.service(read('brandCss', SERVICE_HEADERS, options));
      return (await directory.resolve('brand', auth, NO_REQUEST)).value ?? '';
    },
    authHeaders: async (options) => {
      const auth = auths.service(read('authHeaders', SERVICE_HEADERS, options));
      return { ...(await broker.obtain(auth, NO_REQUEST)).headers } as Record<string, string>;
    },
    sessionHeaders: async (options, request) => {
      const { authClient, ...user } = read('sessionHeaders', SESSION_HEADERS, options);
      const auth = auths.session(authClient, user);
      return { ...(await broker.obtain(auth, sessionRequest(request))).headers } as Record<string, string>;
    },
    customProviders: resolved.customProviders,
    forwardHint: (names) => forwardHint(names, chosenNames(resolved.upstream.headers)),
    cachedServiceToken: (options) => {
      const { strategy = '' } = read('cachedServiceToken', SERVICE_HEADERS, options);
      return broker.cachedServiceToken(strategy)?.value;
    },
    health: async () => {
      const credential: HealthCheck = gate.isClosed
        ? { status: 'skipped' }
        : await credentialCheck(resolved, () => broker.obtain(SERVICE, NO_REQUEST));
      const checks = { configuration: configurationCheck(resolved), credential };
      const works = Object.values(checks).every(({ status }) => status !== 'fail');
      const { inFlight, openStreams } = gate;
      return { status: gate.isClosed ? 'closing' : works ? 'ready' : 'degraded', checks, inFlight, openStreams };
    },
    close: (options) => {
      const { graceMs = GRACE_MS } = read('close', CLOSE, options);
      const { connections, stores } = lasting;
      const ended = REPLACED.has(toolkit)
        ? { gate, upstreams: [], store: undefined }
        : { gate, upstreams: [connections.upstream, ...connections.retired], store: stores.redis };
      closing ??= shutDown(ended, graceMs);
      // A later configuration begins anew: what is closed here serves nobody.
      LASTING.delete(toolkit);
      return closing;
    },
  };
  LASTING.set(toolkit, lasting);
  if (previous !== undefined) {
    REPLACED.add(previous);
    // What was refused may have been corrected at the provider.
    lasting.stores.tokens.liftBackOffs();
  }
  if (previous?.cachedServiceToken() !== undefined) void broker.recall();
  for (const { code, detail } of warningsOf(config)) lasting.faults.telemetry.emit({ type: 'warning', code, detail });
  return toolkit;
}

const CLOSE: OptionShape<'graceMs'> = {
  options: { graceMs: accept((value) => typeof value === 'number', 'a number of milliseconds') },
};

/** Milliseconds running requests have to finish when a toolkit is closed. */
const GRACE_MS = 10_000;

/** What each toolkit runs on, for the toolkit that replaces it. */
const LASTING = new WeakMap<Toolkit, LastingParts>();

/** Toolkits whose parts another one has taken over. */
const REPLACED = new WeakSet<Toolkit>();

/** The configured strategy, for what nobody in particular asks. */
const SERVICE: RouteAuth = { kind: 'service', strategy: '', apiKey: undefined };

const NO_REQUEST = { headers: {}, native: { request: undefined } };
