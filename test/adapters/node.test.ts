import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createNodeHandler } from 'agent-bff/node';
import { createToolkit } from 'agent-bff';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readJsonBody } from '../../src/adapters/web/request-body.js';
import { nodeListener } from '../../src/adapters/node/node-listener.js';
import type { HttpBody, HttpHandler, HttpResponse } from '../../src/ports/http.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { site as siteSettings } from './web/browser-request.js';
import { RawClient } from '../support/raw-client.js';
import { visit } from '../support/visitor.js';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(listener: Listener): Promise<string> {
  const site = await listeningSite(listener);
  onTestFinished(() => site.close());
  return site.url;
}

/** Serves one handler at `/api/a2a`, with a host that handles every other path. */
async function serveHandler(
  handler: HttpHandler,
  failed: (error: unknown) => void = () => undefined,
  received: (request: IncomingMessage) => void = () => undefined,
): Promise<string> {
  const listener = nodeListener([{ mount: '/api/a2a', handler }], () => Promise.resolve(text('otherwise')));
  return serve((request, response) => {
    received(request);
    listener(request, response, (error) => {
      if (error !== undefined) failed(error);
      response.statusCode = error === undefined ? 200 : 500;
      response.end('host');
    });
  });
}

/** The head of a message, written by hand. */
function head(length: number): string {
  return `POST /api/a2a HTTP/1.1\r\nhost: site.example\r\ncontent-length: ${String(length)}\r\n\r\n`;
}

function text(body: HttpBody, headers: HttpResponse['headers'] = {}, status = 200): HttpResponse {
  return { status, headers, body };
}

describe('the bridge to node:http', () => {
  it('passes a short message as bytes without further listeners', async () => {
    const url = await serveHandler(async (request) => {
      const { request: native } = request.native as { request: IncomingMessage };
      const listeners = native.listenerCount('close');
      const { bytes } = await readJsonBody(request, siteSettings({ requestBodyMs: 1_000 }));
      return text(bytes, { 'x-more-listeners': String(native.listenerCount('close') - listeners) });
    });
    const reply = await visit(url, { headers: { 'content-type': 'application/json' }, body: '{"a":1}' });
    expect([await reply.text(), reply.headers['x-more-listeners']]).toEqual(['{"a":1}', '0']);
  });

  it('passes a message that came with its head as bytes, and a later one as a stream', async () => {
    const kinds: string[] = [];
    let asked = (): void => undefined;
    const url = await serveHandler(async (request) => {
      // Routes do other work before they read.
      await Promise.resolve();
      const { body } = request;
      kinds.push(body instanceof Uint8Array ? 'bytes' : 'stream');
      expect(request.body).toBe(body);
      asked();
      return text(body);
    });
    const browser = await RawClient.connect(url);
    onTestFinished(() => browser.close());
    const half = new Promise<void>((resolve) => (asked = resolve));
    await browser.send(`${head(4)}half`.slice(0, -2));
    await half;
    await browser.send('lf');
    await browser.until('lf\r\n0\r\n');
    await browser.send(`${head(5)}whole`);
    await browser.until('whole');
    await browser.send(`${head(5)}again`);
    await browser.until('again');
    expect(kinds).toEqual(['stream', 'bytes', 'bytes']);
  });

  it('accepts chunks of any ordinary size', async () => {
    let read = 0;
    const url = await serveHandler(async ({ body }) => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) read += chunk.length;
      return text('read');
    });
    for (const size of [20, 500, 5_000, 40_000]) {
      const browser = await RawClient.connect(url);
      onTestFinished(() => browser.close());
      const chunk = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
      const chunked = head(0).replace('content-length: 0', 'transfer-encoding: chunked');
      await browser.send(`${chunked}${chunk.repeat(400_000 / size)}0\r\n\r\n`);
      await browser.until('read');
    }
    expect(read).toBe(1_600_000);
  });

  it('fails a body whose chunks are mostly framing, and closes its connection', async () => {
    let read = 0;
    let socket: Socket | undefined;
    const url = await serveHandler(async ({ body, native }) => {
      ({ socket } = native.request as IncomingMessage);
      try {
        for await (const chunk of body as AsyncIterable<Uint8Array>) read += chunk.length;
      } catch (error) {
        return text((error as Error).message);
      }
      return text('read');
    });
    const browser = await RawClient.connect(url);
    onTestFinished(() => browser.close());
    const chunked = head(0).replace('content-length: 0', 'transfer-encoding: chunked');
    await browser.send(`${chunked}${'1\r\nx\r\n'.repeat(490)}0\r\n\r\n`);
    await browser.until('read');
    await browser.send(`${chunked}${'1\r\nx\r\n'.repeat(500_000)}`);
    expect(await browser.ending()).toContain('the chunks are too small');
    expect(read).toBeLessThan(2_000);
    // Node parses whatever it has read: one buffer of it, besides the first body.
    expect(socket?.bytesRead).toBeLessThan(80_000);
  });

  it('lets a browser send on after an early response, but not in tiny chunks', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const url = await serveHandler(() => Promise.resolve(text('enough')));
    const browser = await RawClient.connect(url, { allowHalfOpen: true });
    onTestFinished(() => browser.close());
    await browser.send(head(0).replace('content-length: 0', 'transfer-encoding: chunked'));
    await browser.until('enough');
    const sends = async (chunk: string): Promise<void> => {
      await browser.send(chunk);
      await new Promise(setImmediate);
    };
    for (let count = 0; count < 20; count += 1) await sends(`14\r\n${'x'.repeat(20)}\r\n`);
    expect(browser.socket.closed).toBe(false);
    while (!browser.socket.closed) await sends('1\r\nx\r\n'.repeat(100));
  });

  it('ignores a second message after an early response', async () => {
    let served = 0;
    const url = await serveHandler(async ({ body }) => {
      served += 1;
      await (body as AsyncIterableIterator<Uint8Array>).return?.();
      return text('enough');
    });
    const browser = await RawClient.connect(url, { allowHalfOpen: true });
    onTestFinished(() => browser.close());
    await browser.send(head(4));
    await browser.until('enough');
    await browser.send(`rest${head(4)}rest`);
    browser.socket.end();
    expect(await browser.ending()).toMatch(/\r\nconnection: close\r\n/);
    expect(served).toBe(1);
  });

  it('lets 256 browsers send on after their response, and no more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const url = await serveHandler(() => Promise.resolve(text('enough')));
    const browsers: RawClient[] = [];
    onTestFinished(() => {
      for (const browser of browsers) browser.close();
    });
    for (let count = 0; count < 260; count += 1) {
      const browser = await RawClient.connect(url, { allowHalfOpen: true });
      browsers.push(browser);
      await browser.send(head(1_000_000));
      await browser.until('enough');
    }
    // A browser notices when it sends its next bytes.
    const goOn = async (browser: RawClient): Promise<void> => {
      for (let turn = 0; turn < 100 && !browser.socket.closed; turn += 1) {
        browser.socket.write(' '.repeat(100));
        await new Promise(setImmediate);
      }
    };
    const isClosed = ({ socket }: RawClient): boolean => socket.closed;
    await Promise.all(browsers.slice(-8).map(goOn));
    expect(browsers.slice(-8).map(isClosed)).toEqual([false, false, false, false, true, true, true, true]);
    vi.advanceTimersByTime(1_000);
    await Promise.all(browsers.map(goOn));
    expect(browsers.every(isClosed)).toBe(true);
  });

  it.each([
    ['204 without a body', { status: 204, headers: {}, body: null }, ''],
    ['200 without a body', { status: 200, headers: {}, body: null }, 'content-length: 0'],
    ['long text', text('x'.repeat(100_000)), 'content-length: 100000'],
    ['a stream', text(new Blob(['all of it']).stream()), 'all of it'],
  ])('sends an early response whole before its end: %s', async (_what, response, seen) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const url = await serveHandler(() => Promise.resolve(response));
    const browser = await RawClient.connect(url, { allowHalfOpen: true });
    onTestFinished(() => browser.close());
    await browser.send(head(1_000_000));
    expect(await browser.until('\r\n\r\n')).toMatch(/\r\nconnection: close\r\n/);
    await browser.until(seen);
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    expect(browser.socket.readableEnded).toBe(false);
    vi.advanceTimersByTime(1_000);
    await expect.poll(() => browser.socket.readableEnded).toBe(true);
  });

  it('closes the connection of an early response as soon as the whole message has arrived', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let closed: Promise<unknown> | undefined;
    const url = await serveHandler(
      () => Promise.resolve(text('enough')),
      undefined,
      ({ socket }) => (closed = once(socket, 'close')),
    );
    const browser = await RawClient.connect(url, { allowHalfOpen: true });
    onTestFinished(() => browser.close());
    await browser.send(head(4));
    await browser.until('enough');
    await browser.send('rest');
    await closed;
  });

  it.each<[string, HttpBody]>([
    ['text', 'grüezi'],
    ['bytes', Buffer.from('grüezi')],
    ['a Web stream', new Blob(['grü', 'ezi']).stream()],
  ])('writes a body of %s', async (_kind, body) => {
    const url = await serveHandler(() => Promise.resolve(text(body)));
    expect(await (await visit(url)).text()).toBe('grüezi');
  });

  it('adds its cookies and "Vary" to those of the host, and sends the length of a long body', async () => {
    const long = 'x'.repeat(100_000);
    const listener = nodeListener(
      [{ mount: '', handler: () => Promise.resolve(text(long, { 'set-cookie': ['b=2', 'c=3'], vary: ['a', 'b'] })) }],
      () => Promise.resolve(text('')),
    );
    const url = await serve((request, response) => {
      response.setHeader('set-cookie', 'a=1');
      response.setHeader('vary', 'of the host');
      listener(request, response);
    });
    const reply = await visit(url);
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2', 'c=3']);
    expect([reply.headers.vary, reply.headers['content-length']]).toEqual(['of the host, a, b', '100000']);
    expect(await reply.text()).toBe(long);
  });

  it.each(['write', 'end'] as const)('breaks the connection when the %s of a host throws', async (method) => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
    }
    const listener = nodeListener([{ mount: '', handler: () => Promise.resolve(text(body())) }], () =>
      Promise.resolve(text('')),
    );
    const url = await serve((request, response) => {
      response[method] = (): never => {
        throw new Error('of the host');
      };
      listener(request, response);
    });
    expect(await (await visit(url)).ending()).toMatchObject({ clean: false });
  });

  it('writes no body to a HEAD and releases it', async () => {
    let returned = false;
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('nobody reads this')),
        return: () => {
          returned = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    const url = await serveHandler(() => Promise.resolve(text(body, { 'x-head': 'yes' })));
    const reply = await visit(url, { method: 'HEAD' });
    expect(reply.headers['x-head']).toBe('yes');
    expect(await reply.text()).toBe('');
    expect(returned).toBe(true);
  });

  it('releases a body when the host has already responded', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('too late');
    }
    const late = body();
    const listener = nodeListener(
      [
        {
          mount: '',
          handler: async () => {
            await released;
            return text(late);
          },
        },
      ],
      () => Promise.resolve(text('')),
    );
    const url = await serve((request, response) => {
      listener(request, response);
      response.end('timed out');
    });
    expect(await (await visit(url)).text()).toBe('timed out');
    release();
    // A second request passes through the same event loop, so the first one is finished by then.
    await (await visit(url)).text();
    expect(await late.next()).toEqual({ done: true, value: undefined });
  });

  it.each([[[]], [['half']]])('sends the head of a body that breaks at once, after %j', async (pieces) => {
    async function* body(): AsyncGenerator<Uint8Array> {
      for (const piece of pieces) yield Buffer.from(piece);
      await Promise.reject(new Error('the platform broke'));
    }
    const reply = await visit(await serveHandler(() => Promise.resolve(text(body()))));
    expect(reply.status).toBe(200);
    expect(await reply.ending()).toEqual({ bytes: Buffer.from(pieces.join('')), clean: false });
  });

  it('passes an exception to the host', async () => {
    const errors: unknown[] = [];
    const broken = new Error('a bug');
    const url = await serveHandler(
      () => Promise.reject(broken),
      (error) => errors.push(error),
    );
    const reply = await visit(url);
    expect(reply.status).toBe(500);
    expect(await reply.text()).toBe('host');
    expect(errors).toEqual([broken]);
  });

  it('closes the connection on an exception without a host', async () => {
    const listener = nodeListener([{ mount: '', handler: () => Promise.reject(new Error('a bug')) }], () =>
      Promise.resolve(text('')),
    );
    await expect(visit(await serve((request, response) => listener(request, response)))).rejects.toThrow(
      'socket hang up',
    );
  });
});

describe('createNodeHandler', () => {
  const toolkit = createToolkit({ a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key' });

  it('responds 404 without a host', async () => {
    const handler = createNodeHandler({ toolkit });
    const url = await serve((request, response) => handler(request, response));
    const reply = await visit(url, { path: '/api/a2abc' });
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['Fastify its own', { raw: {}, url: '/api/a2a', headers: {} }, { raw: {}, send: () => undefined }],
    ["Fastify its own request with Node's response", { raw: {}, url: '/api/a2a', headers: {} }, { setHeader: () => 1 }],
    ['Koa its context and next', { url: '/api/a2a', headers: {}, req: {}, res: {} }, () => Promise.resolve()],
    ['Hono a Web request', new Request('https://site.example/api/a2a'), undefined],
    ['nothing at all', undefined, undefined],
  ])('names the right objects when passed by %s', (_who, request, response) => {
    const handler = createNodeHandler({ toolkit });
    expect(() => handler(request as never, response as never)).toThrow(
      "Pass Node's request and response: in Fastify request.raw and reply.raw, in Koa context.req and context.res.",
    );
  });

  it.each(['/bff', '/bff/', '/bff//'])('serves the routes below the base path %s', async (basePath) => {
    const handler = createNodeHandler({ toolkit, basePath });
    const url = await serve((request, response) => handler(request, response, () => response.end('host')));
    expect((await visit(url, { path: '/bff/a2a', method: 'GET' })).status).toBe(405);
    expect(await (await visit(url, { path: '/api/a2a' })).text()).toBe('host');
  });

  it('works as middleware below a router that cut off the mount', async () => {
    const handler = createNodeHandler({ toolkit });
    const server = createServer((request, response) => {
      Object.assign(request, { originalUrl: request.url, url: '/' });
      handler(request, response, () => response.end('host'));
    });
    const url = await serve((request, response) => server.emit('request', request, response));
    expect((await visit(url, { method: 'GET' })).status).toBe(405);
  });
});
