import { describe, expect, it } from 'vitest';
import { Flood } from '../../support/flood.js';
import type { Exchange } from '../../support/recording-upstream.js';
import type { Framework } from '../framework.js';
import { expectNextRequestWorks, openStream, startWorld, type World } from '../world.js';
import { timed } from '../../support/stopwatch.js';

const MIB = 1_048_576;

/** Visitors who disconnect or read slowly. */
export function departureSuite(framework: Framework): void {
  describe('a visitor who leaves', () => {
    it('before the response begins aborts the request to the agent within a second', async () => {
      const world = await startWorld(framework);
      world.upstream.willWait();
      const { leave } = world.start();
      const exchange = await world.upstream.next();
      await expectAborted(exchange, leave);
      await expectNextRequestWorks(world);
    });

    it('during a stream aborts the request to the agent within a second', async () => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      exchange.write('data: one\n\n');
      await reply.until('one');
      await expectAborted(exchange, () => reply.leave());
      expect(world.telemetry.of('stream_broken')).toMatchObject([{ side: 'browser' }]);
      expect(world.telemetry.of('stream_ended')).toMatchObject([{ outcome: 'browser' }]);
      expect(world.telemetry.of('chat')).toMatchObject([{ outcome: 'browser', events: 1 }]);
      await expectNextRequestWorks(world);
    });

    it('before the first event aborts the request to the agent within a second', async () => {
      const { exchange, reply } = await openStream(await startWorld(framework));
      await expectAborted(exchange, () => reply.leave());
    });

    it('between two comments aborts the request to the agent within a second', async () => {
      const { exchange, reply } = await openStream(await startWorld(framework, { keepAliveMs: 20 }));
      await reply.until(': keep-alive\n\n', 2);
      await expectAborted(exchange, () => reply.leave());
    });

    it('during a JSON response aborts the request to the agent within a second', async () => {
      const world = await startWorld(framework);
      world.upstream.willWait();
      const pending = world.chat();
      const exchange = await world.upstream.next();
      exchange.head(200, { 'content-type': 'application/json' }).write('{"jsonrpc":');
      const reply = await pending;
      await reply.until('jsonrpc');
      await expectAborted(exchange, () => reply.leave());
    });

    it('while reading slowly aborts the request to the agent within a second', async () => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      const writer = new Flood(exchange);
      await settled(world, writer);
      await expectAborted(exchange, () => reply.leave());
    });

    it('does not cancel the task at the agent', async () => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      reply.leave();
      await exchange.closed;
      await expectNextRequestWorks(world);
      expect(
        world.upstream.requests.map(({ body }) => (JSON.parse(body.toString()) as { method: string }).method),
      ).toEqual(['SendStreamingMessage', 'SendStreamingMessage']);
    });
  });

  describe('a visitor who reads slowly', () => {
    // 64 MiB together with other visitors are slow on a busy machine.
    it('pauses the agent and still receives every byte', { timeout: 60_000 }, async () => {
      const world = await startWorld(framework);
      const { exchange, reply } = await openStream(world);
      const writer = new Flood(exchange);
      const stopped = await settled(world, writer);
      expect(stopped).toBeGreaterThan(0);
      expect(stopped).toBeLessThan(32 * MIB);
      const { bytes, clean } = await reply.ending();
      expect(clean).toBe(true);
      expect(bytes.length).toBe(writer.total);
    });
  });
}

async function expectAborted(exchange: Exchange, leave: () => void): Promise<void> {
  expect(exchange.response.closed).toBe(false);
  const { own } = await timed(async () => {
    leave();
    await exchange.closed;
  });
  expect(own).toBeLessThan(1_000);
  expect(exchange.aborted).toBe(true);
}

/** The bytes the flood has written once they stay the same while others chat 25 times. */
async function settled(world: World, flood: Flood): Promise<number> {
  world.upstream.willAnswerAgain();
  let before = -1;
  while (before !== flood.written) {
    before = flood.written;
    for (let count = 0; count < 25; count += 1) await (await world.chat()).text();
  }
  return flood.written;
}
