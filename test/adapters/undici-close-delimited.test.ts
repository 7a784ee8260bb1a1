import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { HttpResponse } from '../../src/ports/http.js';
import { responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A close-delimited response and its connection. */
async function answered(type: string, bytes: string, method = 'POST'): Promise<[HttpResponse, Socket]> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(
        `HTTP/1.1 200 OK\r\n${type === '' ? '' : `content-type: ${type}\r\n`}connection: close\r\n\r\n${bytes}`,
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const upstream = new UndiciUpstream({ connectMs: 1_000 });
  closers.push(
    () => upstream.close(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const response = responseOf(await upstream.send(upstreamRequest(origin, { method })));
  return [response, (await connected)[0]];
}

/** Reads a whole body. Its connection ends after its bytes have arrived, so that the end does not overtake them. */
async function bodyOf(type: string, bytes: string, end: (socket: Socket) => void): Promise<string> {
  const [{ body }, socket] = await answered(type, bytes);
  let seen = '';
  const decoder = new TextDecoder();
  if (bytes === '') end(socket);
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    seen += decoder.decode(chunk, { stream: true });
    if (seen.length >= bytes.length) end(socket);
  }
  return seen;
}

const close = (socket: Socket): void => void socket.end();
const reset = (socket: Socket): void => void socket.resetAndDestroy();
const ways: readonly (readonly [string, typeof close])[] = [
  ['closed', close],
  ['reset', reset],
];
const EVENTS = 'text/event-stream';
const JSON_TYPE = 'application/json; charset=utf-8';

describe.each(ways)('a response without length or chunks, on a connection that is %s,', (_how, end) => {
  it.each(['data: {"half', 'data: one\n\ndata: {"half', 'data: one\n'])('breaks inside an event: %j', async (bytes) => {
    await expect(bodyOf(EVENTS, bytes, end)).rejects.toThrow();
  });

  it.each(['{"a":[1,2', '{"a":"}', '{"a":"\\"}', '[{"a":1}', '{"a":1', '"half'])(
    'breaks inside a JSON text: %j',
    async (bytes) => {
      await expect(bodyOf(JSON_TYPE, bytes, end)).rejects.toThrow();
      await expect(bodyOf('application/problem+json', bytes, end)).rejects.toThrow();
    },
  );
});

describe('a response without length or chunks', () => {
  it.each(['data: one\n\n', 'data: one\r\n\r\n', 'data: one\r\r', 'data: one\n\r\n', ''])(
    'is complete when it ends after an event: %j',
    async (bytes) => {
      expect(await bodyOf(EVENTS, bytes, close)).toBe(bytes);
    },
  );

  it.each(['{"a":[1,"]}\\""]}', '[]\n', '"}"', '12', 'null', ''])(
    'is complete when it ends after a JSON text: %j',
    async (bytes) => {
      expect(await bodyOf(JSON_TYPE, bytes, close)).toBe(bytes);
    },
  );

  it.each([
    [EVENTS, 'data: one\n\n'],
    [JSON_TYPE, '{"a":1}'],
    ['text/css', 'a { color: red }'],
    ['', 'bytes'],
  ])('is broken by a reset at any place: %s %j', async (type, bytes) => {
    await expect(bodyOf(type, bytes, reset)).rejects.toThrow();
  });

  it('passes unchanged when it is a compressed stream of events', async () => {
    const bytes = gzipSync('data: one\n\n');
    const server = createServer((socket) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${EVENTS}\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n`;
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), bytes])));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const upstream = new UndiciUpstream({ connectMs: 1_000 });
    closers.push(
      () => upstream.close(),
      () => new Promise((resolve) => server.close(resolve)),
    );
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const { body, closeDelimited } = responseOf(await upstream.send(upstreamRequest(origin)));
    const chunks: Uint8Array[] = [];
    for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    expect(closeDelimited).toBe(true);
  });

  it('is marked as such when its type does not show its end', async () => {
    const [css, socket] = await answered('text/css', 'a { color: ');
    expect(css.closeDelimited).toBe(true);
    close(socket);
    expect(await textOf(css.body)).toBe('a { color: ');
  });

  it.each([JSON_TYPE, EVENTS])('is not marked when its bytes show its end: %s', async (type) => {
    const [response, socket] = await answered(type, '');
    expect(response.closeDelimited).toBeUndefined();
    close(socket);
    await textOf(response.body);
  });

  it('is not marked without a body', async () => {
    const [response, socket] = await answered('text/css', '', 'HEAD');
    expect(response.closeDelimited).toBeUndefined();
    close(socket);
    await textOf(response.body);
  });
});
