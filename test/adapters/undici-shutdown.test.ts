import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { UpstreamOutcome, UpstreamRequest } from '../../src/ports/http.js';
import { responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from '../support/recording-upstream.js';

let platform: RecordingUpstream;
let upstream: UndiciUpstream;
beforeEach(async () => {
  platform = await RecordingUpstream.start();
  upstream = new UndiciUpstream({ connectMs: 5_000 });
});
afterEach(() => platform.close());

const send = (changes: Partial<UpstreamRequest> = {}): Promise<UpstreamOutcome> =>
  upstream.send(upstreamRequest(platform.origin, changes));

async function openStream() {
  platform.willWait();
  const pending = send();
  const exchange = await platform.next();
  exchange.eventStream().write('data: one\n\n');
  return { exchange, response: responseOf(await pending) };
}

describe('closing the connections to the platform', () => {
  it('with a grace period lets an answer finish that can', async () => {
    const { exchange, response } = await openStream();
    const closing = upstream.close({ graceMs: 60_000 });
    exchange.end('data: two\n\n');
    expect(await textOf(response.body)).toBe('data: one\n\ndata: two\n\n');
    await closing;
    await expect.poll(() => platform.connections()).toBe(0);
  });

  it('breaks off what still runs when the grace period is over', async () => {
    const { exchange, response } = await openStream();
    platform.willWait();
    const early = send();
    await platform.next();
    const closing = upstream.close({ graceMs: 50 });
    await expect(textOf(response.body)).rejects.toThrow('shutting down');
    expect(await early).toMatchObject({ kind: 'failure', reason: 'aborted' });
    await closing;
    await exchange.closed;
    expect(exchange.aborted).toBe(true);
  });

  it('breaks off at once without a grace period, also what waits for its connection', async () => {
    const { response } = await openStream();
    const connecting = send();
    const closing = upstream.close({ graceMs: 0 });
    await expect(textOf(response.body)).rejects.toThrow('shutting down');
    expect(await connecting).toMatchObject({ kind: 'failure', reason: 'aborted', sent: 'nothing' });
    await closing;
  });

  it('for good sends nothing any more', async () => {
    await upstream.close({ graceMs: 0 });
    expect(await send()).toMatchObject({ kind: 'failure', reason: 'aborted', sent: 'nothing' });
    expect(platform.requests).toEqual([]);
  });

  it('because they are replaced still serves a request that is under way, and leaves no connection behind', async () => {
    await upstream.close();
    platform.willAnswer((exchange) => exchange.json(200, {}));
    expect(await textOf(responseOf(await send()).body)).toBe('{}');
    await expect.poll(() => platform.connections()).toBe(0);
  });

  it('twice waits both times', async () => {
    const { exchange, response } = await openStream();
    const both = Promise.all([upstream.close(), upstream.close({ graceMs: 60_000 })]);
    exchange.end();
    await textOf(response.body);
    await both;
  });
});
