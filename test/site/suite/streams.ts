import { gzipSync } from 'node:zlib';
import { createParser } from 'eventsource-parser';
import { describe, expect, it } from 'vitest';
import type { Framework, HostMiddleware } from '../framework.js';
import {
  expectNextRequestWorks,
  expectNothingLeaked,
  openStream,
  type RpcFailure,
  startWorld,
  type World,
} from '../world.js';

const EVENTS =
  'event: message\r\nid: 1\r\ndata: {"text":"grüezi €"}\r\n\r\n' +
  ': a comment of the agent\n\n' +
  'data: {"a":1}\ndata: {"b":2}\n\n' +
  'retry: 10\rdata: last\r\r';

const KEEP_ALIVE = ': keep-alive\n\n';

const withoutComments = (text: string): string => text.replaceAll(KEEP_ALIVE, '');

/** Responses that are streams of events. */
export function streamSuite(framework: Framework): void {
  describe('a stream of events', () => {
    it('sends its head before its first event', async () => {
      const { exchange, reply } = await openStream(await startWorld(framework));
      expect(reply.status).toBe(200);
      expect(reply.headers['content-type']).toBe('text/event-stream');
      exchange.end(EVENTS);
      expect(await reply.text()).toBe(EVENTS);
    });

    it('has the fields that forbid buffering and transforming', async () => {
      const { exchange, reply } = await openStream(await startWorld(framework), { 'cache-control': 'max-age=60' });
      expect(reply.headers['cache-control']).toBe('no-cache, no-store, no-transform');
      expect(reply.headers['x-accel-buffering']).toBe('no');
      expect(reply.headers).not.toHaveProperty('content-length');
      expect(reply.headers).not.toHaveProperty('content-encoding');
      exchange.end();
      expect(await reply.ending()).toMatchObject({ clean: true });
    });

    it('has no Content-Length, even if the agent sent one', async () => {
      const length = String(Buffer.byteLength(EVENTS));
      const { exchange, reply } = await openStream(await startWorld(framework), { 'content-length': length });
      expect(reply.headers).not.toHaveProperty('content-length');
      exchange.end(EVENTS);
      expect(await reply.text()).toBe(EVENTS);
    });

    it('delivers each event before the next one is sent', async () => {
      const world = await startWorld(framework);
      world.upstream.willWait();
      const pending = world.chat({ headers: { 'accept-encoding': 'gzip, deflate, br' } });
      const exchange = await world.upstream.next();
      const reply = await (exchange.eventStream(), pending);
      for (let count = 1; count <= 20; count += 1) {
        exchange.write(`data: event ${String(count)}\n\n`);
        await reply.until(`data: event ${String(count)}\n\n`);
      }
      exchange.end();
      expect(await reply.ending()).toMatchObject({ clean: true });
    });

    // A Web standard host writes to its own sockets.
    if (framework.isWebStandard !== true) {
      it.each<[string, (written: boolean) => unknown]>([
        ['nothing', () => undefined],
        ['a promise', (written) => Promise.resolve(written)],
      ])('is delivered whole if a middleware makes write() return %s', async (_what, result) => {
        const before: HostMiddleware = (_request, response, next) => {
          const write = response.write.bind(response) as (...given: unknown[]) => boolean;
          response.write = ((...given: unknown[]) => result(write(...given))) as never;
          next();
        };
        const { exchange, reply } = await openStream(await startWorld(framework, { before, keepAliveMs: 20 }));
        const long = `data: ${'x'.repeat(400_000)}\n\n`;
        let sent = '';
        for (const event of ['data: one\n\n', 'data: two\n\n', long, long, 'data: last\n\n']) {
          exchange.write(event);
          await reply.untilSeen((bytes) => withoutComments(bytes.toString()) === sent + event);
          sent += event;
        }
        exchange.end();
        expect(withoutComments(await reply.text())).toBe(sent);
      });
    }

    it('emits telemetry when it opens and when it ends', async () => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      const [opened] = world.telemetry.of('request');
      expect(opened).toMatchObject({ route: 'chat', streams: true });
      expect(world.telemetry.of('stream_ended')).toEqual([]);
      const answer =
        'data: {"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","status":{"state":"TASK_STATE_FAILED"}}}}';
      exchange.write(`${answer}\n\n`).end();
      await reply.text();
      const ended = { requestId: opened?.requestId, route: 'chat', outcome: 'complete' };
      expect(world.telemetry.of('stream_ended')).toMatchObject([ended]);
      const call = { method: 'SendStreamingMessage', state: 'failed', events: 1, bytes: answer.length + 2 };
      expect(world.telemetry.of('chat')).toMatchObject([{ ...ended, ...call }]);
    });

    it('arrives unchanged, wherever the network splits it', async () => {
      const world = await startWorld(framework);
      const bytes = Buffer.from(EVENTS);
      for (let cut = 1; cut < bytes.length; cut += 1) {
        const { exchange, reply } = await openStream(world);
        exchange.write(bytes.subarray(0, cut));
        await reply.untilSeen((seen) => seen.length >= cut);
        exchange.end(bytes.subarray(cut));
        const { bytes: received, clean } = await reply.ending();
        expect(received.equals(bytes), `cut at ${String(cut)}`).toBe(true);
        expect(clean).toBe(true);
      }
    });

    it('can contain an event of 5 MB', async () => {
      const { exchange, reply } = await openStream(await startWorld(framework));
      const event = Buffer.from(`data: "${'é'.repeat(2_621_440)}"\n\n`);
      exchange.end(event);
      const { bytes, clean } = await reply.ending();
      expect(bytes.equals(event)).toBe(true);
      expect(clean).toBe(true);
    });

    it('gets comments during silence, before the first event and between events', async () => {
      const { exchange, reply } = await openStream(await startWorld(framework, { keepAliveMs: 20 }));
      await reply.until(KEEP_ALIVE, 2);
      exchange.write('data: one\r\n\r\n');
      await reply.until(`data: one\r\n\r\n${KEEP_ALIVE}${KEEP_ALIVE}`);
      exchange.end('data: two\n\n');
      const text = await reply.text();
      expect(text.replaceAll(KEEP_ALIVE, '')).toBe('data: one\r\n\r\ndata: two\n\n');
    });

    it.each([
      'data: half',
      'data: a line\n',
      'data: a line\r\n',
      'data: a line\r\ndata: b\r',
      ': remark',
      'data: x\n\nid',
    ])('gets no comment inside an event, after %j', async (part) => {
      const world = await startWorld(framework, { keepAliveMs: 20 });
      const { exchange, reply } = await openStream(world);
      exchange.write(part);
      const before = await reply.until(part);
      // A second stream, silent between two events, proves that enough time has passed for a comment.
      const other = await openStream(world);
      await other.reply.until(KEEP_ALIVE, 3);
      other.exchange.end();
      exchange.end('\n\n');
      expect(await reply.text()).toBe(`${before}\n\n`);
    });

    it('gets no comment when it is compressed', async () => {
      const world = await startWorld(framework, { keepAliveMs: 20 });
      const bytes = gzipSync(EVENTS);
      const { exchange, reply } = await openStream(world, { 'content-encoding': 'gzip' });
      const other = await openStream(world);
      await other.reply.until(KEEP_ALIVE, 3);
      other.exchange.end();
      exchange.end(bytes);
      if (framework.sendsPlainOnly === true) {
        expect(reply.headers).not.toHaveProperty('content-encoding');
        expect(await reply.text()).toBe(EVENTS);
        return;
      }
      expect(reply.headers['content-encoding']).toBe('gzip');
      expect((await reply.ending()).bytes.equals(bytes)).toBe(true);
    });
  });

  describe('a stream that the agent breaks', () => {
    const breaks: readonly [string, (exchange: Awaited<ReturnType<typeof openStream>>['exchange']) => void][] = [
      ['resets the connection', (exchange) => exchange.reset()],
      ['closes the connection', (exchange) => exchange.fin()],
      ['sends a bad chunk', (exchange) => void exchange.raw('zz\r\nnonsense')],
    ];

    it.each(breaks)('between two events ends with an error event when it %s', async (_how, breakIt) => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      exchange.write('data: one\n\n');
      await reply.until('data: one\n\n');
      breakIt(exchange);
      await expectErrorEvent(world, await reply.text());
      await expectNextRequestWorks(world);
    });

    it.each(breaks)('inside an event breaks the connection when it %s', async (_how, breakIt) => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      exchange.write('data: one\n\ndata: {"half');
      await reply.until('half');
      breakIt(exchange);
      const { bytes, clean } = await reply.ending();
      expect(clean).toBe(false);
      expect(bytes.toString()).toBe('data: one\n\ndata: {"half');
      expect(world.telemetry.of('stream_broken')).toMatchObject([{ route: 'chat', side: 'upstream' }]);
      await expectNextRequestWorks(world);
    });

    it('before its first event ends with an error event', async () => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      exchange.reset();
      await expectErrorEvent(world, `data: one\n\n${await reply.text()}`);
    });

    it('inside a chunk still delivers the complete events before it', async () => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      exchange.write('data: one\n\n');
      exchange.raw('40\r\ndata: two\n\n').fin();
      const text = await reply.text();
      expect(text.startsWith('data: one\n\ndata: two\n\nevent: error\n')).toBe(true);
    });

    it('after a comment of the site ends with an error event', async () => {
      const world = await startWorld(framework, { keepAliveMs: 20 });
      const { exchange, reply } = await openStream(world);
      exchange.write('data: one\n\n');
      await reply.until(KEEP_ALIVE);
      exchange.reset();
      await expectErrorEvent(world, (await reply.text()).replaceAll(KEEP_ALIVE, ''));
    });
  });
}

async function expectErrorEvent(world: World, text: string): Promise<void> {
  const events: { event?: string | undefined; data: string }[] = [];
  createParser({ onEvent: ({ event, data }) => events.push({ event, data }) }).feed(text);
  expect(events).toHaveLength(2);
  expect(events[0]).toEqual({ event: undefined, data: 'one' });
  expect(events[1]?.event).toBe('error');
  const failure = JSON.parse(events[1]?.data ?? '') as RpcFailure;
  expect(failure).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32603 } });
  expect(failure.error.data[0]).toMatchObject({ reason: 'UPSTREAM_UNREACHABLE', metadata: { retryable: 'false' } });
  expectNothingLeaked(world, await world.chat({ method: 'GET' }), text);
  expect(world.telemetry.of('stream_broken')).toMatchObject([{ route: 'chat', side: 'upstream' }]);
  expect(world.telemetry.of('stream_ended')).toMatchObject([{ route: 'chat', outcome: 'upstream' }]);
}
