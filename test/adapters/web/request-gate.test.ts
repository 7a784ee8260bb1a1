import { describe, expect, it } from 'vitest';
import { problemResponse } from '../../../src/adapters/web/error-response.js';
import { RequestGate } from '../../../src/adapters/web/request-gate.js';
import { errorContext } from '../../../src/adapters/web/site-settings.js';
import type { HttpHandler, HttpResponse } from '../../../src/ports/http.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { browserRequest, site } from './browser-request.js';
import { PushStream } from './push-stream.js';

const answer = (body: HttpResponse['body'], type = 'application/json'): HttpResponse => ({
  status: 200,
  headers: { 'content-type': type },
  body,
});

function guarded(gate: RequestGate, handler: HttpHandler): () => Promise<HttpResponse> {
  const behind = gate.guard(handler, (_request, error) => problemResponse(error, errorContext(site(), 'chat')));
  return () => behind(browserRequest());
}

async function code({ body }: HttpResponse): Promise<unknown> {
  return (JSON.parse(await textOf(body)) as { code: unknown }).code;
}

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise(setImmediate);
  return settled;
}

describe('a gate', () => {
  it('counts a request until its answer is there, and a body that streams until its end', async () => {
    const gate = new RequestGate({ maxInFlight: 0, sendIdleMs: 0 });
    const body = new PushStream();
    let give: ((response: HttpResponse) => void) | undefined;
    const pending = guarded(gate, () => new Promise((resolve) => (give = resolve)))();
    expect(gate.inFlight).toBe(1);
    give?.(answer(body));
    const response = await pending;
    expect(gate.inFlight).toBe(1);
    body.end();
    await textOf(response.body);
    expect(gate.inFlight).toBe(0);
  });

  it.each<readonly [string, (body: PushStream, response: HttpResponse) => Promise<unknown>]>([
    ['ends', async (body, response) => (body.end(), textOf(response.body))],
    ['breaks', async (body, response) => (body.break(new Error('cut')), textOf(response.body).catch(() => undefined))],
    [
      'is given up by its reader',
      async (_body, response) => (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.(),
    ],
  ])('counts open event streams apart, each until it %s', async (_how, end) => {
    const gate = new RequestGate({ maxInFlight: 1, sendIdleMs: 0 });
    const body = new PushStream();
    const response = await guarded(gate, () => Promise.resolve(answer(body, 'text/event-stream')))();
    expect([gate.inFlight, gate.openStreams]).toEqual([0, 1]);
    await end(body, response);
    expect([gate.inFlight, gate.openStreams]).toEqual([0, 0]);
  });

  it('lets no more in than may be, and tells the others when to come again', async () => {
    const gate = new RequestGate({ maxInFlight: 2, sendIdleMs: 0 });
    let give: (() => void) | undefined;
    const wait = new Promise<void>((resolve) => (give = resolve));
    const visit = guarded(gate, async () => {
      await wait;
      return answer('{}');
    });
    const first = [visit(), visit()];
    const refused = await visit();
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(await code(refused)).toBe('server_busy');
    give?.();
    await Promise.all(first);
    expect((await visit()).status).toBe(200);
  });

  it('that is closed lets nobody in, and is idle when the last one is out', async () => {
    const gate = new RequestGate({ maxInFlight: 0, sendIdleMs: 0 });
    const body = new PushStream();
    const visit = guarded(gate, () => Promise.resolve(answer(body, 'text/event-stream')));
    const open = await visit();
    gate.close();
    const refused = await visit();
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(await code(refused)).toBe('server_closing');
    const idle = gate.idle();
    expect(await isSettled(idle)).toBe(false);
    body.end();
    await textOf(open.body);
    await idle;
  });

  it('that nobody passed is idle', async () => {
    await new RequestGate({ maxInFlight: 0, sendIdleMs: 0 }).idle();
  });

  it('forgets a request whose handler threw', async () => {
    const gate = new RequestGate({ maxInFlight: 0, sendIdleMs: 0 });
    await expect(guarded(gate, () => Promise.reject(new Error('no')))()).rejects.toThrow('no');
    expect(gate.inFlight).toBe(0);
  });
});
