// Everything that is measured: what it is called, where its server is, and which packages it stands on.
import { startNginx } from './native-process.mjs';
import { startProcess } from './process.mjs';

const node = (label, file, packages = [], options = {}) => ({ label, file, packages, options });

/** The servers, by the name that workloads and targets use. Names that begin with `ours` are this package. */
export const RIVALS = {
  'ours-express': node('agent-bff/express after express.json()', 'ours/express.mjs', ['express'], { parser: 'json' }),
  'ours-express-raw': node('agent-bff/express, parser keeps rawBody', 'ours/express.mjs', ['express'], {
    parser: 'raw',
  }),
  'ours-express-unparsed': node('agent-bff/express without a parser', 'ours/express.mjs', ['express']),
  'ours-node': node('agent-bff/node', 'ours/node.mjs'),
  'ours-http2': node('agent-bff/node behind node:http2', 'ours/http2.mjs'),
  'ours-fastify': node('agent-bff/node in Fastify', 'ours/fastify.mjs', ['fastify']),
  'ours-koa': node('agent-bff/koa', 'ours/koa.mjs', ['koa', '@koa/router']),
  'ours-web': node('agent-bff/web in Hono', 'ours/web.mjs', ['hono', '@hono/node-server']),
  'ours-render': node('cached render, in memory', 'ours/surfaces.mjs', ['express']),
  'ours-render-redis': node('cached render, in Redis', 'ours/surfaces.mjs', ['express', 'keyv', '@keyv/redis']),
  'ours-tokens': node('a token per user', 'ours/tokens.mjs', ['express']),
  'ours-cluster': node('agent-bff/express, two processes', 'ours/cluster.mjs', ['express'], { processes: 2 }),
  'ours-next': node('agent-bff/next in Next', 'next/serve.mjs', ['next']),

  nginx: { label: 'nginx proxy_pass', start: startNginx, packages: [], options: {} },
  'node-constant': node('node:http, constant answer', 'rivals/node-constant.mjs'),
  'express-constant': node('Express + parser, constant answer', 'rivals/express-constant.mjs', ['express']),
  'fastify-constant': node('Fastify, constant answer', 'rivals/fastify-constant.mjs', ['fastify']),
  'koa-constant': node('Koa, constant answer', 'rivals/koa-constant.mjs', ['koa']),
  'next-constant': node('Next route, constant answer', 'next/serve.mjs', ['next']),

  'node-dispatch': node('node:http + undici dispatch', 'rivals/node-dispatch.mjs', ['undici']),
  'express-dispatch': node('Express + parser + undici dispatch', 'rivals/express-dispatch.mjs', ['express', 'undici']),
  'node-client': node('node:http + node:http client', 'rivals/node-client.mjs'),
  'node-fetch': node('node:http + built-in fetch', 'rivals/node-fetch.mjs'),
  'express-fetch': node('Express + parser + built-in fetch', 'rivals/express-fetch.mjs', ['express']),
  'http-proxy-middleware': node('http-proxy-middleware in Express', 'rivals/http-proxy-middleware.mjs', [
    'http-proxy-middleware',
  ]),
  'http-proxy-middleware-parser': node(
    'http-proxy-middleware after a parser',
    'rivals/http-proxy-middleware.mjs',
    ['http-proxy-middleware'],
    { parser: true },
  ),
  httpxy: node('httpxy', 'rivals/httpxy.mjs', ['httpxy']),
  'fastify-reply-from': node('@fastify/reply-from', 'rivals/fastify-reply-from.mjs', ['@fastify/reply-from']),
  'fastify-http-proxy': node('@fastify/http-proxy', 'rivals/fastify-http-proxy.mjs', ['@fastify/http-proxy']),
  'express-http-proxy': node('express-http-proxy', 'rivals/express-http-proxy.mjs', ['express-http-proxy']),
  'koa-proxies': node('koa-proxies', 'rivals/koa-proxies.mjs', ['koa-proxies']),
  'hono-proxy': node('Hono proxy()', 'rivals/hono-proxy.mjs', ['hono', '@hono/node-server']),
  'h3-proxy-request': node('h3 proxyRequest', 'rivals/h3-proxy-request.mjs', ['h3']),
  'next-fetch': node('Next route with fetch', 'next/serve.mjs', ['next']),
  'next-passthrough': node('langgraph-nextjs-api-passthrough', 'next/serve.mjs', ['langgraph-nextjs-api-passthrough']),
};

/** Starts one of them in a process of its own, in front of this upstream address. */
export function startRival(name, options, { gc = false } = {}) {
  const rival = RIVALS[name];
  const all = { ...rival.options, ...options };
  return rival.start?.(all) ?? startProcess(rival.file, all, { gc });
}
