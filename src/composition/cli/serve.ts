import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeListener, type NodeListener } from '../../adapters/node/node-listener.js';
import { behindHostCheck, type HostPolicy } from '../../adapters/web/admission.js';
import { refusal } from '../../adapters/web/error-response.js';
import type { HttpHandler } from '../../ports/http.js';
import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import { hostPolicy } from '../config/allowed-hosts.js';
import type { ServerConfig } from '../config/server-config.js';
import { noSuchRoute } from '../routes/current-handler.js';
import type { ToolkitPorts } from '../toolkit/ports.js';
import { newRequestId } from '../../adapters/telemetry/request-scope.js';
import { resolveConfig } from '../config/resolve-config.js';
import { siteRoutes } from '../routes/site-routes.js';
import type { Toolkit } from '../toolkit/toolkit-type.js';
import { createToolkit } from '../toolkit/toolkit.js';
import { processExchange } from '../toolkit/process-exchange.js';

/** How the stand-alone gateway runs. */
export interface GatewaySettings {
  readonly config: ServerConfig;
  readonly ports: ToolkitPorts;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Path under which the routes are served. */
  readonly basePath: string;
  /** Milliseconds open streams have to end when the gateway is stopped. */
  readonly graceMs: number;
  /** Takes one line of JSON for each event. */
  readonly log: (line: string) => void;
}

/** A gateway that serves. */
export interface Gateway {
  readonly url: string;
  /** Refuses new requests, lets the running ones finish, and closes. */
  readonly stop: () => Promise<void>;
}

const HEALTH = '/healthz';

/**
 * Serves the routes without a site of one's own: `/healthz` is its health, 503 once it closes; everything else is a route or 404.
 * On a loopback address all of it but `/healthz` is there for the names of this machine alone, and for those of the configuration (decision 80).
 */
export async function serve(settings: GatewaySettings): Promise<Gateway> {
  const { config, ports, host, port, basePath, graceMs, log } = settings;
  const resolved = resolveConfig(config, ports);
  // Looked at in front of the routes, with everything else there is.
  const { allowedHosts: _allowedHosts, ...own } = config;
  const telemetry = lines(log);
  const toolkit = createToolkit({ ...own, telemetry }, ports);
  const server = createServer();
  try {
    await listen(server, port, host);
  } catch (error) {
    await toolkit.close({ graceMs: 0 });
    throw error;
  }
  const { address, port: chosen } = server.address() as AddressInfo;
  const routes = routesFor(hostPolicy(resolved, isLoopback(address)), { toolkit, basePath, telemetry });
  server.on('request', (request, response) => {
    if (request.url?.split('?', 1)[0] === HEALTH) void serveHealth(toolkit, request, response);
    else routes(request, response);
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(chosen)}`,
    stop: async () => {
      server.close();
      await toolkit.close({ graceMs });
      server.closeAllConnections();
    },
  };
}

interface ServedRoutes {
  readonly toolkit: Toolkit;
  readonly basePath: string;
  readonly telemetry: Telemetry;
}

/** The routes, and 404 for everything else, for those who call them by a name of the policy. */
function routesFor(hosts: HostPolicy | undefined, { toolkit, basePath, telemetry }: ServedRoutes): NodeListener {
  const checked = (handler: HttpHandler, route: string): HttpHandler =>
    hosts === undefined
      ? handler
      : behindHostCheck(handler, hosts, (request, error) =>
          refusal(error, request, { requestId: newRequestId(), route, telemetry, authUnavailableStatus: 401 }),
        );
  const routes = siteRoutes('serve', { toolkit, basePath });
  return nodeListener(
    routes.map(({ mount, handler }) => ({
      mount,
      handler: checked(handler, mount.endsWith('/a2a') ? 'chat' : 'surface'),
    })),
    checked(noSuchRoute, 'none'),
    processExchange,
  );
}

/** Whether only this machine reaches an address a server listens on. */
function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function serveHealth(toolkit: Toolkit, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const health = await toolkit.health();
  // Another process would get no token either, and this one still serves the renders it keeps (decision 44).
  response.writeHead(health.status === 'closing' ? 503 : 200, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(health));
}

/** One line of JSON per event, as log collectors read them. */
function lines(log: (line: string) => void): Telemetry {
  return {
    emit: (event: TelemetryEvent) => {
      const { type, ...fields } = event;
      log(JSON.stringify({ time: new Date().toISOString(), event: type, ...fields }));
    },
  };
}
