import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeListener } from '../../src/adapters/node/node-listener.js';
import type { HttpBody, HttpHandler } from '../../src/ports/http.js';
import { arrive } from '../support/http2-site.js';
import { StalledVisitor } from '../support/stalled-visitor.js';
import { handlerOf, type Listener, LONG, PATH, serve, wholeBodySuite } from '../support/whole-bodies.js';

const listenerOf = (handler: HttpHandler): Listener =>
  nodeListener([{ mount: '/api/a2a', handler }], handler) as Listener;

describe('over HTTP/1.1', () => {
  wholeBodySuite(listenerOf);

  it('resets a connection that does not read, so that the system discards what it had buffered', async () => {
    const { url, closed } = await serve(createServer(), listenerOf(handlerOf(() => LONG, 200)));
    const visitor = await StalledVisitor.arrive(url, PATH);
    await closed;
    expect(await visitor.readOn()).toBeLessThan(await bytesAfterClose());
  });
});

/** The bytes that arrive over a connection that is only closed: all that the system had buffered. */
async function bytesAfterClose(): Promise<number> {
  const { url, closed } = await serve(createServer(), async (_request, response) => {
    let written = 0;
    const writeOn = (): void => {
      do written += 65_536;
      while (response.write(LONG.subarray(0, 65_536)));
    };
    response.on('drain', writeOn);
    writeOn();
    let before: number | undefined;
    const isStill = (): boolean => before === (before = written);
    await expect.poll(isStill, { interval: 50 }).toBe(true);
    response.destroy();
  });
  const visitor = await StalledVisitor.arrive(url, PATH);
  await closed;
  return visitor.readOn();
}

describe('over HTTP/2', () => {
  /** An endless body that records its cancellation. */
  function endless() {
    let giveUp: (reason: unknown) => void = () => undefined;
    const givenUp = new Promise<unknown>((resolve) => (giveUp = resolve));
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: LONG.subarray(0, 65_536) }),
        return: (reason?: unknown) => {
          giveUp(reason);
          return Promise.resolve({ done: true as const, value: undefined });
        },
      }),
    };
    return { body: body as AsyncIterable<Uint8Array>, givenUp };
  }

  const serveHttp2 = (body: () => HttpBody, sendIdleMs: number) =>
    serve(createHttp2Server(), listenerOf(handlerOf(body, sendIdleMs)));

  it('resets only the stream that the browser does not read', async () => {
    const { body, givenUp } = endless();
    const { url } = await serveHttp2(() => body, 200);
    const visitor = await arrive(url);
    const reply = await visitor.visit({ method: 'GET', path: PATH });
    expect(await givenUp).toMatchObject({ message: expect.stringContaining('sendIdleMs') as string });
    expect(await reply.ending()).toMatchObject({ clean: false, code: 2 });
    expect(await (await visitor.visit({ path: '/api/a2a' })).text()).toBe('short');
  });

  it('cuts a whole body that the browser does not read', async () => {
    const { url, closed } = await serveHttp2(() => LONG, 200);
    const reply = await (await arrive(url)).visit({ method: 'GET', path: PATH });
    await closed;
    expect((await reply.ending()).bytes.length).toBeLessThan(LONG.length);
  });

  it('sends a whole body to a slow browser', async () => {
    const { url } = await serveHttp2(() => LONG, 1_000);
    const visitor = await arrive(url);
    const { stream } = visitor.start({ method: 'GET', path: PATH });
    const began = performance.now();
    let received = 0;
    for await (const chunk of stream) {
      received += (chunk as Buffer).length;
      while (performance.now() - began < (received / LONG.length) * 2_000) {
        await (await visitor.visit({ path: '/api/a2a' })).text();
      }
    }
    expect(received).toBe(LONG.length);
  });

  it('closes a connection that does not read', async () => {
    const { body, givenUp } = endless();
    const { url, closed } = await serveHttp2(() => body, 200);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).pause();
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    // The browser does not limit the flow; only the sockets hold the server back.
    const widest = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(frame(4, 0, 0, Buffer.concat([Buffer.from([0, 4]), widest])));
    socket.write(frame(8, 0, 0, Buffer.from([0x7f, 0xfe, 0xff, 0xff])));
    const text = (value: string): Buffer => Buffer.from(String.fromCharCode(value.length) + value);
    const fields = [Buffer.from([0x82, 0x86, 0x04]), text(PATH), Buffer.from([0x01]), text('site.example')];
    socket.write(frame(1, 0x5, 1, Buffer.concat(fields)));
    await givenUp;
    await closed;
  });
});

/** A frame of HTTP/2 (RFC 9113 §4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
