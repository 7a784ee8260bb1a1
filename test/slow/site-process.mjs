// A site in its own process, so that only the site is measured. Started by `startSite` below; communicates by IPC.
import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pipeline } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listening } from '../support/listening.mjs';

const FILE = fileURLToPath(import.meta.url);
const SAMPLE_MS = 50;

/** A message whose answer may be a stream. */
export const MESSAGE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: {} });

/**
 * Starts a site with the built package and `config`: in Express behind a parser with this limit, in Koa, or behind `node:http` (where
 * `cache` is the option of the widgets) or `node:http2`. The server `proxy` forwards without the package, for comparison.
 *
 * `measure` collects garbage first; `peakRss` is the maximum since the last call; `work` is the CPU time and the longest stall of the event
 * loop since the last call.
 */
export async function startSite(
  a2aUrl,
  config = {},
  { server = 'express', parserLimit = '2mb', flags = [], cache } = {},
) {
  if (!existsSync(new URL('../../dist/composition/express.js', import.meta.url))) {
    throw new Error('dist is missing: run "npm run build" first');
  }
  const task = JSON.stringify({ config: { a2aUrl, ...config }, server, parserLimit, cache });
  // Express prints the errors of its parser, except in this environment.
  const env = { ...process.env, NODE_ENV: 'test' };
  const child = fork(FILE, [task], { execArgv: ['--expose-gc', ...flags], env });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the site ended: ${signal ?? code}`);
  });
  ended.catch(() => undefined);
  const [{ url }] = await Promise.race([once(child, 'message'), ended]);
  const ask = async (question) => {
    child.send(question);
    return (await Promise.race([once(child, 'message'), ended]))[0];
  };
  const measure = () => ask('measure');
  return {
    url,
    measure,
    /** Its figures once it has at most as many descriptors open, or after a time limit. */
    settled: async (descriptors, limitMs) => {
      const startedAt = performance.now();
      for (;;) {
        await pause(1_000);
        const figures = await measure();
        if (!(figures.descriptors > descriptors) || performance.now() - startedAt > limitMs) return figures;
      }
    },
    peakRss: async () => (await ask('peak')).rss,
    work: () => ask('work'),
    close: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

const SERVERS = {
  express: expressServer,
  koa: koaServer,
  parser: parserServer,
  http: httpServer,
  http2: http2Server,
  proxy: proxyServer,
};

async function serve({ config, server: kind, parserLimit, cache }) {
  const { createToolkit } = await import('agent-bff');
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const toolkit = createToolkit({
    serviceApiUrl: 'https://platform.example/api',
    ...config,
    serviceAccount: { serviceAccountId: 'site', keyId: 'key', privateKeyPem: privateKey },
  });
  const server = await SERVERS[kind](toolkit, parserLimit, cache, config.a2aUrl);
  const url = await listening(server, 1024);

  let peak = 0;
  setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, SAMPLE_MS).unref();

  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let worked = process.cpuUsage();
  process.on('message', (question) => {
    if (question === 'work') {
      const { user, system } = process.cpuUsage(worked);
      process.send({ cpuMs: (user + system) / 1_000, stallMs: delay.max / 1_000_000 });
      delay.reset();
      worked = process.cpuUsage();
      return;
    }
    if (question === 'peak') {
      const rss = Math.max(peak, process.memoryUsage.rss());
      peak = 0;
      process.send({ rss });
      return;
    }
    globalThis.gc();
    globalThis.gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send({ rss, heapUsed, external, descriptors: openDescriptors() });
  });
  process.on('disconnect', () => process.exit(0));
  process.send({ url });
}

async function expressServer(toolkit, parserLimit) {
  const { createA2ARouter, createServiceProxyRouter } = await import('agent-bff/express');
  const { default: express } = await import('express');
  const app = express();
  // Before the parser: bodies stream through it.
  app.use('/api/service', createServiceProxyRouter(express, { auth: () => 'user-token', toolkit }));
  app.use(express.json({ limit: parserLimit }));
  app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account', toolkit }));
  return createServer(app);
}

async function koaServer(toolkit) {
  const { createA2ARouter } = await import('agent-bff/koa');
  const frameworks = createRequire(new URL('../site/frameworks/package.json', import.meta.url));
  const Koa = frameworks('koa');
  const { Router } = frameworks('@koa/router');
  const app = new Koa();
  app.use(createA2ARouter(Router, { strategy: 'service_account', toolkit }).prefix('/api/a2a').routes());
  return createServer(app.callback());
}

/** The parser alone, without this package behind it. */
async function parserServer(toolkit, parserLimit) {
  const { default: express } = await import('express');
  const app = express();
  app.use(express.json({ limit: parserLimit }));
  app.use((_, response) => response.json({}));
  return createServer(app);
}

async function httpServer(toolkit, _parserLimit, cache) {
  const { createNodeHandler } = await import('agent-bff/node');
  const options = { a2a: { strategy: 'service_account' }, surfaces: { strategy: 'service_account', cache } };
  return createServer(createNodeHandler({ ...options, service: { auth: () => 'user-token' }, toolkit }));
}

/** The fewest lines that forward a chat, without this package: what the server itself costs. */
function proxyServer(_toolkit, _parserLimit, _cache, a2aUrl) {
  const agent = new Agent({ keepAlive: true });
  return createServer((incoming, response) => {
    if (incoming.method === 'GET') return response.setHeader('content-type', 'application/json').end('{}');
    const { 'content-type': type, 'content-length': length } = incoming.headers;
    const headers = { 'content-type': type, ...(length && { 'content-length': length }) };
    const outgoing = request(a2aUrl, { method: 'POST', agent, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      pipeline(answer, response, () => undefined);
    });
    pipeline(incoming, outgoing, (error) => error && response.destroy());
  });
}

async function http2Server(toolkit) {
  const { createNodeHandler } = await import('agent-bff/node');
  const { createServer: createHttp2Server } = await import('node:http2');
  return createHttp2Server(createNodeHandler({ a2a: { strategy: 'service_account' }, toolkit }));
}

/** Open files and sockets of this process; undefined where there is no /proc. */
export function openDescriptors() {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

if (process.argv[1] === FILE) await serve(JSON.parse(process.argv[2]));
