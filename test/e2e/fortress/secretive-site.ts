import { randomBytes, randomUUID } from 'node:crypto';
import * as api from '@opentelemetry/api';
import { type InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import {
  createToolkit,
  loggerTelemetry,
  openTelemetry,
  type ServerConfig,
  type Toolkit,
  type ToolkitPorts,
} from 'agent-bff';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import express from 'express';
import { Keyv } from 'keyv';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import { type Answer, RecordingUpstream } from '../../support/recording-upstream.js';
import { visit, type VisitOptions } from '../../support/visitor.js';
import type { SecretScan } from './secret-scan.js';

/** A site with the most verbose output, and its controls. */
export interface SecretiveSite {
  readonly toolkit: Toolkit;
  readonly upstream: RecordingUpstream;
  /** Visits every route once, with this response of the platform. */
  visitAll(answer: Answer): Promise<void>;
  /** Passes logs, traces and stored entries to the scan, and declares the issued tokens. */
  reveal(): void;
}

/** Options of a site. */
export interface SecretiveSiteOptions {
  readonly config: ServerConfig;
  readonly ports: ToolkitPorts;
  readonly scan: SecretScan;
  readonly spans: InMemorySpanExporter;
  /** The user's token. */
  readonly userToken: string;
}

const COOKIE = randomUUID();
const headers = { cookie: `session=${COOKIE}` };
const json = { ...headers, 'content-type': 'application/json' };
const WIDGET = '/api/service-surfaces/s-1';

/** Every kind of request, with a cookie, and one with the visitor's own credential. */
const VISITS: readonly VisitOptions[] = [
  { headers },
  { headers: { ...headers, authorization: `Bearer ${COOKIE}` } },
  { path: '/api/user-a2a', headers },
  { path: '/api/a2a/config', method: 'GET', headers },
  { path: '/api/a2a/.well-known/agent-card.json', method: 'GET', headers },
  { path: `${WIDGET}/render`, headers: json, body: '{}' },
  { path: `${WIDGET}/actions/buy`, headers: json, body: '{}' },
  { path: `${WIDGET}/theme.css`, method: 'GET', headers },
  { path: '/api/service/records/1', method: 'GET', headers },
  { path: '/api/service/records', headers: json, body: '{}' },
  { path: '/api/broken-a2a', headers },
  { path: '/api/broken-a2a/config', method: 'GET', headers },
  { headers: json, body: '{"not": json' },
  { headers: { ...json, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' } },
];

/** Starts a site with a debug logger, traces and a shared store. It is closed after the test. */
export async function startSecretiveSite(options: SecretiveSiteOptions): Promise<SecretiveSite> {
  const { config, ports, scan, spans, userToken } = options;
  const upstream = await RecordingUpstream.start();
  const log: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
  const stored = new Map<string, unknown>();
  const cacheStore = new Keyv({ store: stored });
  const secrets = { 'the API key': `api-key/${randomUUID()}`, 'a cache key': randomBytes(32).toString('hex') };
  for (const [name, secret] of Object.entries({ ...secrets, 'a cookie': COOKIE, "a user's token": userToken })) {
    scan.learn(name, secret);
  }
  const toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent`,
      serviceApiUrl: `${upstream.origin}/platform`,
      keepAliveMs: 0,
      timeouts: { headersMs: 100, bodyIdleMs: 100, streamIdleMs: 100, lookupMs: 200, identityProviderMs: 300 },
      serviceApiKey: secrets['the API key'],
      cacheKeys: [secrets['a cache key']],
      cacheStore,
      telemetry: [loggerTelemetry(logger), openTelemetry(api)],
      ...config,
    },
    ports,
  );
  const auth = ({ headers: { cookie = '' } }: express.Request): string | null =>
    cookie.includes(COOKIE) ? userToken : null;
  const app = express();
  app.use('/api/service', createServiceProxyRouter(express, { auth, toolkit }));
  app.use('/api/a2a', createA2ARouter(express, { toolkit }));
  app.use('/api/user-a2a', createA2ARouter(express, { getSessionToken: auth, toolkit }));
  // A careless library quotes its input.
  const broken = (): never => {
    throw new Error(`cannot refresh ${userToken} with ${secrets['the API key']}`);
  };
  app.use('/api/broken-a2a', createA2ARouter(express, { getSessionToken: broken, configGetHeaders: broken, toolkit }));
  app.use('/api/service-surfaces', createServiceSurfaceRouter(express, { auth, cache: { enabled: true }, toolkit }));
  const site = await listeningSite(app);
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close({ graceMs: 0 });
  });
  return {
    toolkit,
    upstream,
    visitAll: async (answer) => {
      upstream.willAnswer(answer);
      const inQuery = { headers, path: `/api/a2a?key=${encodeURIComponent(secrets['the API key'])}` };
      await Promise.all([...VISITS, inQuery].map((request) => look(site.url, request, scan)));
    },
    reveal: () => {
      learnTokens(scan, upstream);
      for (const line of log) scan.text('the log', line);
      for (const { name, attributes, events, status } of spans.getFinishedSpans()) {
        scan.text('a span', JSON.stringify([name, attributes, events, status]));
      }
      for (const [key, value] of stored) scan.text('the store', `${key} ${JSON.stringify(value)}`);
    },
  };
}

/** Declares every token sent to the platform. */
export function learnTokens(scan: SecretScan, upstream: RecordingUpstream): void {
  for (const { fields } of upstream.requests) {
    const value = fields.find(([name]) => name === 'authorization')?.[1] ?? '';
    if (value.startsWith('Bearer ')) scan.learn('an issued token', value.slice('Bearer '.length));
  }
}

/** The response a visitor sees. JSON with a status below 500 is passed on, so a secret in it is the platform's choice. */
async function look(url: string, options: VisitOptions, scan: SecretScan): Promise<void> {
  const reply = await visit(url, options);
  const where = `the answer ${String(reply.status)} of ${options.path ?? '/api/a2a'}`;
  scan.text(`the head of ${where}`, JSON.stringify(reply.headers));
  const { bytes } = await reply.ending();
  if (reply.status >= 400) {
    scan.text(where, bytes.toString());
  }
}
