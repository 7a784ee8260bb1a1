// The servers that this package is compared with, each as its listener. They forward a chat message with a constant credential,
// or return a constant, which is the cost of the framework alone. Each server imports its own packages, since starts are measured too.
import { Agent, request as send } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AUTHORIZATION, options, serve, upstreamOrigin, upstreamPath } from '../rival-process.mjs';
import { SCENARIOS } from '../scenarios.mjs';

const { upstream } = options;
const { answer, type } = SCENARIOS[options.scenario ?? 'chat'];
const text = answer?.toString();
const credential = { authorization: AUTHORIZATION };
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host'];
const UNDICI = { connections: 10_000, pipelining: 1, bodyTimeout: 0 };

const SERVERS = {
  'node-constant': () => (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': type, 'content-length': answer.length });
      response.end(answer);
    });
  },
  'express-constant': () =>
    expressApp((app) =>
      app.post('/{*path}', (_request, response) => {
        response.setHeader('content-type', type);
        response.setHeader('cache-control', 'no-store');
        response.end(text);
      }),
    ),
  'fastify-constant': () => fastifyApp((app) => app.post('/api/a2a', (_request, reply) => reply.type(type).send(text))),
  'koa-constant': () => koaApp((context) => Object.assign(context, { type, body: text })),

  'node-dispatch': async () => {
    const dispatch = await undiciDispatch();
    return (request, response) => whenRead(request, (body) => dispatch(request, response, body));
  },
  'express-dispatch': async () => {
    const dispatch = await undiciDispatch();
    return expressApp((app) =>
      app.post('/api/a2a', (request, response) => dispatch(request, response, JSON.stringify(request.body))),
    );
  },
  'node-client': () => {
    const agent = new Agent({ keepAlive: true });
    return (request, response) => {
      const headers = { ...request.headers, ...credential };
      for (const name of HOP_BY_HOP) delete headers[name];
      const outgoing = send(upstream, { method: request.method, agent, headers }, (incoming) => {
        for (const name of HOP_BY_HOP) delete incoming.headers[name];
        response.writeHead(incoming.statusCode, incoming.headers);
        incoming.pipe(response);
        incoming.on('error', () => response.destroy());
      });
      outgoing.on('error', () => response.destroy());
      response.on('close', () => outgoing.destroy());
      request.pipe(outgoing);
    };
  },
  'node-fetch': () => (request, response) => whenRead(request, (body) => forwardByFetch(request, response, body)),
  'express-fetch': () =>
    expressApp((app) =>
      app.post('/api/a2a', (request, response) => forwardByFetch(request, response, JSON.stringify(request.body))),
    ),

  'http-proxy-middleware': async () => {
    const { createProxyMiddleware, fixRequestBody } = await import('http-proxy-middleware');
    const proxy = createProxyMiddleware({
      target: upstreamOrigin,
      pathRewrite: () => upstreamPath,
      headers: credential,
      ...(options.parser && { on: { proxyReq: fixRequestBody } }),
    });
    return expressApp((app) => app.use('/api/a2a', proxy));
  },
  httpxy: async () => {
    const { createProxyServer } = await import('httpxy');
    const proxy = createProxyServer({ target: upstream, ignorePath: true, headers: credential });
    return (request, response) => void proxy.web(request, response).catch(() => response.destroy());
  },
  'fastify-reply-from': async () => {
    const { default: replyFrom } = await import('@fastify/reply-from');
    return fastifyApp(async (app) => {
      // Bodies stream through, as the plugin recommends where they are not read.
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      await app.register(replyFrom, { base: upstreamOrigin, undici: UNDICI });
      app.post('/api/a2a', (_request, reply) => reply.from(upstreamPath, { rewriteRequestHeaders }));
    });
  },
  'fastify-http-proxy': async () => {
    const { default: httpProxy } = await import('@fastify/http-proxy');
    const settings = { upstream: upstreamOrigin, prefix: '/api/a2a', rewritePrefix: upstreamPath, undici: UNDICI };
    return fastifyApp((app) => app.register(httpProxy, { ...settings, replyOptions: { rewriteRequestHeaders } }));
  },
  'express-http-proxy': async () => {
    const { default: proxy } = await import('express-http-proxy');
    const agent = new Agent({ keepAlive: true });
    const settings = {
      parseReqBody: false,
      proxyReqPathResolver: () => upstreamPath,
      proxyReqOptDecorator: (request) => {
        Object.assign(request.headers, credential);
        return Object.assign(request, { agent });
      },
    };
    return expressApp((app) => app.use('/api/a2a', proxy(upstreamOrigin, settings)));
  },
  'koa-proxies': async () => {
    const { default: proxy } = await import('koa-proxies');
    const agent = new Agent({ keepAlive: true });
    return koaApp(
      proxy('/api/a2a', { target: upstreamOrigin, rewrite: () => upstreamPath, agent, headers: credential }),
    );
  },
  'hono-proxy': async () => {
    const { getRequestListener } = await import('@hono/node-server');
    const { Hono } = await import('hono');
    const { proxy } = await import('hono/proxy');
    const app = new Hono();
    app.post('/api/a2a', (context) => {
      const { body, signal } = context.req.raw;
      const headers = { ...context.req.header(), ...credential };
      return proxy(upstream, { method: 'POST', body, signal, duplex: 'half', headers });
    });
    return getRequestListener(app.fetch);
  },
  'h3-proxy-request': async () => {
    const { H3, proxyRequest } = await import('h3');
    const { toNodeHandler } = await import('h3/node');
    const app = new H3();
    app.post('/api/a2a', (event) => proxyRequest(event, upstream, { headers: credential }));
    return toNodeHandler(app);
  },
};

serve(await SERVERS[options.server]());

async function expressApp(mount) {
  const { default: express } = await import('express');
  const app = express();
  if (options.parser) app.use(express.json({ limit: '2mb' }));
  mount(app);
  return app;
}

async function koaApp(middleware) {
  const { default: Koa } = await import('koa');
  const app = new Koa();
  app.silent = true; // A proxy rejects whenever a browser leaves.
  app.use(middleware);
  return app.callback();
}

async function fastifyApp(mount) {
  const { default: fastify } = await import('fastify');
  const app = fastify({ bodyLimit: 4 * 1024 * 1024 });
  await mount(app);
  await app.ready();
  return app.routing;
}

function rewriteRequestHeaders(_original, headers) {
  return { ...headers, ...credential };
}

function whenRead(request, use) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => use(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
}

/** The built-in fetch, as most sites write it. */
async function forwardByFetch(request, response, body) {
  try {
    const stop = new AbortController();
    response.on('close', () => stop.abort());
    const headers = { 'content-type': 'application/json', accept: request.headers.accept, ...credential };
    const incoming = await fetch(upstream, { method: 'POST', headers, body, signal: stop.signal });
    response.writeHead(incoming.status, { 'content-type': incoming.headers.get('content-type') });
    await pipeline(Readable.fromWeb(incoming.body), response);
  } catch {
    response.destroy();
  }
}

/** The smallest forwarder: undici's callbacks, written straight to Node's response. */
async function undiciDispatch() {
  const { Pool } = await import('undici');
  const pool = new Pool(upstreamOrigin, { pipelining: 1 });
  return (request, response, body) => {
    const { accept, 'accept-language': language } = request.headers;
    const headers = { 'content-type': 'application/json', accept, 'accept-language': language, ...credential };
    pool.dispatch({ path: upstreamPath, method: 'POST', headers, body, bodyTimeout: 0 }, handlerOf(response));
  };
}

function handlerOf(response) {
  let controller;
  response.on('close', () => {
    if (!response.writableFinished) controller?.abort(new Error('the browser left'));
  });
  return {
    onRequestStart: (started) => (controller = started),
    onResponseStart: (_controller, status, headers) => {
      response.statusCode = status;
      for (const name of ['content-type', 'content-length']) {
        if (headers[name] !== undefined) response.setHeader(name, headers[name]);
      }
    },
    onResponseData: (started, chunk) => {
      if (response.write(chunk)) return;
      started.pause();
      response.once('drain', () => started.resume());
    },
    onResponseEnd: () => response.end(),
    onResponseError: () => response.destroy(),
  };
}
