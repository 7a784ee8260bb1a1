// The servers that are measured: label, file and options of each.
import { startNginx } from './native-process.mjs';
import { startProcess } from './process.mjs';

const ours = (label, file, options = {}) => ({ label, file: `ours/${file}.mjs`, options });
const rival = (label, options = {}) => ({ label, file: 'rivals/servers.mjs', options });
const next = (label) => ({ label, file: 'next/serve.mjs', options: {} });

/** By the name used in workloads and targets. Names that begin with `ours` are this package. */
export const RIVALS = {
  'ours-express': ours('agent-bff/express after express.json()', 'express', { parser: 'json' }),
  'ours-express-raw': ours('agent-bff/express, parser keeps rawBody', 'express', { parser: 'raw' }),
  'ours-express-unparsed': ours('agent-bff/express without a parser', 'express'),
  'ours-node': ours('agent-bff/node', 'node'),
  'ours-visitor': ours('agent-bff/node, conversations of visitors', 'node', { conversations: 'visitor' }),
  'ours-http2': ours('agent-bff/node behind node:http2', 'node', { http2: true }),
  'ours-fastify': ours('agent-bff/node in Fastify', 'fastify'),
  'ours-koa': ours('agent-bff/koa', 'koa'),
  'ours-web': ours('agent-bff/web in Hono', 'web'),
  'ours-render': ours('cached render, in memory', 'surfaces'),
  'ours-render-redis': ours('cached render, in Redis', 'surfaces'),
  'ours-tokens': ours('a token per user', 'tokens'),
  'ours-next': next('agent-bff/next in Next'),

  nginx: { label: 'nginx proxy_pass', start: startNginx, options: {} },
  'node-constant': rival('node:http, constant answer'),
  'express-constant': rival('Express + parser, constant answer', { parser: true }),
  'fastify-constant': rival('Fastify, constant answer'),
  'koa-constant': rival('Koa, constant answer'),
  'next-constant': next('Next route, constant answer'),

  'node-dispatch': rival('node:http + undici dispatch'),
  'express-dispatch': rival('Express + parser + undici dispatch', { parser: true }),
  'node-client': rival('node:http + node:http client'),
  'node-fetch': rival('node:http + built-in fetch'),
  'express-fetch': rival('Express + parser + built-in fetch', { parser: true }),
  'http-proxy-middleware': rival('http-proxy-middleware in Express'),
  'http-proxy-middleware-parser': rival('http-proxy-middleware after a parser', {
    server: 'http-proxy-middleware',
    parser: true,
  }),
  httpxy: rival('httpxy'),
  'fastify-reply-from': rival('@fastify/reply-from'),
  'fastify-http-proxy': rival('@fastify/http-proxy'),
  'express-http-proxy': rival('express-http-proxy'),
  'koa-proxies': rival('koa-proxies'),
  'hono-proxy': rival('Hono proxy()'),
  'h3-proxy-request': rival('h3 proxyRequest'),
  'next-fetch': next('Next route with fetch'),
  'next-passthrough': next('langgraph-nextjs-api-passthrough'),
};

/** Starts one of them in its own process, in front of this upstream address. */
export function startRival(name, options, { gc = false } = {}) {
  const rival = RIVALS[name];
  const all = { server: name, ...rival.options, ...options };
  return rival.start?.(all) ?? startProcess(rival.file, all, { gc });
}
