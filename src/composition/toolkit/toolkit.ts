import { setImmediate } from 'node:timers/promises';
import { Container } from 'inversify';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { DeadlineError, inTime, timedTokenExchange } from '../../adapters/system/timed-ports.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import { MAX_TIMER_MS } from '../../domain/shared/deadline.js';
import { isAgentBffError } from '../../domain/shared/errors.js';
import { accept, callback, methods, type Given, type OptionShape, readOptions } from '../../domain/shared/options.js';
import { warningsOf } from '../config/env.js';
import { type ResolvedConfig, resolveConfig } from '../config/resolve-config.js';
import { providers } from '../config/schema.js';
import type { ServerConfig } from '../config/server-config.js';
import { chosenNames } from '../config/upstream-config.js';
import { forwardHint, sessionRequest } from '../routes/route-credentials.js';
import { SERVICE_HEADERS, SESSION_HEADERS } from '../routes/route-options.js';
import { type LastingParts, type Parts, rebind, resolve } from './container.js';
import { domainModule } from './domain-module.js';
import { identityModule } from './identity-module.js';
import { platformModule, retireReplaced } from './platform-module.js';
import { provideExchange } from './process-wide.js';
import { siteModule } from './site-module.js';
import type { HealthCheck, Toolkit, ToolkitPorts } from './toolkit-type.js';

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
  return buildToolkit(config, readOptions('createToolkit', PORTS, ports));
}

const PORTS: OptionShape<keyof ToolkitPorts> = {
  options: {
    clock: methods('now'),
    upstream: methods('send', 'close'),
    telemetry: methods('emit'),
    identityProviders: providers,
    tokenExchange: methods('identity', 'exchange'),
    identityFetch: callback,
    random: callback,
  },
};

/**
 * The container of one configuration, with everything its toolkit is made of. Each configuration has its own: a singleton of a shared one
 * would be of the configuration that came first. What `previous` has already stays while the configuration behind it does.
 */
export function toolkitContainer(
  config: ResolvedConfig,
  previous?: LastingParts,
  sessions: Set<SessionTokenLike> = new Set(),
): Container {
  const container = new Container({ defaultScope: 'Singleton', jitless: true });
  container.load(
    platformModule(config, previous),
    identityModule(config, sessions),
    domainModule(config),
    siteModule(config),
  );
  return container;
}

/** Binds the ports that a site gives in place of the usual ones. */
function rebindPorts(container: Container, ports: ToolkitPorts, identityProviderMs: number): void {
  const { clock, upstream, telemetry, tokenExchange, identityFetch, random } = ports;
  if (clock) rebind(container, 'clock', clock);
  if (upstream) rebind(container, 'upstreamSource', { key: upstream, connect: () => upstream });
  if (telemetry) rebind(container, 'listeners', [telemetry]);
  if (tokenExchange) rebind(container, 'exchange', timedTokenExchange(tokenExchange, identityProviderMs));
  if (identityFetch) rebind(container, 'fetch', identityFetch);
  if (random) rebind(container, 'random', random);
}

/**
 * Builds a toolkit that keeps what a change of configuration does not touch: tokens by their identity, connections by their settings.
 * `sessions`: the session libraries of its routes; each further route adds its own.
 */
export function buildToolkit(
  config: ServerConfig,
  ports: ToolkitPorts,
  previous?: Toolkit,
  sessions?: Set<SessionTokenLike>,
): Toolkit {
  const resolved = resolveConfig(config, ports);
  provideExchange();
  const kept = previous && LASTING.get(previous);
  const container = toolkitContainer(resolved, kept, sessions);
  rebindPorts(container, ports, resolved.timeouts.identityProviderMs);
  const part = <Name extends keyof Parts>(name: Name): Parts[Name] => resolve(container, name);
  const [handlers, gate, broker, directory] = [part('handlers'), part('gate'), part('credentials'), part('directory')];
  const [telemetry, stores] = [part('telemetry'), part('stores')];
  const lasting = { listeners: part('listeners'), telemetry, connections: part('connections'), stores };
  const { credentials } = handlers;
  if (kept !== undefined) retireReplaced(kept, lasting);
  let closing: Promise<void> | undefined;
  const read = <Options extends object>(
    method: string,
    shape: OptionShape<keyof Options & string>,
    options: Options | undefined,
  ): Given<Options> => readOptions(`toolkit.${method}`, shape, options, { toolkit });
  const toolkit: Toolkit = {
    handlers,
    projectId: async (options) => {
      const auth = credentials.service(read('projectId', SERVICE_HEADERS, options));
      return (await directory.resolve('project', auth, NO_REQUEST)).value;
    },
    brandCss: async (options) => {
      const auth = credentials.service(read('brandCss', SERVICE_HEADERS, options));
      return (await directory.resolve('brand', auth, NO_REQUEST)).value ?? '';
    },
    authHeaders: async (options) => {
      const auth = credentials.service(read('authHeaders', SERVICE_HEADERS, options));
      return { ...(await broker.obtain(auth, NO_REQUEST)).headers } as Record<string, string>;
    },
    sessionHeaders: async (options, request) => {
      const { authClient, ...user } = read('sessionHeaders', SESSION_HEADERS, options);
      const auth = credentials.session(authClient, user);
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
      closing ??= shutDown(gate, REPLACED.has(toolkit) ? undefined : lasting, graceMs);
      // A later configuration begins anew: what is closed here serves nobody.
      LASTING.delete(toolkit);
      return closing;
    },
  };
  LASTING.set(toolkit, lasting);
  if (previous !== undefined) {
    REPLACED.add(previous);
    // What was refused may have been corrected at the provider.
    stores.tokens.liftBackOffs();
  }
  if (previous?.cachedServiceToken() !== undefined) void broker.recall();
  for (const { code, detail } of warningsOf(config)) telemetry.emit({ type: 'warning', code, detail });
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

/** Milliseconds a check waits for the credential: Kubernetes gives a probe one second. */
const WAIT_MS = 500;

/** Passes where there is an address to forward to. */
function configurationCheck({ agent, serviceApi }: ResolvedConfig): HealthCheck {
  if (agent !== undefined || serviceApi !== undefined) return { status: 'pass' };
  return {
    status: 'fail',
    code: 'service_auth_failed',
    block: 'configureServer',
    fields: ['a2aUrl', 'serviceApiUrl'],
  };
}

/** Passes where the service credential is there or can be had; a site for signed-in users only needs none. */
async function credentialCheck(config: ResolvedConfig, obtain: () => Promise<unknown>): Promise<HealthCheck> {
  const { serviceAuthStrategy, authProvider, hasServiceAccount, serviceApiKey } = config;
  if (serviceAuthStrategy === '' && authProvider === '' && !hasServiceAccount && serviceApiKey === undefined) {
    return { status: 'skipped' };
  }
  try {
    await inTime(obtain(), WAIT_MS, 'the identity provider');
    return { status: 'pass' };
  } catch (error) {
    // What it is asked for goes on, for the next check and for visitors.
    if (error instanceof DeadlineError) return { status: 'fail', code: 'identity_provider_unavailable', fields: [] };
    if (!isAgentBffError(error)) return { status: 'fail', code: 'internal_error', fields: [] };
    const { code, block, fields } = error;
    return { status: 'fail', code, ...(block === undefined ? {} : { block }), fields };
  }
}

/** For what was cut to be told to the browsers. */
const FLUSH_GRACE_MS = 250;

/**
 * Ends a site; `lasting` is absent where another toolkit has taken it over.
 *
 *     (1) no new requests ──► (2) wait for the running ones ──► (3) break off what still runs
 */
async function shutDown(gate: Parts['gate'], lasting: LastingParts | undefined, graceMs: number): Promise<void> {
  // Those of this toolkit, and those it replaced whose last responses still run.
  const upstreams = lasting === undefined ? [] : [lasting.connections.upstream, ...lasting.connections.retired];
  // (1)
  gate.close();
  // (2)
  const finished = Promise.allSettled([gate.idle(), ...upstreams.map((upstream) => upstream.close())]);
  await before(finished, Math.min(graceMs, MAX_TIMER_MS));
  // (3) Event streams get their error event, other responses are cut: see `EventStream` and `writeStream`.
  const ended = Promise.allSettled([...upstreams.map((upstream) => upstream.close({ graceMs: 0 })), gate.idle()]);
  await before(ended, FLUSH_GRACE_MS);
  await lasting?.stores.redis?.close();
  // Node hands what was written last to the sockets in the next turn.
  await setImmediate();
}

/** Waits for the work, but no longer than so many milliseconds, of which 0 is one. */
async function before(work: Promise<unknown>, ms: number): Promise<void> {
  await inTime(work, Math.max(1, ms), 'the site').catch(() => undefined);
}
