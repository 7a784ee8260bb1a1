import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { nodeListener, type NodeListener } from '../../adapters/node/node-listener.js';
import { behindHostCheck, type HostPolicy } from '../../adapters/web/admission.js';
import { errorContext, refusal } from '../../adapters/web/error-response.js';
import type { HttpHandler } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { hostPolicy } from '../config/addresses.js';
import { warningsOf } from '../config/env.js';
import type { ServerConfig } from '../config/server-config.js';
import { newRequestId } from '../../adapters/telemetry/request-scope.js';
import { resolveConfig } from '../config/resolve-config.js';
import { siteRoutes } from '../routes/site-routes.js';
import { noRoute } from '../routes/unconfigured-responses.js';
import type { Toolkit, ToolkitPorts } from '../toolkit/toolkit-type.js';
import { createToolkit } from '../toolkit/toolkit.js';
import {
  type Command,
  type ListeningPlace,
  listeningAddress,
  type Terminal,
  usageError,
  whileListening,
  wholeNumber,
} from './command-line.js';
import { configuration, CONFIGURATION_HELP, SOURCE_OPTIONS } from './configuration-source.js';
import { isLoopback, originForm } from '../../domain/shared/paths.js';

/** Settings of the stand-alone gateway. */
export interface GatewaySettings extends ListeningPlace {
  readonly config: ServerConfig;
  readonly ports: ToolkitPorts;
  /** Path under which the routes are served. */
  readonly basePath: string;
  /** Milliseconds for open streams to end when the gateway is stopped. */
  readonly graceMs: number;
  /** Milliseconds after which an idle connection is closed. */
  readonly keepAliveTimeoutMs: number;
  /** Receives one line of JSON per event. */
  readonly log: (line: string) => void;
}

/** A running gateway. */
export interface Gateway {
  readonly url: string;
  /** Rejects new requests, lets the running ones finish, and closes. */
  readonly stop: () => Promise<void>;
}

const HEALTH = '/healthz';
const MAX_SECONDS = 3_600;
const UNCONFIGURED =
  'agent-bff: neither a2aUrl (A2A_URL) nor serviceApiUrl (SERVICE_API_URL) is set, so every request is refused; `agent-bff doctor` lists what is missing.';

/** The command `serve`, which runs until it is stopped. */
export const SERVE: Command = {
  summary: 'serves the routes without a site of your own',
  help: `agent-bff serve [--config FILE | --env FILE] [--port N] [--host H] [--base PATH] [--grace SECONDS]
                [--keep-alive-timeout SECONDS]

Serves the routes without a site of your own. GET /healthz is the health check: 503 once it is stopped, else 200.
On a loopback address all other requests must use a loopback name, publicUrl's host or one of allowedHosts.

  --config FILE    reads the configuration from here
  --env FILE       adds variables such as A2A_URL=https://agent.example; those already set take precedence
  --port N         default PORT of the environment, else 8080; 0 takes any free port
  --host H         default HOST of the environment, else 127.0.0.1; 0.0.0.0 for a container
  --base PATH      the path of the routes; default /api
  --grace SECONDS  how long open streams may continue after it is stopped; default 10
  --keep-alive-timeout SECONDS
                   how long an idle connection stays open; default 80. Set it above the idle timeout of the
                   proxy or balancer in front, which otherwise sends messages on a connection that closes

${CONFIGURATION_HELP}
Standard output gets one line of JSON per event, standard error the rest.

Exit status: 0 it was stopped, 1 it cannot serve, 2 the command line is invalid.`,
  run,
};

async function run(args: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { ...SOURCE_OPTIONS, port: text, host: text, base: text, grace: text, 'keep-alive-timeout': text };
  const { values } = parseArgs({ args, options });
  const { base: basePath = '/api' } = values;
  const address = listeningAddress(values, terminal.env, 8080);
  const grace = wholeNumber('--grace', values.grace ?? '10', MAX_SECONDS);
  const keepAlive = wholeNumber('--keep-alive-timeout', values['keep-alive-timeout'] ?? '80', MAX_SECONDS);
  if (!/^\/[^?#\s]*$/.test(basePath))
    throw usageError('--base', '--base must be a path.', 'Set --base to a path such as /api.');
  const config = await configuration(values, terminal.env);
  for (const { detail } of warningsOf(config)) terminal.complain(`agent-bff: ${detail}`);
  const times = { graceMs: grace * 1000, keepAliveTimeoutMs: keepAlive * 1000 };
  const settings = { config, ports, ...address, ...times, basePath, log: terminal.print };
  return whileListening(address, async () => {
    const { url, stop } = await serve(settings);
    terminal.complain(`agent-bff serves at ${url}${basePath}; Ctrl+C stops it.`);
    if (!config.a2aUrl && !config.serviceApiUrl) terminal.complain(UNCONFIGURED);
    await terminal.stopped;
    terminal.complain(
      `agent-bff is stopping; running requests have ${String(grace)} s. Press Ctrl+C again to stop immediately.`,
    );
    await stop();
  });
}

/**
 * Serves the routes without a site: `/healthz` is the health check, 503 once the gateway closes; every other path is a
 * route or 404. On a loopback address, everything except `/healthz` is only available under the names of this machine
 * and those in the configuration (decision 80).
 */
export async function serve(settings: GatewaySettings): Promise<Gateway> {
  const { config, ports, host, port, basePath, graceMs, keepAliveTimeoutMs, log } = settings;
  const resolved = resolveConfig(config, ports);
  // Checked before the routes, together with all other paths.
  const { allowedHosts: _allowedHosts, ...own } = config;
  const telemetry = lines(log);
  const toolkit = createToolkit({ ...own, telemetry }, ports);
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }).listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    await toolkit.close({ graceMs: 0 });
    throw error;
  }
  const { address, port: chosen } = server.address() as AddressInfo;
  const routes = routesFor(hostPolicy(resolved, isLocal(address)), toolkit, basePath, telemetry);
  server.on('request', (request, response) => {
    if (!server.listening) response.setHeader('connection', 'close');
    if (originForm(request.url ?? '').split('?', 1)[0] === HEALTH) void serveHealth(toolkit, request, response);
    else routes(request, response);
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(chosen)}`,
    stop: () => toolkit.shutDown(server, { graceMs }),
  };
}

/** The routes, and 404 for other paths, under the host names of the policy. */
function routesFor(
  hosts: HostPolicy | undefined,
  toolkit: Toolkit,
  basePath: string,
  telemetry: Telemetry,
): NodeListener {
  const site = { telemetry, newRequestId, authUnavailableStatus: 401 };
  const checked = (handler: HttpHandler, route: string): HttpHandler =>
    behindHostCheck(handler, hosts, (request, error) => refusal(error, request, errorContext(site, route)));
  const routes = siteRoutes('serve', { toolkit, basePath });
  return nodeListener(
    routes.map(({ mount, handler }) => ({
      mount,
      handler: checked(handler, mount.endsWith('/a2a') ? 'chat' : 'surface'),
    })),
    checked(noRoute, 'none'),
  );
}

/** True for an address that only this machine can reach. */
function isLocal(address: string): boolean {
  return isLoopback(address === '::1' ? '[::1]' : address.replace('::ffff:', ''));
}

async function serveHealth(toolkit: Toolkit, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const health = await toolkit.health();
  // Another process could not get a token either, and this one can still serve cached renders (decision 44).
  response.writeHead(health.status === 'closing' ? 503 : 200, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(health));
}

/** Writes one line of JSON per event, as log collectors expect. */
function lines(log: (line: string) => void): Telemetry {
  return {
    emit: ({ type, ...fields }) => log(JSON.stringify({ time: new Date().toISOString(), event: type, ...fields })),
  };
}
