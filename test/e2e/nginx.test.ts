import express from 'express';
import express4 from 'express4';
import { describe, expect, it } from 'vitest';
import { expressSite } from '../site/frameworks/express.js';
import { fastifySite } from '../site/frameworks/fastify.js';
import { koaSite } from '../site/frameworks/koa.js';
import { nodeHttpSite } from '../site/frameworks/node-http.js';
import { ADA, startPlatformWorld } from '../site/platform-world.js';
import { NGINX, nginxInFrontOf } from '../support/nginx.js';
import { startVisit } from '../support/visitor.js';

const SITES = [
  nodeHttpSite('node:http'),
  expressSite('Express 5', express),
  expressSite('Express 4', express4),
  koaSite('Koa 3'),
  fastifySite('Fastify 5'),
];

describe.skipIf(NGINX === undefined)('nginx with its default, HTTP/1.0 to the site', () => {
  it.each(SITES)('passes a response of $name that breaks as a broken one, and a whole one as whole', async (site) => {
    const world = await startPlatformWorld(site);
    const proxy = await nginxInFrontOf(world.url);
    const download = () =>
      startVisit(proxy, { method: 'GET', path: '/api/service/conversations', body: null, headers: ADA }).reply;
    world.upstream.willWait();
    const pending = download();
    const exchange = (await world.upstream.next()).head(200, { 'content-type': 'application/pdf' });
    exchange.write('x'.repeat(100_000));
    const reply = await pending;
    await reply.untilSeen((bytes) => bytes.length > 50_000);
    exchange.reset();
    expect(await reply.ending()).toMatchObject({ clean: false });
    world.upstream.willAnswer((next) => next.head(200, { 'content-type': 'application/pdf' }).end('whole'));
    expect(await (await download()).text()).toBe('whole');
  });
});
