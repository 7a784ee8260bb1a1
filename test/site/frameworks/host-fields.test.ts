import fastifyCookie from '@fastify/cookie';
import fastifyCors from '@fastify/cors';
import fastifyRateLimit from '@fastify/rate-limit';
import fastifySession from '@fastify/session';
import koaCors from '@koa/cors';
import cors from 'cors';
import express from 'express';
import express4 from 'express4';
import { appendResponseHeader, handleCors } from 'h3';
import { cors as honoCors } from 'hono/cors';
import { describe, expect, it } from 'vitest';
import { visit } from '../../support/visitor.js';
import type { Framework, HostMiddleware } from '../framework.js';
import { openStream, startWorld } from '../world.js';
import { expressSite } from './express.js';
import { fastifySite } from './fastify.js';
import { h3Site } from './h3.js';
import { honoSite } from './hono.js';
import { koaSite } from './koa.js';
import { nestSite } from './nest.js';
import { nodeHttpSite } from './node-http.js';

const ORIGIN = 'https://shop.example';
const settings = { origin: [ORIGIN], credentials: true };
const nodeCors: HostMiddleware = (request, response, next) => {
  response.setHeader('set-cookie', 'sid=1');
  cors(settings)(request, response, next);
};
/** For an error, h3 keeps the fields of CORS, and drops the others; its `Vary` replaces that of the route. */
const isH3 = (site: Framework) => site.name.startsWith('h3');
const corsOf = (site: Framework, before?: HostMiddleware) => [site.name, site, before] as const;

/** Each framework with its own CORS plugin, and a session that sets a cookie. */
const SITES = [
  corsOf(nodeHttpSite('node:http with cors'), nodeCors),
  corsOf(expressSite('Express 4 with cors', express4 as unknown as typeof express, { use: nodeCors })),
  corsOf(expressSite('Express 5 with cors', express, { use: nodeCors })),
  corsOf(nestSite('Nest with enableCors', { cors: settings }), (_request, response, next) => {
    response.setHeader('set-cookie', 'sid=1');
    next();
  }),
  corsOf(
    koaSite('Koa with @koa/cors', {
      use: (context, next) => {
        context.cookies.set('sid', '1');
        return koaCors({ origin: ORIGIN, credentials: true })(context, next);
      },
    }),
  ),
  corsOf(
    fastifySite('Fastify with @fastify/cors and @fastify/session', async (app) => {
      await app.register(fastifyCors, settings);
      await app.register(fastifyRateLimit, { max: 10 });
      await app.register(fastifyCookie);
      await app.register(fastifySession, { secret: 'x'.repeat(32), cookieName: 'sid', cookie: { secure: false } });
    }),
  ),
  corsOf(
    honoSite('Hono with hono/cors', honoCors(settings), async (context, next) => {
      context.header('set-cookie', 'sid=1', { append: true });
      await next();
    }),
  ),
  corsOf(
    h3Site('h3 with handleCors', (event, next) => {
      appendResponseHeader(event, 'set-cookie', 'sid=1');
      const preflight = handleCors(event, settings);
      return preflight === false ? next() : preflight;
    }),
  ),
] as const;

describe.each(SITES)('%s', (_name, framework, before) => {
  const start = (allowedOrigins: readonly string[] = [ORIGIN]) =>
    startWorld(framework, { allowedOrigins, ...(before !== undefined && { before }) });
  const expectKept = (headers: Awaited<ReturnType<typeof visit>>['headers'], isError = false) => {
    expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    expect(headers['access-control-allow-credentials']).toBe('true');
    if (!isH3(framework) || !isError) expect(String(headers['set-cookie'])).toMatch(/\bsid=/);
    if (framework.name.startsWith('Fastify')) expect(headers['x-ratelimit-limit']).toBe('10');
  };

  it('keeps the fields of the host on an answer', async () => {
    const world = await start();
    const reply = await world.chat({ headers: { origin: ORIGIN } });
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({ result: { id: 'task-1' } });
    expectKept(reply.headers);
  });

  it('keeps the fields of the host on a stream', async () => {
    const world = await start();
    const { exchange, reply } = await openStream(world, {}, { origin: ORIGIN });
    exchange.write('data: {}\n\n');
    await reply.until('data: {}');
    exchange.end();
    expect((await reply.ending()).clean).toBe(true);
    expectKept(reply.headers);
  });

  it('keeps the fields of the host on an error, so that the page can read it', async () => {
    const world = await start([]);
    const reply = await world.chat({ headers: { origin: ORIGIN } });
    expect(reply.status).toBe(403);
    expectKept(reply.headers, true);
  });

  it('keeps "Vary: Origin" beside the names of its own on the configuration', async () => {
    const { url } = await start();
    const headers = { origin: ORIGIN };
    const reply = await visit(url, { method: 'GET', path: '/api/a2a/config', headers });
    expectKept(reply.headers);
    const names = isH3(framework) ? ['origin'] : ['origin', 'a2a-version', 'cookie'];
    expect(reply.headers.vary?.toLowerCase().split(/, */)).toEqual(expect.arrayContaining(names));
  });
});

it('Fastify: responds as a hook of the site did, without serving the route', async () => {
  const site = fastifySite('Fastify', (app) => {
    app.addHook('preHandler', (request, reply, next) => {
      const { deny } = request.headers;
      if (deny === 'empty') reply.code(401).send();
      else if (deny === 'body') reply.code(401).send({ error: 'no' });
      else next();
    });
    app.addHook('onSend', (request, reply, _payload, next) => {
      if (request.headers['deny'] === 'late' && reply.statusCode === 200) next(new Error('the store is away'));
      else next();
    });
  });
  const world = await startWorld(site);
  const statuses = ['empty', 'body', 'late'].map(async (deny) => (await world.chat({ headers: { deny } })).status);
  expect(await Promise.all(statuses)).toEqual([401, 401, 500]);
  expect(world.upstream.requests).toEqual([]);
});
