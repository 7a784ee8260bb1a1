import { describe, expect, it } from 'vitest';
import { answer, startSite, startStream, visitorOf } from '../support/http2-site.js';
import type { Exchange } from '../support/recording-upstream.js';

const MIB = 1_048_576;

describe('a visitor over HTTP/2 who leaves', () => {
  it('before the response aborts the request to the agent', async () => {
    const { world, visitor } = await startSite();
    world.upstream.willWait();
    const { leave } = visitor.start();
    const exchange = await world.upstream.next();
    leave();
    await expectAborted(exchange);
  });

  it('during a stream aborts only its own request to the agent', async () => {
    const { world, visitor, exchange, reply } = await startStream();
    const pending = visitor.visit();
    const other = await world.upstream.next();
    other.eventStream();
    const kept = await pending;
    exchange.write('data: one\n\n');
    await reply.until('one');
    reply.leave();
    await expectAborted(exchange);
    expect(world.telemetry.of('stream_broken')).toMatchObject([{ side: 'browser' }]);
    other.end('data: kept\n\n');
    expect(await kept.text()).toBe('data: kept\n\n');
  });

  it('by closing the connection aborts all its requests to the agent', async () => {
    const { world, visitor, exchange } = await startStream();
    const pending = visitor.visit();
    const other = await world.upstream.next();
    other.eventStream();
    await pending;
    await visitor.leave();
    await expectAborted(exchange);
    await expectAborted(other);
  });

  it('after a complete response does not abort the request', async () => {
    const signals: AbortSignal[] = [];
    const visitor = await visitorOf(({ signal }) => {
      signals.push(signal);
      return Promise.resolve(answer('all'));
    });
    expect(await (await visitor.visit()).text()).toBe('all');
    await visitor.leave();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe('a visitor over HTTP/2 who reads slowly', () => {
  it('gets everything while the server buffers little', async () => {
    const total = 256;
    let produced = 0;
    async function* body(): AsyncGenerator<Uint8Array> {
      while (produced < total) {
        produced += 1;
        yield Buffer.alloc(65_536, 'x');
      }
    }
    const visitor = await visitorOf(({ path }) => Promise.resolve(answer(path === '/quick' ? 'quick' : body())));
    const reply = await visitor.visit();
    // Not read while other streams of the same connection are served.
    let before = -1;
    while (before !== produced) {
      before = produced;
      for (let count = 0; count < 10; count += 1) await (await visitor.visit({ path: '/api/a2a/quick' })).text();
    }
    expect(produced).toBeGreaterThan(0);
    expect(produced).toBeLessThan(total / 4);
    expect((await reply.ending()).bytes.length).toBe(total * 65_536);
  });

  it('and then leaves aborts the request to the agent', async () => {
    const { exchange, reply } = await startStream();
    const event = `data: ${'x'.repeat(MIB)}\n\n`;
    for (let count = 0; count < 32; count += 1) exchange.write(event);
    expect(exchange.response.writableNeedDrain).toBe(true);
    reply.leave();
    await expectAborted(exchange);
  });
});

async function expectAborted(exchange: Exchange): Promise<void> {
  await exchange.closed;
  expect(exchange.aborted).toBe(true);
}
