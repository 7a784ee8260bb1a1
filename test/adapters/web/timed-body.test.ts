import { describe, expect, it } from 'vitest';
import type { HttpBody } from '../../../src/domain/shared/body.js';
import { type BodyDeadlines, checkedBody, readJsonBody } from '../../../src/adapters/web/request-body.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { bodyBudget, browserRequest, bytes, streamed } from './browser-request.js';
import { PushStream } from './push-stream.js';
import { errorOf } from '../../support/error-of.js';

/** A body without an announced length. */
function timedBody(body: HttpBody, deadlines: BodyDeadlines): HttpBody {
  return checkedBody({ body, headers: {} }, deadlines);
}

/** Resolves when a body has timed out after so many milliseconds of silence, so time has passed without sleeping. */
async function passed(ms: number): Promise<void> {
  await textOf(timedBody(new PushStream(), { idleMs: 0, totalMs: ms })).catch(() => undefined);
}

describe('a request body', () => {
  it('that stops half-way is aborted after its time', async () => {
    const body = new PushStream();
    body.push('{"half":');
    await expect(textOf(timedBody(body, { idleMs: 0, totalMs: 30 }))).rejects.toMatchObject({
      code: 'body_timeout',
      retryable: true,
    });
    expect(body.returned).toBe(true);
  });

  it('may stream for any time without a pause', async () => {
    const body = new PushStream();
    const reading = textOf(timedBody(body, { idleMs: 600, totalMs: 0 }));
    for (const chunk of ['one', 'two', 'three']) {
      await passed(250);
      body.push(chunk);
    }
    body.end();
    expect(await reading).toBe('onetwothree');
  });

  it('that pauses in a stream is aborted', async () => {
    const body = new PushStream();
    body.push('one');
    await expect(textOf(timedBody(body, { idleMs: 30, totalMs: 0 }))).rejects.toMatchObject({ code: 'body_timeout' });
  });

  it('with a slow reader is not late', async () => {
    const body = timedBody(streamed(['one', 'two']), { idleMs: 30, totalMs: 0 }) as AsyncIterableIterator<Uint8Array>;
    await body.next();
    await passed(100);
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
    });
    const whole = { body: streamed(['one', 'two']), headers: { 'content-length': '6' } };
    expect(await textOf(checkedBody(whole, { idleMs, totalMs: 0 }))).toBe('onetwo');
  });

  it.each([
    ['takes too long', { requestBodyMs: 20, requestIdleMs: 0 }],
    ['stops arriving', { requestBodyMs: 60_000, requestIdleMs: 20 }],
  ])('of a JSON route is aborted when it %s', async (_what, deadlines) => {
    const body = new PushStream();
    body.push('{');
    const limits = { bodyLimitBytes: 10, bodies: bodyBudget(), ...deadlines };
    await expect(readJsonBody(browserRequest({ body }), limits)).rejects.toMatchObject({ code: 'body_timeout' });
    expect(body.returned).toBe(true);
  });

  it('of a JSON route may drip within its whole time', async () => {
    const body = new PushStream();
    const drip = setInterval(() => body.push(' '), 5);
    const error = await errorOf(textOf(timedBody(body, { idleMs: 1_000, totalMs: 60 })));
    clearInterval(drip);
    expect(error.logDetail()).toContain('requestBodyMs');
  });
});
