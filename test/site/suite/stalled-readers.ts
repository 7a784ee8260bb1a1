import { describe, expect, it, onTestFinished } from 'vitest';
import { Flood } from '../../support/flood.js';
import type { Exchange } from '../../support/recording-upstream.js';
import { StalledVisitor } from '../../support/stalled-visitor.js';
import type { Framework } from '../framework.js';
import { expectNextRequestWorks, session, startWorld, type World, type WorldOptions } from '../world.js';

const RECORD = '/api/service/files/7';
const TYPES: Readonly<Record<string, string>> = {
  'a stream of events': 'text/event-stream',
  'a response that is not a stream': 'application/json',
};

/** Visitors who stay connected without reading (decision 84). */
export function stalledReaderSuite(framework: Framework): void {
  const start = (options: WorldOptions = {}): Promise<World> =>
    startWorld(framework, { timeouts: { sendIdleMs: 200 }, ...options });

  describe('a visitor who stops reading', () => {
    it.each(Object.keys(TYPES))('is disconnected from %s, and the call to the agent is aborted', async (kind) => {
      const world = await start();
      const { exchange, visitor, flood } = await stall(world, TYPES[kind] as string);
      await expectCut(world, exchange);
      expect(world.telemetry.of('stream_broken')).toMatchObject([
        { route: 'chat', side: 'browser', detail: expect.stringContaining('"timeouts.sendIdleMs"') as string },
      ]);
      expect(await visitor.readOn()).toBeLessThan(flood.total);
      await expectNextRequestWorks(world);
    });

    it('is disconnected from a record, and the call to the platform is aborted', async () => {
      const world = await start();
      const { exchange, visitor, flood } = await stall(world, 'application/octet-stream', RECORD);
      await expectCut(world, exchange);
      expect(await visitor.readOn()).toBeLessThan(flood.total);
    });

    it('no longer counts towards maxInFlight once disconnected', async () => {
      const world = await start({ maxInFlight: 3 });
      const stalled = [];
      for (let count = 0; count < 3; count += 1) stalled.push(await stall(world, 'application/json'));
      expect((await world.chat()).status).toBe(503);
      for (const { exchange } of stalled) await exchange.closed;
      await expect.poll(() => world.toolkit.health()).toMatchObject({ inFlight: 0, openStreams: 0 });
      await expectNextRequestWorks(world);
    });

    it('stays connected with sendIdleMs: 0', async () => {
      const world = await start({ timeouts: { sendIdleMs: 0 } });
      const { exchange } = await stall(world, 'application/json');
      const other = await startWorld(framework, { timeouts: { sendIdleMs: 200 } });
      await (
        await stall(other, 'application/json')
      ).exchange.closed;
      expect(exchange.response.closed).toBe(false);
    });
  });

  it('a visitor who reads slowly but steadily receives every byte', async () => {
    const world = await start({ timeouts: { sendIdleMs: 1_000 } });
    const { visitor, flood } = await stall(world, 'application/octet-stream', RECORD);
    world.upstream.willAnswerAgain();
    const received = await visitor.readSlowly(flood.total, 2_000, async () => (await world.chat()).text());
    expect(received).toBeGreaterThanOrEqual(flood.total);
  });

  it('a silent stream stays connected', async () => {
    const world = await start();
    world.upstream.willWait();
    const pending = world.chat();
    const exchange = await world.upstream.next();
    const reply = await (exchange.eventStream().write('data: one\n\n'), pending);
    await reply.until('one');
    const other = await startWorld(framework, { timeouts: { sendIdleMs: 200 } });
    await (
      await stall(other, 'application/json')
    ).exchange.closed;
    exchange.end('data: two\n\n');
    expect(await reply.text()).toBe('data: one\n\ndata: two\n\n');
  });
}

/** A visitor who requests 64 MiB and reads none of it. */
async function stall(world: World, type: string, path?: string) {
  world.upstream.willWait();
  const pending = StalledVisitor.arrive(world.url, path, `Cookie: ${session('ada').cookie}\r\n`);
  const exchange = await world.upstream.next();
  const visitor = await pending;
  onTestFinished(() => visitor.leave());
  return { exchange, visitor, flood: new Flood(exchange.head(200, { 'content-type': type })) };
}

async function expectCut({ toolkit }: World, exchange: Exchange): Promise<void> {
  await exchange.closed;
  expect(exchange.aborted).toBe(true);
  await expect.poll(() => toolkit.health()).toMatchObject({ inFlight: 0, openStreams: 0 });
}
