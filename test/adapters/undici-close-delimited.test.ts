import { type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { onTestFinished, describe, expect, it } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { HttpResponse } from '../../src/ports/http.js';
import { responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { socketServer } from '../support/socket-server.js';

/** A close-delimited response and its connection. */
async function answered(fields: string, bytes: string | Buffer, method = 'POST'): Promise<[HttpResponse, Socket]> {
  let connected: (socket: Socket) => void;
  const connection = new Promise<Socket>((resolve) => (connected = resolve));
  const host = await socketServer((socket) => {
    connected(socket);
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\n${fields === '' ? '' : `content-type: ${fields}\r\n`}connection: close\r\n\r\n`);
      socket.write(bytes);
    });
  });
  const upstream = new UndiciUpstream({ connectMs: 1_000 });
  onTestFinished(() => upstream.close({ graceMs: 0 }));
  const response = responseOf(await upstream.send(upstreamRequest(`http://${host}`, { method })));
  return [response, await connection];
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
    const [{ body, closeDelimited }, socket] = await answered(`${EVENTS}\r\ncontent-encoding: gzip`, bytes);
    socket.end();
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

  it.each([JSON_TYPE, EVENTS, `${EVENTS}\r\ncontent-encoding: identity`])(
    'is not marked when its bytes show its end: %s',
    async (type) => {
      const [response, socket] = await answered(type, '');
      expect(response.closeDelimited).toBeUndefined();
      close(socket);
      await textOf(response.body);
    },
  );

  it('is not marked without a body', async () => {
    const [response, socket] = await answered('text/css', '', 'HEAD');
    expect(response.closeDelimited).toBeUndefined();
    close(socket);
    await textOf(response.body);
  });
});

it.each([
  ['content-length: 2', '["'],
  ['transfer-encoding: chunked', '2\r\n["\r\n0\r\n\r\n'],
])('a response with %s ends where that says, whatever its text', async (field, bytes) => {
  const [response] = await answered(`${JSON_TYPE}\r\n${field}`, bytes);
  expect([await textOf(response.body), response.closeDelimited]).toEqual(['["', undefined]);
});
