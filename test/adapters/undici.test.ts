import { once } from 'node:events';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { HttpResponse, UpstreamFailureReason } from '../../src/ports/http.js';
import { httpUpstreamContract, responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { type Answer, RecordingUpstream, refusedOrigin } from '../support/recording-upstream.js';
import { runUndiciWorld } from './undici-world.js';

httpUpstreamContract('UndiciUpstream', async () => {
  const platform = await RecordingUpstream.start();
  const upstream = new UndiciUpstream({ connectMs: 5_000 });
  return {
    upstream,
    origin: platform.origin,
    willAnswer: ({ status, headers, chunks, breaks }) => {
      platform.willAnswer((exchange) => {
        exchange.head(status, headers);
        for (const chunk of chunks) exchange.write(chunk);
        if (breaks === true) exchange.fin();
        else exchange.end();
      });
    },
    willBeGone: () => {
      platform.willAnswer((exchange) => exchange.reset());
    },
    received: () =>
      platform.requests.map(({ method, target, body, fields }) => ({
        method,
        path: target,
        body: body.toString(),
        field: fields.find(([name]) => name === 'x-test')?.[1] ?? '',
      })),
    close: async () => {
      await platform.close();
      await upstream.close();
    },
  };
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('UndiciUpstream', () => {
  const world = runUndiciWorld();
  const { send, opened } = world;
  const iterate = (response: HttpResponse): AsyncIterator<Uint8Array> =>
    (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();

  it('gives the head before the body has begun', async () => {
    const { exchange, response } = await opened();
    expect(response.status).toBe(200);
    exchange.end('late');
    expect(await textOf(response.body)).toBe('late');
  });

  it.each([
    ['application/json', true],
    ['text/event-stream', false],
  ])('gives a short answer of %s that comes with its head as bytes: %s', async (type, isBytes) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: 2\r\n\r\n`;
    const server = createNetServer((socket) => socket.once('data', () => socket.end(`${head}\n\n`)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const { body } = responseOf(await send({ origin }));
    expect(body instanceof Uint8Array).toBe(isBytes);
    expect(await textOf(body)).toBe('\n\n');
    server.close();
  });

  it('gives each chunk when it comes', async () => {
    const { exchange, response } = await opened();
    const chunks = iterate(response);
    for (const text of ['one', 'two', 'three']) {
      exchange.write(text);
      expect(Buffer.from((await chunks.next()).value as Uint8Array).toString()).toBe(text);
    }
    exchange.end();
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  const faults: readonly [string, Answer, UpstreamFailureReason][] = [
    ['a connection that is reset', (exchange) => exchange.reset(), 'reset'],
    ['a connection that ends', (exchange) => exchange.fin(), 'reset'],
    ['a half head', (exchange) => exchange.raw('HTTP/1.1 200 OK\r\nCon').fin(), 'reset'],
    ['an answer in another protocol', (exchange) => void exchange.raw('SSH-2.0-OpenSSH\r\n\r\n'), 'invalid'],
    ['a bare line feed', (exchange) => void exchange.raw('HTTP/1.1 200 OK\nX: 1\n\n'), 'invalid'],
    [
      'two lengths',
      (exchange) => void exchange.raw('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      'invalid',
    ],
    ['a status of 000', (exchange) => void exchange.raw('HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'), 'invalid'],
    ['a status of 600', (exchange) => void exchange.raw('HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n'), 'invalid'],
    [
      'an upgrade',
      (exchange) => void exchange.raw('HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      'invalid',
    ],
    [
      'a head without an end',
      (exchange) => void exchange.raw(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(99_999)}`),
      'invalid',
    ],
  ];
  it.each(faults)('says what is wrong with %s', async (_what, answer, reason) => {
    world.platform.willAnswer(answer);
    expect(await send()).toMatchObject({ kind: 'failure', reason });
    expect(world.platform.requests).toHaveLength(1);
  });

  // On Node 20 the message of such an assertion costs minutes where the package is bundled.
  it.each(['000', '099', '101'])('meets no assertion of the client with a status of %s', async (status) => {
    world.platform.willAnswer((exchange) => void exchange.raw(`HTTP/1.1 ${status} X\r\nContent-Length: 2\r\n\r\n{}`));
    expect(await send()).toMatchObject({ reason: 'invalid', detail: `Error: status ${String(Number(status))}` });
  });

  it.each([
    ['a coding upon a coding', 'Content-Encoding: gzip, gzip', 'gzip'],
    ['two fields of codings', 'Content-Encoding: gzip\r\nContent-Encoding: gzip', 'gzip'],
    ['an unknown coding', 'Content-Encoding: rot13', 'gzip, br'],
    ['a coding that was not asked for', 'Content-Encoding: zstd', 'identity'],
  ])('takes a response with %s for an invalid one', async (_what, fields, accepted) => {
    world.platform.willAnswer(
      (exchange) => void exchange.raw(`HTTP/1.1 200 OK\r\n${fields}\r\nContent-Length: 2\r\n\r\n{}`),
    );
    expect(await send({ headers: { 'accept-encoding': accepted } })).toMatchObject({
      reason: 'invalid',
      detail: 'Error: unreadable content-encoding',
    });
  });

  it('reads a coding that was asked for', async () => {
    world.platform.willAnswer((exchange) => exchange.head(200, { 'content-encoding': 'zstd' }).end('x'));
    expect(responseOf(await send({ headers: { 'accept-encoding': 'br, zstd;q=0.5' } })).status).toBe(200);
  });

  it('leaves out an unsolicited 100 wherever the network cuts it, and nothing else', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n';
    const bytes = `${interim}HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 12\r\n\r\nHTTP/1.1 100`;
    let cut = 0;
    const server = createNetServer((socket) => {
      socket.setNoDelay().on('error', () => undefined);
      socket.on('data', () => {
        cut += 1;
        socket.write(bytes.slice(0, cut), () => {
          setImmediate(() => socket.write(bytes.slice(cut)));
        });
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    while (cut < bytes.length - 1) {
      const { body } = responseOf(await send({ origin, body: null, method: 'GET' }));
      expect(await textOf(body), `cut at ${String(cut)}`).toBe('HTTP/1.1 100');
    }
    expect(await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))).toBe(1);
    server.close();
  });

  it('says that nobody listens', async () => {
    expect(await send({ origin: await refusedOrigin() })).toMatchObject({ kind: 'failure', reason: 'unreachable' });
  });

  it('says that a name is unknown', async () => {
    expect(await send({ origin: 'http://nobody.invalid' })).toMatchObject({ kind: 'failure', reason: 'unreachable' });
  });

  it('says that no head came in time, and lets go of the connection', async () => {
    world.platform.willWait();
    const pending = send({ headersMs: 50 });
    const exchange = await world.platform.next();
    expect(await pending).toMatchObject({ kind: 'failure', reason: 'timeout' });
    await exchange.closed;
  });

  it('says that no connection came in time', async () => {
    // A listener that never finishes a TLS handshake is as slow as a network can be.
    const silent = createNetServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const impatient = new UndiciUpstream({ connectMs: 50 });
    const origin = `https://127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
    expect(await impatient.send(upstreamRequest(origin))).toMatchObject({ kind: 'failure', reason: 'timeout' });
    await impatient.close();
    silent.close();
  });

  it('sends nothing for a browser that has already left', async () => {
    expect(await send({ signal: AbortSignal.abort() })).toMatchObject({ kind: 'failure', reason: 'aborted' });
    expect(world.platform.requests).toEqual([]);
  });

  it('gives up a request at once when the browser leaves before the head', async () => {
    world.platform.willWait();
    const browser = new AbortController();
    const pending = send({ signal: browser.signal });
    const exchange = await world.platform.next();
    browser.abort();
    expect(await pending).toMatchObject({ kind: 'failure', reason: 'aborted' });
    await exchange.closed;
    expect(exchange.aborted).toBe(true);
  });

  it('gives up a request at once when the browser leaves before there is a connection', async () => {
    const browser = new AbortController();
    const pending = send({ signal: browser.signal });
    browser.abort();
    expect(await pending).toMatchObject({ kind: 'failure', reason: 'aborted' });
  });

  it('gives up an answer when the browser leaves in the middle of it', async () => {
    const browser = new AbortController();
    const { exchange, response } = await opened({ signal: browser.signal });
    const next = iterate(response).next();
    browser.abort();
    await expect(next).rejects.toThrow();
    await exchange.closed;
  });

  it('gives up an answer when its reader stops', async () => {
    const { exchange, response } = await opened();
    const chunks = iterate(response);
    exchange.write('one');
    await chunks.next();
    await chunks.return?.();
    await exchange.closed;
    expect(exchange.aborted).toBe(true);
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  it('forgets the browser when the answer is complete', async () => {
    const browser = new AbortController();
    await textOf(responseOf(await send({ signal: browser.signal })).body);
    browser.abort();
    const { exchange, response } = await opened();
    exchange.end('still here');
    expect(await textOf(response.body)).toBe('still here');
  });

  it('stops reading when its reader does, and goes on with him', async () => {
    const { exchange, response } = await opened();
    const total = 64 * 1_048_576;
    let written = 0;
    const flood = (): void => {
      while (written < total) {
        written += 65_536;
        if (!exchange.response.write(Buffer.alloc(65_536))) return void exchange.response.once('drain', flood);
      }
      exchange.end();
    };
    flood();
    let before = -1;
    while (before !== written) {
      before = written;
      world.platform.willAnswerAgain();
      for (let count = 0; count < 25; count += 1) await textOf(responseOf(await send()).body);
    }
    expect(written).toBeLessThan(32 * 1_048_576);
    let received = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) received += chunk.length;
    expect(received).toBe(total);
  });

  it('breaks an answer that is silent for too long', async () => {
    const { exchange, response } = await opened({ bodyIdleMs: 50 });
    exchange.write('{');
    await expect(textOf(response.body)).rejects.toThrow('silent for too long');
    await exchange.closed;
  });

  it('lets a stream of events be silent for as long as it likes', async () => {
    const json = await opened({ bodyIdleMs: 50 });
    const stream = await opened({ bodyIdleMs: 50 }, 'text/event-stream; charset=utf-8');
    await expect(textOf(json.response.body)).rejects.toThrow('silent for too long');
    await expect(textOf((await opened({ bodyIdleMs: 50 })).response.body)).rejects.toThrow('silent for too long');
    stream.exchange.end('data: at last\n\n');
    expect(await textOf(stream.response.body)).toBe('data: at last\n\n');
  });

  it('does not take a slow reader for a silent platform', async () => {
    const slow = await opened({ bodyIdleMs: 500 });
    slow.exchange.end(Buffer.alloc(8 * 1_048_576));
    const other = await opened({ bodyIdleMs: 1_000 });
    await expect(textOf(other.response.body)).rejects.toThrow('silent for too long');
    expect((await textOf(slow.response.body)).length).toBe(8 * 1_048_576);
  });

  it('does not decode what is compressed', async () => {
    world.platform.willAnswer((exchange) => exchange.head(200, { 'content-encoding': 'gzip' }).end('not gzip at all'));
    expect(await textOf(responseOf(await send()).body)).toBe('not gzip at all');
  });

  it.each([1, 4_096, 4_097, 3_000_000])('sends %i bytes with their length, on one connection', async (length) => {
    const body = new Uint8Array(length).fill(0x61);
    world.platform.willAnswer((exchange) => exchange.end('{}'));
    for (let count = 0; count < 2; count += 1) await textOf(responseOf(await send({ method: 'POST', body })).body);
    const received = world.platform.requests.map((request) => ({
      isWhole: request.body.equals(body),
      framing: request.fields.filter(([name]) => name === 'content-length' || name === 'transfer-encoding'),
    }));
    const whole = { isWhole: true, framing: [['content-length', String(length)]] };
    expect(received).toEqual([whole, whole]);
    expect(await world.platform.connections()).toBe(1);
  });

  it('keeps nothing of a long message while its stream is open', async () => {
    const message = new WeakRef(new Uint8Array(100_000));
    const { exchange, response } = await opened({ method: 'POST', body: message.deref() ?? null }, 'text/event-stream');
    await vi.waitFor(() => {
      collectGarbage();
      expect(message.deref()).toBeUndefined();
    });
    exchange.end('data: 1\n\n');
    expect(await textOf(response.body)).toBe('data: 1\n\n');
  });

  it('opens as many connections as there are open answers, and uses them again', async () => {
    world.platform.willWait();
    const pending = Array.from({ length: 150 }, () => send());
    const exchanges = await Promise.all(pending.map(() => world.platform.next()));
    expect(await world.platform.connections()).toBe(150);
    for (const exchange of exchanges) exchange.end('{}');
    for (const outcome of await Promise.all(pending)) await textOf(responseOf(outcome).body);
    world.platform.willAnswerAgain();
    for (let count = 0; count < 20; count += 1) await textOf(responseOf(await send()).body);
    // A connection is free one turn of the event loop after its answer, so a hasty caller may open one more.
    expect(await world.platform.connections()).toBeLessThanOrEqual(151);
  });

  it('opens no connection in place of those of streams whose browsers left', async () => {
    const browsers = Array.from({ length: 20 }, () => new AbortController());
    const open = await Promise.all(browsers.map(({ signal }) => opened({ signal }, 'text/event-stream')));
    for (const browser of browsers) browser.abort();
    await Promise.all(open.map(({ exchange }) => exchange.closed));
    // Whatever is opened instead is opened within the next turns.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(await world.platform.connections()).toBe(0);
  });
});
