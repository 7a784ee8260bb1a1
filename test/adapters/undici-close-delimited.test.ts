import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import { textOf } from '../contracts/http-upstream.contract.js';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The body of an answer that only the end of its connection ends. */
async function bodyOf(bytes: string, end: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(HEAD + bytes, () => setImmediate(() => end(socket))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream = new UndiciUpstream({ connectMs: 1_000 });
  closers.push(
    () => upstream.close(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  const outcome = await upstream.send({
    method: 'POST',
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    path: '/',
    headers: {},
    body: '{}',
    signal: new AbortController().signal,
    headersMs: 5_000,
    bodyIdleMs: 5_000,
  });
  if (outcome.kind === 'failure') throw new Error(outcome.detail);
  return textOf(outcome.response.body);
}

const ways: readonly (readonly [string, (socket: Socket) => void])[] = [
  ['closed', (socket) => socket.end()],
  ['reset', (socket) => socket.resetAndDestroy()],
];

describe.each(ways)('an event stream without length or chunks whose connection is %s', (_how, end) => {
  it.each(['data: {"half', 'data: one\n\ndata: {"half', 'data: one\n'])(
    'inside an event is broken: %j',
    async (bytes) => {
      await expect(bodyOf(bytes, end)).rejects.toThrow('the connection ended inside an event');
    },
  );

  it.each(['data: one\n\n', 'data: one\r\n\r\n', 'data: one\r\r', 'data: one\n\r\n'])(
    'after an event is complete: %j',
    async (bytes) => {
      expect(await bodyOf(bytes, end)).toBe(bytes);
    },
  );
});
