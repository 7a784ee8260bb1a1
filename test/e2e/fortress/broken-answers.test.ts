import express from 'express';
import { describe, expect, it } from 'vitest';
import { expressSite } from '../../site/frameworks/express.js';
import { session, startWorld, type World, type WorldOptions } from '../../site/world.js';
import type { Answer, Exchange } from '../../support/recording-upstream.js';
import type { VisitOptions } from '../../support/visitor.js';

// Every way from the site to the platform, on one host. The site suite has what depends on the host.

/** One route through the site to the platform. */
interface Road {
  readonly name: string;
  readonly visit: VisitOptions;
}

const user = session('ada');
const json = { 'content-type': 'application/json', ...user };
const WIDGET = '/api/service-surfaces/s-1';
const CHAT: Road = { name: 'a chat message', visit: {} };
const RENDER: Road = { name: 'a render', visit: { path: `${WIDGET}/render`, headers: json, body: '{}' } };
const ACTION: Road = { name: 'an action', visit: { path: `${WIDGET}/actions/buy`, headers: json, body: '{}' } };
const RECORD: Road = {
  name: 'a record',
  visit: { method: 'GET', path: '/api/service/conversations/1', headers: user },
};
const ROADS = [CHAT, RENDER, ACTION, RECORD];

const healthy: Answer = (exchange) => exchange.json(200, { jsonrpc: '2.0', id: 7, result: {} });

async function startSite(options: WorldOptions = {}): Promise<World> {
  const world = await startWorld(expressSite('Express', express), options);
  world.upstream.willAnswer(healthy);
  return world;
}

/** Checks that the fault has no lasting effect. */
async function expectHealthy(world: World, road: Road): Promise<void> {
  world.upstream.willAnswer(healthy);
  const reply = await world.chat(road.visit);
  expect(reply.status).toBe(200);
  await reply.text();
}

/** A response of the platform that has begun, and the visitor who is reading it. */
async function begun(world: World, road: Road, headers: Record<string, string> = {}) {
  world.upstream.willWait();
  const pending = world.chat(road.visit);
  const exchange = await world.upstream.next();
  exchange.head(200, { 'content-type': 'application/json', ...headers }).write('{"half":');
  const reply = await pending;
  await reply.until('half');
  return { exchange, reply };
}

const BREAKS: readonly (readonly [string, (exchange: Exchange) => unknown, headers: Record<string, string>])[] = [
  ['resets the connection', (exchange) => exchange.reset(), {}],
  ['closes the connection', (exchange) => exchange.fin(), {}],
  ['sends a bad chunk', (exchange) => exchange.raw('zz\r\nnonsense'), {}],
  ['stalls', () => undefined, {}],
  ['sends less than its Content-Length', (exchange) => exchange.fin(), { 'content-length': '1000' }],
];

describe('a response of the platform', () => {
  describe.each(ROADS)('to $name from a platform that', (road) => {
    it.each(BREAKS)('%s breaks the connection to the visitor', async (_how, breakIt, headers) => {
      const world = await startSite({ timeouts: { bodyIdleMs: 300 } });
      const { exchange, reply } = await begun(world, road, headers);
      breakIt(exchange);
      const { clean, bytes } = await reply.ending();
      expect({ clean, text: bytes.toString() }).toEqual({ clean: false, text: '{"half":' });
      expect(world.telemetry.of('stream_broken')).toMatchObject([{ side: 'upstream' }]);
      expect(world.upstream.requests).toHaveLength(1);
      await expectHealthy(world, road);
    });
  });

  it.each([
    ['never ends', 20],
    ['stalls', 0],
  ])('with an error page that begins and then %s is replaced within five seconds', async (_how, everyMs) => {
    const world = await startSite();
    const exchanges: Exchange[] = [];
    world.upstream.willAnswer((exchange) => {
      exchanges.push(exchange.head(502, { 'content-type': 'text/html' }).write('<h1>db-main is down '));
      const drip = everyMs === 0 ? undefined : setInterval(() => exchange.write(' '), everyMs);
      void exchange.closed.then(() => clearInterval(drip));
    });
    const began = performance.now();
    const replies = await Promise.all(ROADS.map((road) => world.chat(road.visit)));
    expect(performance.now() - began).toBeLessThan(5_000);
    for (const reply of replies) {
      expect([reply.status, await reply.text()]).toEqual([502, expect.not.stringContaining('db-main')]);
    }
    for (const { detail } of world.telemetry.of('error')) expect(detail).toContain('text/html: <h1>db-main is down ');
    expect(world.telemetry.of('error')).toHaveLength(4);
    // The requests to the platform are aborted.
    await Promise.all(exchanges.map(({ closed }) => closed));
    await expectHealthy(world, CHAT);
  });

  it('with a slow record arrives completely, even after bodyMs', async () => {
    const world = await startSite({ timeouts: { bodyMs: 100 } });
    const { exchange, reply } = await begun(world, RECORD);
    let dripped = 0;
    const drip = setInterval(() => {
      exchange.write(' ');
      if ((dripped += 1) < 20) return;
      clearInterval(drip);
      exchange.end('1}');
    }, 20);
    expect(await reply.text()).toBe(`{"half":${' '.repeat(20)}1}`);
  });
});
