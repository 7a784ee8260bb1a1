import { describe, expect, it } from 'vitest';
import { responseOf, textOf } from '../contracts/http-upstream.contract.js';
import { runUndiciWorld } from './undici-world.js';

const world = runUndiciWorld();
const { send } = world;

async function openStream() {
  const { exchange, response } = await world.opened({}, 'text/event-stream');
  exchange.write('data: one\n\n');
  return { exchange, response };
}

describe('closing the connections to the platform', () => {
  it.each([[undefined], [{ graceMs: 60_000 }]])('waits for a response that can finish: %j', async (grace) => {
    const { exchange, response } = await openStream();
    let closed = false;
    const closing = world.upstream.close(grace).then(() => {
      closed = true;
    });
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    exchange.end('data: two\n\n');
    expect(await textOf(response.body)).toBe('data: one\n\ndata: two\n\n');
    await closing;
    await expect.poll(() => world.platform.connections()).toBe(0);
  });

  it('waits for every response under way, not only for the first one to end', async () => {
    const [one, other] = [await openStream(), await openStream()];
    let closed = false;
    const closing = world.upstream.close().then(() => {
      closed = true;
    });
    one.exchange.end();
    await textOf(one.response.body);
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    other.exchange.end();
    await textOf(other.response.body);
    await closing;
  });

  it('ends running requests after the grace period', async () => {
    const { exchange, response } = await openStream();
    world.platform.willWait();
    const early = send();
    await world.platform.next();
    const closing = world.upstream.close({ graceMs: 50 });
    await expect(textOf(response.body)).rejects.toThrow('shutting down');
    expect(await early).toMatchObject({ kind: 'failure', reason: 'aborted' });
    await closing;
    await exchange.closed;
    expect(exchange.aborted).toBe(true);
  });

  it('without a grace period ends running and queued requests at once', async () => {
    const { response } = await openStream();
    const connecting = send();
    const closing = world.upstream.close({ graceMs: 0 });
    await expect(textOf(response.body)).rejects.toThrow('shutting down');
    expect(await connecting).toMatchObject({ kind: 'failure', reason: 'aborted', sent: 'nothing' });
    await closing;
  });

  it('finally rejects later requests', async () => {
    await world.upstream.close({ graceMs: 0 });
    const detail = 'the connections are closed';
    expect(await send()).toMatchObject({ kind: 'failure', reason: 'aborted', sent: 'nothing', log: detail });
    expect(world.platform.requests).toEqual([]);
  });

  it('for a replacement finishes the requests under way and leaves no connection open', async () => {
    await world.upstream.close();
    world.platform.willAnswer((exchange) => exchange.json(200, {}));
    expect(await textOf(responseOf(await send()).body)).toBe('{}');
    await expect.poll(() => world.platform.connections()).toBe(0);
  });

  it('after an aborted stream still closes the idle connection', async () => {
    const browser = new AbortController();
    const { exchange } = await world.opened({ signal: browser.signal }, 'text/event-stream');
    const pending = send();
    (await world.platform.next()).json(200, {});
    await textOf(responseOf(await pending).body);
    browser.abort();
    await exchange.closed;
    await expect.poll(() => world.platform.connections()).toBe(1);
    await world.upstream.close();
    await expect.poll(() => world.platform.connections()).toBe(0);
  });

  it('twice resolves both times', async () => {
    const { exchange, response } = await openStream();
    const both = Promise.all([world.upstream.close(), world.upstream.close({ graceMs: 60_000 })]);
    exchange.end();
    await textOf(response.body);
    await both;
  });
});
