import { setImmediate } from 'node:timers/promises';
import { Container } from 'inversify';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { settled } from '../../adapters/node/early-response.js';
import { after } from '../../adapters/system/system.js';
import { timedTokenExchange } from '../../adapters/system/timed-ports.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import { MAX_TIMER_MS, withTimeout } from '../../domain/shared/deadline.js';
import { DeadlineError } from '../../domain/shared/failure-reason.js';
import { isAgentBffError } from '../../domain/shared/errors.js';
import {
  accept,
  callback,
  checkArgument,
  hasMethods,
  methods,
  type Given,
  type OptionShape,
  readOptions,
} from '../../domain/shared/options.js';
import { withVariables } from '../../domain/shared/setting.js';
import { warningsOf } from '../config/env.js';
import { type ResolvedConfig, resolveConfig } from '../config/resolve-config.js';
import { isTelemetry, providers } from '../config/schema.js';
import type { ServerConfig } from '../config/server-config.js';
import { VERSION } from '../process-state.js';
import { sessionRequest } from '../routes/route-credentials.js';
import { readWithFacts } from '../routes/route-option-reader.js';
import type { RequestContext } from '../../ports/http.js';
import type { AuthHeadersOptions, SessionOptions } from '../routes/route-options.js';
import { type RouteShape, SERVICE_HEADERS, SESSION_HEADERS } from '../routes/route-shapes.js';
import { lent } from './connections.js';
import {
  build,
  type Built,
  givenModule,
  type LastingParts,
  type Parts,
  rebind,
  type ToolkitSource,
} from './container.js';
import { domainModule } from './domain-module.js';
import { identityModule } from './identity-module.js';
import { platformModule, retireReplaced } from './platform-module.js';
import { partsOf, sharedOption } from './shared.js';
import { siteModule } from './site-module.js';
import type { HealthCheck, Toolkit, ToolkitPorts } from './toolkit-type.js';

/**
 * Creates everything the routes need from one configuration. It has no global state, so a process may have many
 * toolkits.
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
  const maker = 'createToolkit';
  return buildToolkit(config, readOptions(maker, PORTS, ports), undefined, undefined, maker);
}

const PORTS: OptionShape<keyof ToolkitPorts> = {
  options: {
    clock: methods('now'),
    upstream: methods('send', 'close'),
    telemetry: accept(isTelemetry, 'an object with emit, such as loggerTelemetry(logger)'),
    identityProviders: providers,
    tokenExchange: methods('identity', 'exchange'),
    identityFetch: callback,
    random: callback,
    shared: sharedOption,
  },
};

let container: Container | undefined;

/**
 * Builds the parts of a toolkit, with the ports that a site passed instead of the defaults. All toolkits share one
 * container, whose bindings depend on the input of each; a toolkit with ports has a nested one.
 */
export function builtParts(given: ToolkitSource, ports: ToolkitPorts): Built {
  if (container === undefined) {
    container = new Container({ jitless: true });
    container.load(givenModule(), platformModule(), identityModule(), domainModule(), siteModule());
  }
  const { clock, upstream, telemetry, tokenExchange, identityFetch, random } = ports;
  if ([clock, upstream, telemetry, tokenExchange, identityFetch, random].every((port) => port === undefined)) {
    return build(container, given);
  }
  const own = new Container({ jitless: true, parent: container });
  if (clock) rebind(own, 'clock', clock);
  if (upstream) rebind(own, 'upstreamSource', lent(upstream));
  if (telemetry) rebind(own, 'listeners', [telemetry]);
  if (tokenExchange) {
    rebind(own, 'exchange', timedTokenExchange(tokenExchange, given.config.timeouts.identityProviderMs));
  }
  if (identityFetch) rebind(own, 'fetch', identityFetch);
  if (random) rebind(own, 'random', random);
  return build(own, given);
}

/**
 * Builds a toolkit that reuses the parts a change of configuration does not affect: tokens by their identity,
 * connections by their settings. `sessions`: the session libraries of its routes; each new route adds its own. `maker`:
 * the function that the site called, by default `configureServer`.
 */
export function buildToolkit(
  config: ServerConfig,
  ports: ToolkitPorts,
  previous?: Toolkit,
  sessions: Set<SessionTokenLike> = new Set(),
  maker?: string,
): Toolkit {
  const resolved = resolveConfig(config, ports, maker);
  const replaced = previous && LASTING.get(previous);
  const shared = ports.shared && partsOf(ports.shared, config);
  const built = builtParts({ config: resolved, previous: replaced, sessions, shared }, ports);
  const { handlers, credentials: broker, directory, ...lasting } = built;
  const { telemetry, stores, gate } = lasting;
  const { credentials } = handlers;
  const obtain: typeof broker.obtain = (auth, request) =>
    broker.obtain(auth, request).catch((error: unknown) => {
      throw withVariables(error, resolved.variables);
    });
  if (replaced !== undefined) retireReplaced(replaced, lasting);
  let closing: Promise<void> | undefined;
  let phase: ReturnType<Toolkit['phase']> = 'open';
  const read = <Options extends object>(
    method: string,
    shape: RouteShape<keyof Options & string>,
    options: Options | undefined,
  ): Given<Options> => readWithFacts(`toolkit.${method}`, shape, options, handlers.facts);
  const service = (method: string, options: AuthHeadersOptions | undefined): RouteAuth<'service'> =>
    credentials.service(read(method, SERVICE_HEADERS, options));
  const toolkit: Toolkit = {
    version: VERSION,
    handlers,
    projectId: async (options) => (await directory.resolve('project', service('projectId', options), NO_REQUEST)).value,
    brandCss: async (options) =>
      (await directory.resolve('brand', service('brandCss', options), NO_REQUEST)).value ?? '',
    authHeaders: async (options) => {
      const auth = service('authHeaders', options);
      return { ...(await obtain(auth, NO_REQUEST)).forPlatform.headers } as Record<string, string>;
    },
    sessionHeaders: async (options, request) => {
      // Read with `authClient` as `auth`, which is required.
      const { auth: like, ...user } = read('sessionHeaders', SESSION_HEADERS, options) as SessionOptions & {
        readonly auth: SessionTokenLike;
      };
      const auth = credentials.session(like, user);
      return { ...(await obtain(auth, sessionRequest(request))).headers } as Record<string, string>;
    },
    endSession: async (options, request) => {
      checkArgument('toolkit.endSession', 'request', request, REQUEST);
      const { auth } = read('endSession', SESSION_HEADERS, options) as { readonly auth: SessionTokenLike };
      await credentials.endSession(auth, sessionRequest(request));
    },
    cachedServiceToken: (options) => {
      const { strategy = '' } = read('cachedServiceToken', SERVICE_HEADERS, options);
      return broker.cachedServiceToken(strategy)?.value;
    },
    health: async () => {
      const credential: HealthCheck = gate.isClosed
        ? { status: 'skipped' }
        : await credentialCheck(resolved, () => broker.obtain(SERVICE, NO_REQUEST));
      const configuration = configurationCheck(resolved);
      // Without the store, every request is still served.
      const works = [configuration, credential].every(({ status }) => status !== 'fail');
      const checks = { configuration, credential, store: storeCheck(stores) };
      const { inFlight, openStreams } = gate;
      return { status: gate.isClosed ? 'closing' : works ? 'ready' : 'degraded', checks, inFlight, openStreams };
    },
    close: (options) => {
      const { graceMs = GRACE_MS } = read('close', CLOSE, options);
      phase = closing === undefined ? 'closing' : phase;
      closing ??= end(gate, lasting, graceMs).finally(() => {
        phase = 'closed';
        shared?.toolkits.delete(toolkit);
      });
      // A later configuration starts from scratch: parts closed here cannot be reused.
      LASTING.delete(toolkit);
      return closing;
    },
    shutDown: async (server, options) => {
      read('shutDown', SHUT_DOWN, { server });
      const { graceMs } = read('shutDown', CLOSE, options);
      // A second signal must not emit its `close` again.
      if (server?.listening !== false) server?.close();
      await toolkit.close({ graceMs });
      server?.closeAllConnections?.();
    },
    phase: () => phase,
  };
  LASTING.set(toolkit, lasting);
  shared?.toolkits.set(toolkit, resolved.name);
  // The cause of a refusal may have been fixed at the provider.
  if (previous !== undefined) stores.tokens.liftBackOffs();
  if (previous?.cachedServiceToken() !== undefined) void broker.recall();
  for (const { code, detail } of warningsOf(config, ports.identityProviders))
    telemetry.emit({ type: 'warning', code, detail });
  return toolkit;
}

/** Without a request there is no cookie, and nothing would end. */
const REQUEST = accept((value) => Object(value) === value, 'the request of the framework');

const CLOSE: OptionShape<'graceMs'> = {
  options: { graceMs: accept((value) => typeof value === 'number' && value >= 0, 'milliseconds from 0') },
};

const SHUT_DOWN: OptionShape<'server'> = {
  options: { server: accept((value) => hasMethods(value, ['close']), 'a server, such as the result of app.listen()') },
};

/** Milliseconds for running requests to finish when a toolkit is closed. */
const GRACE_MS = 10_000;

/** The reusable parts of each toolkit, for its successor. */
const LASTING = new WeakMap<Toolkit, LastingParts>();

/** The configured strategy, for calls without options. */
const SERVICE: RouteAuth = { kind: 'service', strategy: '', apiKey: undefined };

/** For calls without a request of a visitor. */
export const NO_REQUEST: RequestContext = { headers: {}, native: { request: undefined } };

/** Milliseconds a check waits for the credential: Kubernetes allows a probe one second. */
const WAIT_MS = 500;

/** Passes if there is an address to forward to. */
function configurationCheck({ agent, serviceApi }: ResolvedConfig): HealthCheck {
  if (agent !== undefined || serviceApi !== undefined) return { status: 'pass' };
  return {
    status: 'fail',
    code: 'service_auth_failed',
    block: 'configureServer',
    fields: ['a2aUrl', 'serviceApiUrl'],
  };
}

/** Fails while the shared store is not called, because several calls in a row failed. */
function storeCheck({ store }: Parts['stores']): HealthCheck {
  if (store === undefined) return { status: 'skipped' };
  if (!store.isAway) return { status: 'pass' };
  return { status: 'fail', block: 'configureServer', fields: ['cacheStore'] };
}

/** Passes if the service credential is cached or can be obtained; a site for signed-in users only needs none. */
async function credentialCheck(config: ResolvedConfig, obtain: () => Promise<unknown>): Promise<HealthCheck> {
  const { serviceAuthStrategy, authProvider, hasServiceAccount, serviceApiKey } = config;
  if (serviceAuthStrategy === '' && authProvider === '' && !hasServiceAccount && serviceApiKey === undefined) {
    return { status: 'skipped' };
  }
  try {
    await withTimeout(after(WAIT_MS, 'the identity provider'), obtain());
    return { status: 'pass' };
  } catch (error) {
    // The token request continues, for the next check and for visitors.
    if (error instanceof DeadlineError) return { status: 'fail', code: 'identity_provider_unavailable', fields: [] };
    if (!isAgentBffError(error)) return { status: 'fail', code: 'internal_error', fields: [] };
    const { code, block, fields } = error;
    return { status: 'fail', code, ...(block === undefined ? {} : { block }), fields };
  }
}

/** Time for the error events to reach the browsers. */
const FLUSH_GRACE_MS = 250;
/** Milliseconds for browsers that were still sending to read their responses; connections end earlier by themselves. */
const LINGER_MS = 2_000;

/**
 * Ends a site.
 *
 *     (1) no new requests ──► (2) wait for the running ones ──► (3) abort the rest
 */
async function end(gate: Parts['gate'], lasting: LastingParts, graceMs: number): Promise<void> {
  // The upstreams of this toolkit, and of replaced ones whose last responses are still running.
  const upstreams = [lasting.connections.upstream, ...lasting.connections.retired];
  // (1)
  gate.close();
  // (2)
  const finished = Promise.allSettled([gate.idle(), ...upstreams.map((upstream) => upstream.close())]);
  await before(finished, Math.min(graceMs, MAX_TIMER_MS));
  // (3) Event streams get their error event, other responses are cut: see `ObservedBody` and `StreamWriter`.
  const ended = Promise.allSettled([...upstreams.map((upstream) => upstream.close({ graceMs: 0 })), gate.idle()]);
  await before(ended, FLUSH_GRACE_MS);
  // Node passes the last writes to the sockets in the next turn.
  await setImmediate();
  await before(settled(), LINGER_MS);
  await lasting.stores.close();
  lasting.memory.data.close();
  lasting.memory.tokens.close();
}

/** Waits for the work, for at most `ms` milliseconds; 0 counts as 1. */
async function before(work: Promise<unknown>, ms: number): Promise<void> {
  await withTimeout(after(Math.max(1, ms), 'the site'), work).catch(() => undefined);
}
