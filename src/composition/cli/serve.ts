import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import type { ServerConfig } from '../config.js';
import { createNodeHandler } from '../node.js';
import type { ToolkitPorts } from '../ports.js';
import type { Toolkit } from '../toolkit-type.js';
import { createToolkit } from '../toolkit.js';

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

/** Serves the routes without a site of one's own: `/healthz` tells how it is, everything else is a route or 404. */
export async function serve(settings: GatewaySettings): Promise<Gateway> {
  const { config, ports, host, port, basePath, graceMs, log } = settings;
  const toolkit = createToolkit({ ...config, telemetry: lines(log) }, ports);
  const routes = createNodeHandler({ toolkit, basePath });
  const server = createServer((request, response) => {
    if (request.url?.replace(/\?.*$/s, '') === HEALTH) void answerHealth(toolkit, request, response);
    else routes(request, response);
  });
  try {
    await listen(server, port, host);
  } catch (error) {
    await toolkit.close({ graceMs: 0 });
    throw error;
  }
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(chosen)}`,
    stop: async () => {
      server.close();
      await toolkit.close({ graceMs });
      server.closeAllConnections();
    },
  };
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

async function answerHealth(toolkit: Toolkit, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const health = await toolkit.health();
  response.writeHead(health.status === 'ready' ? 200 : 503, {
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
