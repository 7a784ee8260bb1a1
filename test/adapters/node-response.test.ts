import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeHttpResponse } from '../../src/adapters/node/response.js';
import { SendBudget } from '../../src/adapters/node/send-budget.js';
import type { HttpBody } from '../../src/ports/http.js';
import { PushFlow } from './web/push-flow.js';

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
  const budget = new SendBudget(Infinity);
  const headers = { 'x-absent': undefined, 'x-present': 'yes' };
  writeHttpResponse(response, { status: 201, headers, body, sendIdleMs }, 'GET', budget);
  const accept = async (): Promise<void> => {
    while (socket.writableLength > 0) {
      accepted.shift()?.();
      await new Promise(setImmediate);
    }
    response.emit('drain');
  };
  return { response, budget, accept, sent: () => sent };
}

const LONG = 'x'.repeat(2_000);

describe('a body that flows to a browser', () => {
  it('waits until the browser has accepted what it got, which counts as waiting until then', async () => {
    const body = new PushFlow();
    const { response, budget, accept } = handed(body);
    expect(body.push(LONG)).toBe(false);
    expect(budget.heldBytes).toBeGreaterThan(2_000);
    expect(body.resumed).toBe(0);
    await accept();
    response.emit('drain');
    expect([budget.heldBytes, body.resumed]).toEqual([0, 1]);
    expect([body.push('short'), budget.heldBytes]).toEqual([true, 0]);
  });

  it.each([[[LONG]], [['one', 'two']]])('is cancelled when the browser accepts nothing: %#', async (chunks) => {
    const body = new PushFlow();
    const { response } = handed(body, 2);
    for (const chunk of chunks) body.push(chunk);
    await expect.poll(() => body.reason?.message).toContain('timeouts.sendIdleMs');
    expect([response.destroyed, body.push('more')]).toEqual([true, false]);
  });

  it('is cancelled when the browser accepts nothing while small chunks keep coming', async () => {
    const body = new PushFlow();
    const { response } = handed(body, 40);
    const drip = setInterval(() => body.push('x'), 2);
    onTestFinished(() => clearInterval(drip));
    await expect.poll(() => body.reason?.message).toContain('timeouts.sendIdleMs');
    expect(response.writableLength).toBeLessThan(response.writableHighWaterMark);
  });

  it('adds no listeners when the browser is slow again and again', async () => {
    const body = new PushFlow();
    const { response, accept } = handed(body, 60_000);
    const listeners: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      for (const chunk of ['some', 'more', LONG]) body.push(chunk);
      await new Promise(setImmediate);
      await vi.dynamicImportSettled();
      listeners.push(response.listenerCount('close'));
      await accept();
    }
    expect(listeners).toEqual(listeners.map(() => listeners[0]));
  });

  it('is cancelled when the browser leaves, and wants no further chunk', () => {
    const body = new PushFlow();
    const { response } = handed(body);
    response.emit('close');
    expect([body.returned, body.push('more')]).toEqual([true, false]);
    response.emit('drain');
    body.end();
    expect([body.resumed, response.writableEnded]).toEqual([0, false]);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['left', (response) => response.destroy()],
    ['been answered by the host', (response) => response.flushHeaders()],
  ])('is cancelled at once when the browser has %s', (_what, happened) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    happened(response);
    const body = new PushFlow();
    const late = { status: 201, headers: { 'x-late': 'yes' }, body };
    writeHttpResponse(response, late, 'GET', new SendBudget(Infinity));
    expect([body.returned, response.statusCode]).toEqual([true, 200]);
  });

  it('is not written to a response that was destroyed', () => {
    const body = new PushFlow();
    const { response } = handed(body);
    response.destroy();
    expect(body.push('more')).toBe(false);
    body.end();
    expect(response.writableEnded).toBe(false);
  });

  it('is not cancelled at the end of a complete response', async () => {
    const body = new PushFlow();
    const { response, accept } = handed(body);
    body.push('all');
    body.end();
    await accept();
    response.emit('close');
    expect([response.statusCode, response.writableFinished, body.returned]).toEqual([201, true, false]);
  });
});

describe('a whole body', () => {
  it.each([null, '', 'short'])('of %j ends the response', async (body) => {
    const { response, budget, accept } = handed(body);
    expect([response.writableEnded, response.getHeaderNames()]).toEqual([true, ['x-present']]);
    await accept();
    response.emit('close');
    expect(budget.heldBytes).toBe(0);
  });

  it.each([50_000, 200_000])('of %i bytes counts as waiting until its response is over', async (length) => {
    const { response, budget, accept, sent } = handed('x'.repeat(length));
    expect(budget.heldBytes).toBeGreaterThan(length);
    for (let turn = 0; turn < 9; turn += 1) await accept();
    response.emit('close');
    expect([budget.heldBytes, response.writableFinished]).toEqual([0, true]);
    expect(sent()).toBeGreaterThan(length);
  });

  it('is handed over in pieces if its progress would not be visible', async () => {
    const { response } = handed('x'.repeat(200_000));
    for (let turn = 0; turn < 9; turn += 1) await new Promise(setImmediate);
    expect(response.writableLength).toBeLessThan(100_000);
    expect(response.getHeader('content-length')).toBe(200_000);
  });
});
