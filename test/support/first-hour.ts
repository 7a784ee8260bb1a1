import { FaultLog, TerminalTelemetry } from '../../src/adapters/telemetry/terminal-telemetry.js';
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  createToolkit,
  type ServerConfig,
  type ToolkitPorts,
  type ChatHandlerOptions,
  type TelemetryEvent,
} from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { RecordingTelemetry } from 'agent-bff/testing';
import express, { type Router } from 'express';
import { onTestFinished } from 'vitest';
import { type Platform, startPlatform } from '../../examples/platform/start-platform.js';
import { examine } from '../../src/composition/cli/doctor.js';
import type { Finding } from '../../src/composition/cli/finding.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { privateAuthority } from './identity-provider/private-authority.js';
import { closeAll } from './listening.mjs';
import { RecordingUpstream } from './recording-upstream.js';
import { newServiceAccountKey } from './service-account.js';
import { visit, type VisitOptions } from './visitor.js';

/** A developer's first setup of a site. */
export interface Setup {
  readonly config: ServerConfig;
  readonly ports?: ToolkitPorts;
  readonly route?: ChatHandlerOptions;
  /** Mounts the route. Default: at `/api/a2a`, without middleware. */
  readonly mount?: (app: express.Express, router: Router) => void;
  /** The page's request. Default: a chat message. */
  readonly ask?: VisitOptions;
}

/** The error that the page read, in any of the error formats. */
export interface Told {
  readonly status: number;
  readonly code: string;
  /** The failure and its fix. */
  readonly message: string;
  /** All bytes that reached the browser. */
  readonly bytes: string;
}

/** The first visit of a page, and its events in the log. */
export interface FirstVisit {
  readonly told: Told;
  readonly events: readonly TelemetryEvent[];
}

/** A working platform, a registered key, and a configuration for both. */
export class FirstHour {
  readonly platform: Platform;
  readonly privateKey: string;

  private constructor(platform: Platform, privateKey: string) {
    this.platform = platform;
    this.privateKey = privateKey;
  }

  static async start(): Promise<FirstHour> {
    const keys = await newServiceAccountKey();
    const platform = await startPlatform({ wordMs: 1 });
    platform.registerKey('key-1', keys.publicKey, 'site-1');
    return new FirstHour(platform, keys.privateKey);
  }

  close(): Promise<void> {
    return this.platform.close();
  }

  /** The correct configuration with these changes. */
  config(changes: ServerConfig = {}, account: ServerConfig['serviceAccount'] = {}): ServerConfig {
    const { a2aUrl, serviceApiUrl } = this.platform;
    return {
      a2aUrl,
      serviceApiUrl,
      // Otherwise a warning says that none is chosen.
      conversations: 'open',
      serviceAccount: {
        serviceAccountId: 'site-1',
        keyId: 'key-1',
        privateKeyPem: this.privateKey,
        audience: serviceApiUrl,
        ...account,
      },
      ...changes,
    };
  }
}

/** Starts the site and sends its page's request. */
export async function firstVisit({ config, ports = {}, route = {}, mount = atItsPlace, ask = {} }: Setup) {
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit(config, { telemetry, random: () => 0, ...ports });
  const app = express();
  mount(app, createA2ARouter(express, { toolkit, ...route }));
  const site = await listeningSite(app);
  onTestFinished(async () => {
    await site.close();
    await toolkit.close({ graceMs: 0 });
  });
  const headers = { 'a2a-version': '1.0', ...ask.headers };
  const reply = await visit(site.url, { ...ask, headers });
  const text = await reply.text();
  return {
    told: told(reply.status, text, JSON.stringify(reply.headers)),
    events: telemetry.events,
  } satisfies FirstVisit;
}

/** The failed findings of the doctor, as printed. */
export async function doctorsComplaints({ config, ports = {} }: Setup): Promise<string[]> {
  const findings = await examine(config, ports, { surface: '', message: 'one two' });
  return findings.filter(({ result }) => result === 'failed' || result === 'warning').map(asPrinted);
}

/**
 * The events that an operator has to notice, one log line each.
 * All assertions about events use this function.
 */
export function operatorLines(events: readonly TelemetryEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'error') return [`${event.code} ${(event.fields ?? []).join(',')}: ${event.detail}`];
    if (event.type === 'warning') return [`${event.code}: ${event.detail}`];
    return event.type === 'cache_fault' ? [`cache_fault: ${event.detail}`] : [];
  });
}

/** The terminal's lines for the events, on a site without telemetry. */
export function terminalLines(events: readonly TelemetryEvent[]): string[] {
  const lines: string[] = [];
  const log = new FaultLog({ now: () => 0, write: (line) => lines.push(line) });
  const terminal = new TerminalTelemetry(log, { name: 'site', secrets: [] });
  for (const event of events) terminal.emit(event);
  return lines;
}

/** A server with one fixed response, such as a web page or a gateway error. */
export async function saying(status: number, type: string, body: string, headers: Record<string, string> = {}) {
  const upstream = await RecordingUpstream.start();
  onTestFinished(() => upstream.close());
  upstream.willAnswer((exchange) => exchange.head(status, { 'content-type': type, ...headers }).end(body));
  return upstream.origin;
}

/** A server with an untrusted certificate. */
export async function selfSigned(): Promise<string> {
  const { serverCertificate: cert, serverKey: key } = privateAuthority();
  const server = createSecureServer({ cert, key }, (_request, response) => response.end('{}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => closeAll(server));
  return `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

function atItsPlace(app: express.Express, router: Router): void {
  app.use('/api/a2a', router);
}

function told(status: number, text: string, headers: string): Told {
  const bytes = headers + text;
  const { error, code, detail = '', hint = '' } = fieldsOf(text);
  if (error === undefined) return { status, code: code ?? '', message: `${detail} ${hint}`.trim(), bytes };
  const [info] = error.data ?? error.details ?? [];
  return { status, code: info?.metadata['code'] ?? '', message: error.message, bytes };
}

interface Info {
  readonly metadata: Readonly<Record<string, string>>;
}

interface ErrorFields {
  /** The error in a response: `data` in JSON-RPC, `details` in HTTP+JSON. */
  readonly error?: { readonly message: string; readonly data?: readonly Info[]; readonly details?: readonly Info[] };
  readonly code?: string;
  readonly detail?: string;
  readonly hint?: string;
}

function fieldsOf(text: string): ErrorFields {
  try {
    return JSON.parse(text) as ErrorFields;
  } catch {
    return {};
  }
}

function asPrinted({ check, message, block = '', fields = [] }: Finding): string {
  return `${check}: ${message} | fix: ${block}: ${fields.join(', ')}`;
}
