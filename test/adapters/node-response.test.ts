import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { respond } from '../../src/adapters/node/exchange.js';
import { writeHttpResponse } from '../../src/adapters/node/response.js';
import type { HttpBody } from '../../src/ports/http.js';
import { PushStream } from './web/push-stream.js';

/** A response that was handed a body. Its browser accepts bytes only when the test lets it. */
function handed(body: HttpBody, sendIdleMs = 0) {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const accepted: (() => void)[] = [];
  let sent = 0;
  const socket = new Writable({
    highWaterMark: 1_000,
    write: (chunk: Uint8Array, _coding, done) => {
      sent += chunk.length;
      accepted.push(done);
    },
  });
  response.assignSocket(socket as Socket);
  const headers = { 'x-absent': undefined, 'x-present': 'yes' };
  writeHttpResponse(response, { status: 201, headers, body, sendIdleMs });
  const acceptOne = async (): Promise<void> => {
    accepted.shift()?.();
    await new Promise(setImmediate);
  };
  const accept = async (): Promise<void> => {
    // What was written in this turn reaches the socket in the next.
    await new Promise(setImmediate);
    while (socket.writableLength > 0) await acceptOne();
    response.emit('drain');
  };
  return { response, acceptOne, accept, sent: () => sent };
}

const LONG = 'x'.repeat(2_000);
const turn = (): Promise<unknown> => new Promise(setImmediate);

describe('a streaming body', () => {
  it('waits until the browser has accepted what it got', async () => {
    const body = new PushStream();
    const { response, accept } = handed(body);
    body.push(LONG);
    await turn();
    expect(body.pulls).toBe(1);
    await accept();
    response.emit('drain');
    expect(body.pulls).toBe(2);
    body.push('short');
    await turn();
    expect(body.pulls).toBe(3);
  });

  it('is cancelled when the browser accepts nothing', async () => {
    const body = new PushStream();
    const { response } = handed(body, 2);
    body.push(LONG);
    await expect.poll(() => body.reason?.message).toContain('timeouts.sendIdleMs');
    expect([response.destroyed, body.pulls]).toEqual([true, 1]);
  });

  it('is cancelled when the browser accepts nothing while small chunks keep coming', async () => {
    const body = new PushStream();
    const { response } = handed(body, 40);
    const drip = setInterval(() => body.push('x'), 2);
    onTestFinished(() => clearInterval(drip));
    await expect.poll(() => body.reason?.message).toContain('timeouts.sendIdleMs');
    expect(response.destroyed).toBe(true);
  });

  it('is not cancelled while the browser accepts a part within the time, or all of it is accepted', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const body = new PushStream();
    const { response, acceptOne, accept } = handed(body, 40);
    body.push(LONG);
    await turn();
    await turn();
    await acceptOne();
    vi.advanceTimersByTime(40);
    expect([body.reason, response.destroyed]).toEqual([undefined, false]);
    await accept();
    vi.advanceTimersByTime(1_000);
    expect(body.reason).toBeUndefined();
    body.push(LONG);
    await turn();
    vi.advanceTimersByTime(40);
    expect(body.reason).toBeDefined();
  });

  it('adds no listeners when the browser is slow again and again', async () => {
    const body = new PushStream();
    const { response, accept } = handed(body, 60_000);
    const listeners: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      for (const chunk of ['some', 'more', LONG]) body.push(chunk);
      await turn();
      await turn();
      listeners.push(response.listenerCount('close'));
      await accept();
    }
    expect(listeners).toEqual(listeners.map(() => listeners[0]));
  });

  it('is cancelled when the browser leaves, and wants no further chunk', async () => {
    const body = new PushStream();
    const { response } = handed(body);
    response.emit('close');
    expect(body.returned).toBe(true);
    body.push('more');
    response.emit('drain');
    body.end();
    await turn();
    expect([body.pulls, response.writableEnded]).toEqual([1, false]);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['left', (response) => response.destroy()],
    ['been answered by the host', (response) => response.flushHeaders()],
  ])('is cancelled at once when the browser has %s', (_what, happened) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    happened(response);
    const body = new PushStream();
    const late = { status: 201, headers: { 'x-late': 'yes' }, body };
    writeHttpResponse(response, late);
    expect([body.returned, response.statusCode]).toEqual([true, 200]);
  });

  it('is not written to a response that was destroyed', async () => {
    const body = new PushStream();
    const { response } = handed(body);
    response.destroy();
    body.push('more');
    body.end();
    await turn();
    expect(response.writableEnded).toBe(false);
  });

  it('is not cancelled at the end of a complete response', async () => {
    const body = new PushStream();
    const { response, accept } = handed(body);
    body.push('all');
    body.end();
    await turn();
    await accept();
    response.emit('close');
    expect([response.statusCode, response.writableFinished, body.returned]).toEqual([201, true, false]);
  });
});

describe('a whole body', () => {
  it.each([null, '', 'short'])('of %j ends the response', (body) => {
    const { response } = handed(body);
    expect([response.writableEnded, response.getHeaderNames()]).toEqual([true, ['x-present']]);
  });

  it('is cut when the browser does not accept all of it', async () => {
    const { response } = handed('x'.repeat(50_000), 2);
    await expect.poll(() => response.destroyed).toBe(true);
  });

  it('is not cut once the browser has accepted all of it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { response, accept, sent } = handed('x'.repeat(50_000), 40);
    vi.advanceTimersByTime(39);
    await accept();
    vi.advanceTimersByTime(1_000);
    expect([response.writableFinished, response.destroyed]).toEqual([true, false]);
    expect(sent()).toBeGreaterThan(50_000);
  });

  it.each([
    ['bytes', new Uint8Array(200_000)],
    ['text', 'ü'.repeat(100_000)],
  ])('of many %s goes on in pieces, which share its memory, with its length', async (_kind, body) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET' });
    const answer = { status: 200, headers: {}, body };
    const given = await respond(request, new ServerResponse(request), () => Promise.resolve(answer));
    if (given === undefined) throw new Error('there is no response');
    const pieces: Uint8Array[] = [];
    for await (const piece of given.body as AsyncIterable<Uint8Array>) pieces.push(piece);
    expect(pieces.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 3_392]);
    expect(new Set(pieces.map(({ buffer }) => buffer)).size).toBe(1);
    expect(given.headers['content-length']).toBe('200000');
  });

  it('to a HEAD is released', async () => {
    const request = Object.assign(new IncomingMessage(new Socket()), { method: 'HEAD' });
    const body = new PushStream();
    const answer = { status: 200, headers: { etag: '"1"' }, body };
    const given = await respond(request, new ServerResponse(request), () => Promise.resolve(answer));
    expect([given, body.returned]).toEqual([{ ...answer, body: null }, true]);
  });
});
