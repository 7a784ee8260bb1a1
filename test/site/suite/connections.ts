import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { RawClient } from '../../support/raw-client.js';
import { MESSAGE } from '../../support/visitor.js';
import type { Framework } from '../framework.js';
import { expectNextRequestWorks, startWorld, type World, type WorldOptions } from '../world.js';
import { timed } from '../../support/stopwatch.js';

const NONE = 'GET /api/a2a/none HTTP/1.1\r\nhost: site.example\r\n\r\n';
const CHAT = post(MESSAGE.length + 2) + MESSAGE.replace('"id":7', '"id":107');
const NOT_FOUND = 'HTTP/1.1 404';

/** HTTP/1.1 connections: pipelined requests and the end of a connection. */
export function connectionSuite(framework: Framework): void {
  describe('requests pipelined on one connection', () => {
    it('get their responses in order', async () => {
      const world = await startWorld(framework);
      const visitor = await RawClient.connect(world.url);
      const ids = Array.from({ length: 10 }, (_, index) => 100 + index);
      await visitor.send(ids.map((id) => CHAT.replace('"id":107', `"id":${String(id)}`)).join(''));
      const text = await visitor.until('task-1', 10);
      expect([...text.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))).toEqual(ids);
      expect(text).not.toMatch(/\r\nconnection: close\r\n/i);
      visitor.close();
    });

    it('wait behind an open stream, fifteen of them', async () => {
      const { visitor, exchange } = await openRawStream(framework);
      await visitor.send(NONE.repeat(15));
      exchange.write('data: one\n\n');
      expect(await visitor.until('one')).not.toContain(NOT_FOUND);
      exchange.end();
      await visitor.until(NOT_FOUND, 15);
      visitor.close();
    });

    it('end their connection when there are more, and the running call is aborted within a second', async () => {
      const { world, visitor, exchange } = await openRawStream(framework);
      const { own } = await timed(async () => {
        await visitor.send(CHAT + NONE.repeat(1_500));
        await Promise.all([visitor.ending(), exchange.closed]);
      });
      expect(own).toBeLessThan(1_000);
      expect(exchange.aborted).toBe(true);
      expect(world.upstream.requests).toHaveLength(1);
      await expectNextRequestWorks(world);
    });

    it.each(Object.entries(DEPARTURES))(
      'start no further call, and the running call is aborted within a second, for %s',
      async (_, leave) => {
        const { world, visitor, exchange } = await openRawStream(framework);
        await visitor.send(CHAT + NONE.repeat(14));
        const { own } = await timed(async () => {
          leave(visitor);
          await exchange.closed;
        });
        expect(own).toBeLessThan(1_000);
        expect(exchange.aborted).toBe(true);
        expect(world.upstream.requests).toHaveLength(1);
      },
    );

    // A parser in front would read it meanwhile.
    if (!framework.parsesJson) {
      it('with a long body have their calls to the agent aborted when the visitor leaves', async () => {
        const { world, visitor, exchange } = await openRawStream(framework);
        world.upstream.willWait();
        const long = MESSAGE.replace('Hello', 'x'.repeat(100_000));
        await visitor.send(post(long.length) + long);
        const second = (await world.upstream.next()).eventStream();
        const { own } = await timed(async () => {
          visitor.close();
          await Promise.all([exchange.closed, second.closed]);
        });
        expect(own).toBeLessThan(1_000);
      });
    }
  });

  describe('a response over HTTP/1.0, without length and chunks', () => {
    const RECORD = 'GET /api/service/conversations HTTP/1.0\r\nhost: site.example\r\ncookie: session=ada\r\n\r\n';

    it.each([
      ['before its first byte', []],
      ['in the middle', ['%PDF-1.7 ', 'half']],
    ])('is reset if it breaks %s', async (_what, chunks) => {
      const world = await startWorld(framework);
      world.upstream.willWait();
      const visitor = await RawClient.connect(world.url);
      const broken = once(visitor.socket, 'error');
      await visitor.send(RECORD);
      const exchange = (await world.upstream.next()).head(200, { 'content-type': 'application/pdf' });
      for (const chunk of chunks) {
        exchange.write(chunk);
        await visitor.until(chunk);
      }
      await visitor.until('\r\n\r\n');
      exchange.reset();
      expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
      await expectNextRequestWorks(world);
    });

    it('is reset if the site closes in the middle', async () => {
      const world = await startWorld(framework);
      world.upstream.willWait();
      const visitor = await RawClient.connect(world.url);
      const broken = once(visitor.socket, 'error');
      await visitor.send(RECORD);
      (await world.upstream.next()).head(200, { 'content-type': 'application/pdf' }).write('half');
      await visitor.until('half');
      await world.toolkit.close({ graceMs: 0 });
      expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
    });

    it('is reset if it breaks inside an event, and ends with an error event if it breaks between two', async () => {
      const world = await startWorld(framework, { keepAliveMs: 20 });
      const ended = async (sent: string): Promise<unknown> => {
        world.upstream.willWait();
        const visitor = await RawClient.connect(world.url);
        let failure: unknown = 'none';
        visitor.socket.on('error', ({ code }: NodeJS.ErrnoException) => (failure = code));
        await visitor.send(CHAT.replace('HTTP/1.1', 'HTTP/1.0'));
        const exchange = (await world.upstream.next()).eventStream().write('data: one\n\n');
        // A comment.
        await visitor.until(': keep-alive');
        exchange.write(sent);
        await visitor.until(sent);
        exchange.reset();
        const text = await visitor.ending();
        return [failure, text.includes('event: error')];
      };
      expect(await ended('data: two\n\n')).toEqual(['none', true]);
      expect(await ended('data: tw')).toEqual(['ECONNRESET', false]);
    });

    it('is not reset if it is whole', async () => {
      const world = await startWorld(framework);
      world.upstream.willAnswer((exchange) => exchange.head(200, { 'content-type': 'application/pdf' }).end('whole'));
      const visitor = await RawClient.connect(world.url);
      const failures: unknown[] = [];
      visitor.socket.on('error', (error) => failures.push(error));
      await visitor.send(RECORD);
      expect([(await visitor.ending()).endsWith('\r\n\r\nwhole'), failures]).toEqual([true, []]);
    });
  });

  // A parser in front reads the whole body before the response.
  if (!framework.parsesJson) {
    it('lets a browser that is still sending read its 503 before close() resolves', async () => {
      const { world, visitor, exchange } = await openRawStream(framework);
      let isClosed = false;
      const closing = world.toolkit.close({ graceMs: 60_000 }).then(() => (isClosed = true));
      const sender = await RawClient.connect(world.url, { allowHalfOpen: true });
      await sender.send(`${post(1_000_000)}{`);
      await sender.until('HTTP/1.1 503');
      exchange.end('data: last\n\n');
      await visitor.until('data: last');
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      expect(isClosed).toBe(false);
      sender.close();
      await closing;
      visitor.close();
    });
  }

  describe('a response sent before the end of the request body', () => {
    // A parser in front reads the whole body before the response.
    if (!framework.parsesJson) {
      it.each(Object.entries(REFUSALS))(
        'closes the connection after a second: %s',
        async (_, [status, options, head]) => {
          const world = await startWorld(framework, options);
          const visitor = await RawClient.connect(world.url, { allowHalfOpen: true });
          await visitor.send(`${head}{`);
          const text = await visitor.until('\r\n\r\n');
          const dripping = setInterval(() => void visitor.send(' '), 20);
          const took = await timed(() => visitor.ending());
          clearInterval(dripping);
          expect(text).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
          expect(text).toMatch(/\r\nconnection: close\r\n/i);
          expect(took.wall).toBeGreaterThan(700);
          expect(took.own).toBeLessThan(1_700);
        },
      );
    }

    it('keeps the connection open when the body has already arrived', async () => {
      const world = await startWorld(framework);
      const visitor = await RawClient.connect(world.url);
      const refused = post(MESSAGE.length, 'origin: https://evil.example\r\n') + MESSAGE;
      for (let turn = 1; turn <= 3; turn += 1) {
        await visitor.send(refused);
        await visitor.until('HTTP/1.1 403', turn);
      }
      await visitor.send(CHAT);
      expect(await visitor.until('task-1')).not.toMatch(/\r\nconnection: close\r\n/i);
      visitor.close();
    });
  });
}

const DEPARTURES: Readonly<Record<string, (visitor: RawClient) => void>> = {
  'a visitor who leaves': (visitor) => visitor.close(),
  'a visitor who resets the connection': (visitor) => void visitor.socket.resetAndDestroy(),
  'a visitor who half-closes the connection': (visitor) => void visitor.socket.end(),
};

const CROSS_SITE = 'origin: https://evil.example\r\n';
const REFUSALS: Readonly<Record<string, readonly [status: number, options: WorldOptions, head: string]>> = {
  'too large (413)': [413, { bodyLimitBytes: 1_000 }, post(1_000_000)],
  'too late (408)': [408, { timeouts: { requestBodyMs: 100 } }, post(1_000_000)],
  'from another site (403)': [403, {}, post(1_000_000, CROSS_SITE)],
  'to a wrong path (404)': [404, {}, post(1_000_000).replace('/api/a2a', '/api/a2a/none')],
  'with a wrong method (405)': [405, {}, post(1_000_000).replace('POST', 'PUT')],
};

function post(length: number, fields = ''): string {
  const head = `POST /api/a2a HTTP/1.1\r\nhost: site.example\r\n${fields}content-type: application/json\r\n`;
  return `${head}content-length: ${String(length)}\r\n\r\n`;
}

async function openRawStream(framework: Framework) {
  const world: World = await startWorld(framework);
  world.upstream.willWait();
  const visitor = await RawClient.connect(world.url);
  await visitor.send(CHAT);
  const exchange = (await world.upstream.next()).eventStream();
  await visitor.until('\r\n\r\n');
  return { world, visitor, exchange };
}
