import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFailure as readRpcFailure } from '../../site/world.js';
import { type Answer, freeOrigin, refusedOrigin } from '../../support/recording-upstream.js';
import {
  CHAT,
  expectFailure,
  expectHealthy,
  faultOnce,
  HOSTS,
  readFailure,
  RECORD,
  RENDER,
  type Road,
  ROADS,
  startSite,
  UPLOAD,
} from './roads.js';

/** What a platform may do instead of beginning an answer, and what every road makes of it. */
const BROKEN: readonly (readonly [string, Answer])[] = [
  ['resets the connection', (exchange) => exchange.reset()],
  ['closes the connection', (exchange) => exchange.fin()],
  ['resets in the middle of its head', (exchange) => exchange.raw('HTTP/1.1 200 OK\r\nContent-Ty').reset()],
];

const INVALID: readonly (readonly [string, string])[] = [
  ['speaks another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
  ['sends a head of 33 kB', `HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(33_000)}\r\nContent-Length: 0\r\n\r\n`],
  ['sends a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['sends two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['answers with status 600', 'HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n'],
  ['answers with status 000', 'HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'],
  ['switches protocols unasked', 'HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['answers with status 099', 'HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\n{}'],
  ['ends its lines with bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
];

/** Whether a second try does nothing twice, though nobody knows what became of the first. */
function mayBeRepeated(road: Road): boolean {
  return road.isSafe || road === RENDER;
}

describe.each(HOSTS)('through $name,', (host) => {
  describe.each(ROADS)('$name to a platform that', (road) => {
    it.each(BROKEN)('%s is a 502, sent once: the connection was new', async (_what, answer) => {
      const world = await startSite(host);
      world.upstream.willAnswer(answer);
      const failure = await expectFailure(world, road, { status: 502, code: 'upstream_unreachable', attempts: 1 });
      expect(failure.retryable).toBe(mayBeRepeated(road));
      expect(world.telemetry.of('retry')).toEqual([]);
    });

    it.each(BROKEN.slice(0, 2))(
      '%s that served before is told only to who asked for something unsafe',
      async (_what, answer) => {
        const world = await startSite(host);
        await expectHealthy(world, road);
        world.upstream.requests.length = 0;
        world.upstream.willAnswer(faultOnce(answer));
        const reply = await world.chat(road.visit);
        expect(reply.status).toBe(road.isSafe ? 200 : 502);
        await reply.text();
        expect(world.upstream.requests).toHaveLength(road.isSafe ? 2 : 1);
        expect(world.telemetry.of('retry')).toHaveLength(road.isSafe ? 1 : 0);
        await expectHealthy(world, road);
      },
    );

    it.each(INVALID)('%s is a 502, sent once', async (_what, bytes) => {
      const world = await startSite(host);
      world.upstream.willAnswer((exchange) => void exchange.raw(bytes));
      await expectFailure(world, road, { status: 502, code: 'upstream_invalid_response', attempts: 1 });
    });

    it('does not begin to answer is a 504, sent once, and given up', async () => {
      const world = await startSite(host, { timeouts: { headersMs: 150 } });
      world.upstream.willWait();
      const pending = expectFailure(world, road, { status: 504, code: 'upstream_timeout', attempts: 1 });
      await (
        await world.upstream.next()
      ).closed;
      expect((await pending).retryable).toBe(mayBeRepeated(road));
    });

    it('redirects is a 502, and nobody goes there', async () => {
      const world = await startSite(host);
      const location = `${world.upstream.origin}/elsewhere`;
      world.upstream.willAnswer((exchange) => exchange.head(307, { location }).end());
      await expectFailure(world, road, { status: 502, code: 'upstream_redirect', attempts: 1 });
    });

    it.each([500, 503])('fails with %i keeps its status and its Retry-After, and loses its text', async (status) => {
      const world = await startSite(host);
      const page = '<h1>at /agent on 127.0.0.1</h1>';
      world.upstream.willAnswer((exchange) =>
        exchange.head(status, { 'content-type': 'text/html', 'retry-after': '17' }).end(page),
      );
      const reply = await world.chat(road.visit);
      expect([reply.status, reply.headers['retry-after']]).toEqual([status, '17']);
      expect((await readFailure(world, reply)).code).toBe('upstream_error');
      expect(world.upstream.requests).toHaveLength(1);
      await expectHealthy(world, road);
    });

    it('is not there is a 502, after a second attempt where the body is still at hand', async () => {
      const origin = await refusedOrigin();
      const world = await startSite(host, { a2aUrl: `${origin}/agent`, serviceApiUrl: `${origin}/platform` });
      const reply = await world.chat(road.visit);
      expect(reply.status).toBe(502);
      expect((await readFailure(world, reply)).code).toBe('upstream_unreachable');
      expect(world.telemetry.of('retry')).toMatchObject(road.streams ? [] : [{ cause: 'no_connection' }]);
    });

    it('comes back while a visitor waits costs nothing', async () => {
      if (road.streams) return;
      const origin = await freeOrigin();
      const world = await startSite(host, { a2aUrl: `${origin}/agent`, serviceApiUrl: `${origin}/platform` });
      const type = road.visit.path?.endsWith('.css') === true ? 'text/css' : 'application/json';
      const { emit } = world.telemetry;
      world.telemetry.emit = (event) => {
        emit.call(world.telemetry, event);
        if (event.type !== 'retry') return;
        const server = createServer((socket) => {
          socket.once('data', () => {
            socket.end(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`);
          });
        }).listen(Number(new URL(origin).port), '127.0.0.1');
        onTestFinished(() => void server.close());
      };
      expect((await world.chat(road.visit)).status).toBe(200);
    });
  });

  it('a platform with a name nobody knows is a 502', async () => {
    const world = await startSite(host, { a2aUrl: 'http://nobody.invalid/agent' });
    const reply = await world.chat(CHAT.visit);
    expect(reply.status).toBe(502);
    expect((await readFailure(world, reply)).code).toBe('upstream_unreachable');
  });

  it('a platform that lets nobody connect in time is a 504, tried once', async () => {
    // A TLS handshake that never ends is as slow as a network can be.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const a2aUrl = `https://127.0.0.1:${String((silent.address() as AddressInfo).port)}/agent`;
    const world = await startSite(host, { a2aUrl, timeouts: { connectMs: 100 } });
    const reply = await world.chat(CHAT.visit);
    expect(reply.status).toBe(504);
    expect((await readFailure(world, reply)).code).toBe('upstream_timeout');
    expect(world.telemetry.of('retry')).toEqual([]);
  });

  it('a platform with a head of 20 kB is served', async () => {
    const world = await startSite(host);
    world.upstream.willAnswer((exchange) => exchange.json(200, {}, { 'x-long': 'a'.repeat(20_000) }));
    expect((await world.chat(CHAT.visit)).status).toBe(200);
  });

  it('a platform with too much to do has its 429 and its Retry-After passed on', async () => {
    const world = await startSite(host);
    world.upstream.willAnswer((exchange) => exchange.json(429, {}, { 'retry-after': '9' }));
    for (const road of [CHAT, RECORD, UPLOAD]) {
      const reply = await world.chat(road.visit);
      expect([reply.status, reply.headers['retry-after']]).toEqual([429, '9']);
      await reply.text();
    }
    expect(world.upstream.requests).toHaveLength(3);
  });

  it('an upload that the browser stops half-way is a 408, and the platform is let go', async () => {
    const world = await startSite(host, { timeouts: { requestIdleMs: 200, headersMs: 100 } });
    const visit = world.start({ ...UPLOAD.visit, headers: { ...UPLOAD.visit.headers, 'content-length': '100' } });
    const reply = await visit.reply;
    expect(reply.status).toBe(408);
    expect((await readFailure(world, reply)).code).toBe('body_timeout');
    expect(world.upstream.requests).toEqual([]);
    await expectHealthy(world, UPLOAD);
  });

  it('a chat message that the browser stops half-way is a 408, and nothing is sent', async () => {
    const world = await startSite(host, { timeouts: { requestBodyMs: 200 } });
    const reply = await world.start({ headers: { 'content-length': '1000' } }).reply;
    expect(reply.status).toBe(408);
    const failure = await readRpcFailure(world, reply);
    expect(failure.error.data[0]).toMatchObject({ reason: 'BODY_TIMEOUT', metadata: { retryable: 'true' } });
    expect(world.upstream.requests).toEqual([]);
  });
});
