import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeListener } from '../../src/adapters/node/node-listener.js';
import type { HttpHandler } from '../../src/ports/http.js';
import { RawClient } from '../support/raw-client.js';
import { type Listener, serve } from '../support/whole-bodies.js';
import { PushStream } from './web/push-stream.js';

const HEAD = 'HTTP/1.1\r\nhost: site.example\r\n';
const get = (path: string): string => `GET /api/a2a/${path} ${HEAD}\r\n`;
const post = (path: string, length: number, body: string): string =>
  `POST /api/a2a/${path} ${HEAD}content-length: ${String(length)}\r\n\r\n${body}`;

/** A visitor of a site that streams its response to `/long`, and the paths that were received and handled. */
async function arrive(
  before: (path: string, response: ServerResponse, next: () => void) => void = (...[, , n]) => n(),
) {
  const received: string[] = [];
  const handled: string[] = [];
  const signals: AbortSignal[] = [];
  const flows: PushStream[] = [];
  const handler: HttpHandler = ({ path, signal }) => {
    handled.push(path.slice(1));
    signals.push(signal);
    const flow = new PushStream();
    if (path !== '/long') return Promise.resolve({ status: 200, headers: {}, body: `answer to ${path.slice(1)};` });
    flows.push(flow);
    return Promise.resolve({ status: 200, headers: {}, body: flow });
  };
  const listener = nodeListener([{ mount: '/api/a2a', handler }], handler) as Listener;
  const { url, closed } = await serve(createServer(), (request, response) => {
    const path = request.url?.split('/').at(-1) ?? '';
    received.push(path);
    before(path, response, () => listener(request, response));
  });
  const visitor = await RawClient.connect(url);
  onTestFinished(() => visitor.close());
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  };
  return { visitor, received, handled, signals, flows, closed, turns };
}

/** The same visitor, who reads the stream of the first request. */
async function behindStream() {
  const site = await arrive();
  await site.visitor.send(get('long'));
  await site.visitor.until('\r\n\r\n');
  const [flow] = site.flows;
  if (flow === undefined) throw new Error('there is no stream');
  return { ...site, flow };
}

describe('the requests of one connection', () => {
  it('are handled one after another, up to sixteen', async () => {
    const { visitor, received, handled, flow, turns } = await behindStream();
    const others = Array.from({ length: 15 }, (_, index) => String(index));
    await visitor.send(others.map(get).join(''));
    await expect.poll(() => received).toEqual(['long', ...others]);
    await turns();
    expect(handled).toEqual(['long']);
    flow.push('the end of the stream;');
    flow.end();
    const text = await visitor.until('answer to 14;');
    expect([...text.matchAll(/answer to (\d+);/g)].map(([, path]) => path)).toEqual(others);
    expect(text.indexOf('the end of the stream;')).toBeLessThan(text.indexOf('answer to 0;'));
    expect(handled).toEqual(['long', ...others]);
    await visitor.send(get('later'));
    await visitor.until('answer to later;');
  });

  it('are cut off at the seventeenth, which is not handled, nor is any of the same chunk', async () => {
    const { visitor, received, handled, signals, flow, turns } = await behindStream();
    await visitor.send(get('0').repeat(1_000));
    await visitor.ending();
    await turns();
    expect(received).toHaveLength(17);
    expect(handled).toEqual(['long']);
    expect([flow.returned, signals[0]?.aborted]).toEqual([true, true]);
  });

  it('that have their responses do not count', async () => {
    const { visitor, handled } = await arrive();
    for (let count = 1; count <= 40; count += 1) {
      await visitor.send(get('0'));
      await visitor.until('answer to 0;', count);
    }
    expect(handled).toHaveLength(40);
  });
});

describe('the departure of a visitor', () => {
  it('is noticed behind a long message that was not read, and releases its response', async () => {
    const { visitor, flows, signals, closed } = await behindStream();
    await visitor.send(post('long', 200_000, 'x'.repeat(100_000)));
    await expect.poll(() => flows).toHaveLength(2);
    visitor.close();
    await closed;
    await expect.poll(() => flows.map(({ returned }) => returned)).toEqual([true, true]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('ends the requests that wait without handling them', async () => {
    const { visitor, received, handled, closed, turns } = await behindStream();
    await visitor.send(get('0').repeat(3));
    await expect.poll(() => received).toHaveLength(4);
    visitor.close();
    await closed;
    await turns();
    expect(handled).toEqual(['long']);
  });
});

describe("behind a response of the host's own", () => {
  /** The host answers `/host` when the test says so, and passes a request to `/held` on after that. */
  async function behindHost() {
    const held: (() => void)[] = [];
    let host: ServerResponse | undefined;
    const site = await arrive((path, response, next) => {
      if (path === 'host') host = response.writeHead(200).on('error', () => undefined);
      else if (path === 'held') held.push(next);
      else next();
    });
    await site.visitor.send(get('host'));
    await expect.poll(() => host).toBeDefined();
    return { ...site, held, endHost: () => void host?.end('of the host;') };
  }

  it('requests get their responses in order, even if the host passes them on in another one', async () => {
    const { visitor, handled, held, endHost } = await behindHost();
    await visitor.send(get('held') + get('2'));
    await expect.poll(() => [handled, held.length]).toEqual([['2'], 1]);
    endHost();
    await visitor.until('of the host;');
    for (const next of held) next();
    const text = await visitor.until('answer to 2;');
    expect(text.indexOf('answer to held;')).toBeLessThan(text.indexOf('answer to 2;'));
  });

  it('the departure of a visitor ends a stream that nobody has seen yet', async () => {
    const { visitor, flows, signals } = await behindHost();
    await visitor.send(get('long'));
    await expect.poll(() => flows).toHaveLength(1);
    visitor.close();
    await expect.poll(() => [flows[0]?.returned, signals[0]?.aborted]).toEqual([true, true]);
  });
});
