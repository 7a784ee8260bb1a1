import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeListener } from '../../src/adapters/node/node-listener.js';
import { NodeExchange } from '../../src/adapters/node/exchange.js';
import { SendBudget } from '../../src/adapters/node/send-budget.js';
import type { HttpHandler } from '../../src/ports/http.js';
import { MIB, sizedHandler } from '../support/full-budget.js';
import { RawClient } from '../support/raw-client.js';
import { type Listener, serve } from '../support/whole-bodies.js';
import { PushFlow } from './web/push-flow.js';

const HEAD = 'HTTP/1.1\r\nhost: site.example\r\n';
const get = (path: string): string => `GET /api/a2a/${path} ${HEAD}\r\n`;
const post = (path: string, length: number, body: string): string =>
  `POST /api/a2a/${path} ${HEAD}content-length: ${String(length)}\r\n\r\n${body}`;

/** A visitor whose first request is answered with a stream, and a count of the requests that arrived and were handled. */
async function behindStream() {
  const budget = new SendBudget(Infinity);
  const endings: (() => void)[] = [];
  const count = { arrived: 0, handled: 0 };
  const flow = new PushFlow();
  const sized = sizedHandler(endings);
  const handler: HttpHandler = (request) => {
    count.handled += 1;
    return request.path === '/flow' ? Promise.resolve({ status: 200, headers: {}, body: flow }) : sized(request);
  };
  const listener = nodeListener([{ mount: '/api/a2a', handler }], handler, new NodeExchange(budget)) as Listener;
  const { url, closed } = await serve(createServer(), (request, response) => {
    count.arrived += 1;
    listener(request, response);
  });
  const visitor = await RawClient.connect(url);
  onTestFinished(() => visitor.close());
  await visitor.send(get('long'));
  await visitor.until('begun');
  const endStream = (): void => {
    for (const end of endings) end();
  };
  return { visitor, budget, count, flow, closed, endStream };
}

describe('the memory of requests that wait behind a stream', () => {
  it.each([
    ['the address of a request', get(`1?${'x'.repeat(10_000)}`), 10_000],
    ['the response to a long message', post('1', 100_000, 'x'.repeat(100_000)), MIB],
  ])('includes %s', async (_what, request, bytes) => {
    const { visitor, budget } = await behindStream();
    await visitor.send(request);
    await expect.poll(() => budget.heldBytes).toBeGreaterThan(bytes);
    visitor.close();
    await expect.poll(() => budget.heldBytes).toBe(0);
  });
});

it('a request that arrives behind 16 waiting ones is not handled, and the connection ends after the others', async () => {
  const { visitor, count, endStream } = await behindStream();
  await visitor.send(get('0').repeat(16) + post('0', 100_000, 'x'));
  await expect.poll(() => count.arrived).toBe(18);
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  expect(count.handled).toBe(1);
  endStream();
  expect((await visitor.ending()).split('HTTP/1.1 200')).toHaveLength(1 + 17);
  expect(count.handled).toBe(17);
});

describe('the departure of a visitor', () => {
  it('is noticed behind a long message that was not read, and releases its response', async () => {
    const { visitor, count, flow, closed } = await behindStream();
    await visitor.send(post('flow', 200_000, 'x'.repeat(100_000)));
    await expect.poll(() => count.handled).toBe(2);
    visitor.close();
    await closed;
    await expect.poll(() => flow.returned).toBe(true);
  });

  it('ends the requests that wait without handling them', async () => {
    const { visitor, count, closed } = await behindStream();
    await visitor.send(get('0').repeat(3));
    await expect.poll(() => count.arrived).toBe(4);
    visitor.close();
    await closed;
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    expect(count.handled).toBe(1);
  });
});
