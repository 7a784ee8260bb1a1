import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { HttpResponse } from '../../src/ports/http.js';
import { responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { socketServer } from '../support/socket-server.js';

/** Enough that no more is read from the connection until a reader takes it. */
const FULL = 'x'.repeat(65_536);
const LENGTH = `content-length: ${String(FULL.length)}\r\n`;
const CLOSE = 'connection: close\r\n';
const CHUNK = `${FULL.length.toString(16)}\r\n${FULL}`;

const end = (socket: Socket): void => void socket.end();
const reset = (socket: Socket): void => void socket.resetAndDestroy();

interface Late {
  readonly response: HttpResponse;
  /** Sends another request, so that the process takes a turn in which what was sent before arrives. */
  readonly turn: () => Promise<unknown>;
  /** The platform's end of the connection. */
  readonly socket: Socket;
}

/** A response whose reader has not taken the first byte. */
async function openLate(fields: string, body: string): Promise<Late> {
  let answered: Socket | undefined;
  const host = await socketServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n${answered ? 'content-length: 0\r\n' : fields}\r\n`);
      if (answered === undefined) socket.write(body);
      answered ??= socket;
    });
  });
  const upstream = new UndiciUpstream({ connectMs: 1_000 });
  onTestFinished(() => upstream.close({ graceMs: 0 }));
  const response = responseOf(await upstream.send(upstreamRequest(`http://${host}`)));
  if (answered === undefined) throw new Error('no response');
  return { response, socket: answered, turn: async () => upstream.send(upstreamRequest(`http://${host}`)) };
}

/** Reads a response whose connection ended before its reader took the first byte. */
async function readLate(fields: string, body: string, leave: (socket: Socket) => void): Promise<string> {
  const { response, socket, turn } = await openLate(fields, body);
  await turn();
  leave(socket);
  await turn();
  await turn();
  return textOf(response.body);
}

describe('a response whose reader waits', () => {
  it('stays with the platform, and arrives whole once it is read', async () => {
    // More than the buffers of two sockets.
    const body = 'x'.repeat(33_554_432);
    const { response, socket, turn } = await openLate(`content-length: ${String(body.length)}\r\n`, body);
    for (let turns = 0; turns < 200; turns += 1) await turn();
    expect(socket.writableLength).toBeGreaterThan(0);
    expect((await textOf(response.body)).length).toBe(body.length);
  });
});

describe('a response whose connection ends while its reader waits', () => {
  it.each<[string, string, (socket: Socket) => void]>([
    ['the platform keeps connections open for a while', LENGTH, end],
    ['the platform closes each connection', LENGTH + CLOSE, end],
    ['the platform resets each connection', LENGTH + CLOSE, reset],
    ['it has no length', CLOSE, end],
  ])('arrives whole if %s', async (_how, fields, leave) => {
    expect(await readLate(fields, FULL, leave)).toBe(FULL);
  });

  it('lets its connection close once it is complete', async () => {
    let isClosed = false;
    const host = await socketServer((socket) => {
      socket.on('error', () => undefined).once('close', () => (isClosed = true));
      // Otherwise undici closes it after four seconds without a request.
      const fields = `content-type: text/plain\r\nkeep-alive: timeout=300\r\n${LENGTH}`;
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${fields}\r\n${FULL}`));
    });
    const upstream = new UndiciUpstream({ connectMs: 1_000 });
    onTestFinished(() => upstream.close({ graceMs: 0 }));
    const { body } = responseOf(await upstream.send(upstreamRequest(`http://${host}`)));
    await expect.poll(() => isClosed).toBe(true);
    expect(await textOf(body)).toBe(FULL);
  });

  it.each<[string, string, string, (socket: Socket) => void]>([
    ['half of its length', `content-length: 99999\r\n${CLOSE}`, FULL, end],
    ['half of its length, on a connection that stays open', 'content-length: 99999\r\n', FULL, end],
    ['half of its chunks', `transfer-encoding: chunked\r\n${CLOSE}`, CHUNK, end],
    ['no length, and a reset', CLOSE, FULL, reset],
  ])('breaks with %s', async (_how, fields, body, leave) => {
    await expect(readLate(fields, body, leave)).rejects.toThrow();
  });
});
