import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HttpBody } from '../../../src/ports/http.js';
import { type BodyDeadlines, checkedBody, readJsonBody } from '../../../src/adapters/web/request-body.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { bodyBudget, browserRequest, bytes, streamed } from './browser-request.js';
import { PushStream } from './push-stream.js';
import { errorOf } from '../../support/error-of.js';

/** A body without an announced length. */
function timedBody(body: HttpBody, deadlines: BodyDeadlines): HttpBody {
  return checkedBody({ body, headers: {} }, deadlines);
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The outcome of a call after so many milliseconds. */
async function after<T>(ms: number, call: Promise<T>): Promise<PromiseSettledResult<T> | 'pending'> {
  let outcome: PromiseSettledResult<T> | 'pending' = 'pending';
  void Promise.allSettled([call]).then(([settled]) => (outcome = settled));
  await vi.advanceTimersByTimeAsync(ms);
  return outcome;
}

const LATE = {
  status: 'rejected',
  reason: expect.objectContaining({ code: 'body_timeout', retryable: true }) as unknown,
};

describe('a request body', () => {
  it('that stops half-way is aborted after its time, once', async () => {
    const body = new PushStream();
    body.push('{"half":');
    const timed = timedBody(body, { idleMs: 0, totalMs: 30 });
    const reading = textOf(timed);
    expect([await after(29, reading), body.returned]).toEqual(['pending', false]);
    expect([await after(1, reading), body.returned]).toEqual([LATE, true]);
    const reader = timed as AsyncIterableIterator<Uint8Array>;
    expect([await after(0, reader.next()), body.pulls]).toEqual([LATE, 2]);
  });

  it('may stream for any time without a pause, and leaves no timer behind', async () => {
    const body = new PushStream();
    const reading = textOf(timedBody(body, { idleMs: 30, totalMs: 1_000 }));
    for (const chunk of ['one', 'two', 'three']) {
      expect(await after(29, reading)).toBe('pending');
      body.push(chunk);
    }
    body.end();
    expect(await reading).toBe('onetwothree');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that breaks off or is abandoned leaves no timer behind', async () => {
    const [broken, body] = [new PushStream(), new PushStream()];
    broken.break(new Error('reset'));
    await expect(textOf(timedBody(broken, { idleMs: 30, totalMs: 1_000 }))).rejects.toThrow('reset');
    const reader = timedBody(body, { idleMs: 30, totalMs: 1_000 }) as AsyncIterableIterator<Uint8Array>;
    void reader.next();
    expect(await reader.return?.()).toEqual({ done: true, value: undefined });
    expect([body.returned, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it('that pauses in a stream is aborted', async () => {
    const body = new PushStream();
    body.push('one');
    const reading = textOf(timedBody(body, { idleMs: 30, totalMs: 0 }));
    expect([await after(29, reading), await after(1, reading)]).toEqual(['pending', LATE]);
  });

  it.each([
    ['cannot be stopped', undefined],
    ['fails to stop', () => Promise.reject(new Error('locked'))],
  ])('that %s is aborted all the same', async (_how, stop) => {
    const body = Object.assign(new PushStream(), { return: stop });
    expect(await after(30, textOf(timedBody(body, { idleMs: 30, totalMs: 0 })))).toEqual(LATE);
  });

  it('with a slow reader is not late', async () => {
    const body = timedBody(streamed(['one', 'two']), { idleMs: 30, totalMs: 0 }) as AsyncIterableIterator<Uint8Array>;
    await body.next();
    await vi.advanceTimersByTimeAsync(100);
    expect(await body.next()).toEqual({ done: false, value: bytes('two') });
  });

  it('that is complete or without a deadline is unchanged', () => {
    const body = new PushStream();
    expect([timedBody('text', { idleMs: 0, totalMs: 1 }), timedBody(null, { idleMs: 0, totalMs: 1 })]).toEqual([
      'text',
      null,
    ]);
    expect(timedBody(body, { idleMs: 0, totalMs: 0 })).toBe(body);
  });

  it.each([
    ['without a deadline', 0],
    ['with a deadline', 1_000],
  ])('that ends before its announced length is not passed as whole, %s', async (_how, idleMs) => {
    const request = { body: streamed(['one', 'two']), headers: { 'content-length': '7' } };
    await expect(textOf(checkedBody(request, { idleMs, totalMs: 0 }))).rejects.toMatchObject({
      code: 'body_invalid',
      detail: 'The request body was cut on its way: 6 of 7 bytes arrived.',
      hint: expect.stringContaining('proxyClientMaxBodySize') as unknown,
    });
    const whole = { body: streamed(['one', 'two']), headers: { 'content-length': '6' } };
    expect(await textOf(checkedBody(whole, { idleMs, totalMs: 0 }))).toBe('onetwo');
  });

  it.each([
    ['takes too long', { requestBodyMs: 200, requestIdleMs: 0 }, 'requestBodyMs'],
    ['drips', { requestBodyMs: 200, requestIdleMs: 110 }, 'requestBodyMs'],
    ['stops arriving', { requestBodyMs: 60_000, requestIdleMs: 100 }, 'requestIdleMs'],
  ])('of a JSON route is aborted when it %s', async (_how, deadlines, field) => {
    const body = new PushStream();
    const limits = { bodyLimitBytes: 10, bodies: bodyBudget(), ...deadlines };
    const reading = readJsonBody(browserRequest({ body }), limits);
    expect(await after(99, reading)).toBe('pending');
    body.push('{');
    expect(await after(99, reading)).toBe('pending');
    expect([await after(2, reading), body.returned]).toEqual([LATE, true]);
    expect((await errorOf(reading)).logDetail()).toContain(field);
  });
});
