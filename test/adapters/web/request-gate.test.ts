import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorContext, errorResponse, PROBLEMS, RPC_ERRORS } from '../../../src/adapters/web/error-response.js';
import { RequestGate } from '../../../src/adapters/web/request-gate.js';
import { route } from '../../../src/adapters/web/door.js';
import { nothing } from '../../../src/adapters/web/readers.js';
import type { HttpHandler, HttpResponse } from '../../../src/ports/http.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { SERVICE } from '../../domain/credentials/broker-fixture.js';
import { browserRequest, site } from './browser-request.js';
import { PushStream } from './push-stream.js';

const answer = (body: HttpResponse['body'], type = 'application/json'): HttpResponse => ({
  status: 200,
  headers: { 'content-type': type },
  body,
});

const iteratorOf = ({ body }: HttpResponse): AsyncIterator<Uint8Array> =>
  (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();

function behind(gate: RequestGate, handler: HttpHandler): () => Promise<HttpResponse> {
  const guarded = gate.guard(handler, (_request, error) =>
    errorResponse(error, PROBLEMS, errorContext(site(), 'chat')),
  );
  return () => guarded(browserRequest());
}

/** A gate before a route that responds so. */
function guarded(gate: RequestGate, respond: () => Promise<HttpResponse>): () => Promise<HttpResponse> {
  const rule = { name: 'chat', methods: ['POST'], read: nothing, errors: RPC_ERRORS };
  const mount = { site: site({ gate }), auth: SERVICE };
  return behind(gate, route({ ...rule, origin: 'own-pages', limit: 'none' }, mount, respond));
}

describe('a gate', () => {
  it.each<readonly [string, (body: PushStream, response: HttpResponse) => Promise<unknown>]>([
    ['ends', async (body, response) => (body.end(), textOf(response.body))],
    ['breaks', async (body, response) => (body.break(new Error('cut')), textOf(response.body).catch(() => undefined))],
    ['is abandoned by its reader', async (_body, response) => iteratorOf(response).return?.()],
    ['is cancelled with a reason', async (_body, response) => iteratorOf(response).return?.(new Error('slow'))],
  ])('counts open event streams separately, each until it %s', async (_how, end) => {
    const gate = new RequestGate({ maxInFlight: 1, sendIdleMs: 0 });
    const body = new PushStream();
    const response = await guarded(gate, () => Promise.resolve(answer(body, 'text/event-stream')))();
    expect([gate.inFlight, gate.openStreams]).toEqual([0, 1]);
    await end(body, response);
    expect([gate.inFlight, gate.openStreams]).toEqual([0, 0]);
  });

  it('counts any other body as a running request until it ends', async () => {
    const gate = new RequestGate({ maxInFlight: 1, sendIdleMs: 7 });
    const body = new PushStream();
    const visit = guarded(gate, () => Promise.resolve(answer(body)));
    const first = await visit();
    expect([gate.inFlight, gate.openStreams]).toEqual([1, 0]);
    expect(JSON.parse(await textOf((await visit()).body))).toMatchObject({ code: 'server_busy', retryable: true });
    body.end();
    await textOf(first.body);
    expect(gate.inFlight).toBe(0);
    const whole = guarded(gate, () => Promise.resolve(answer('{}')));
    expect([await whole(), gate.inFlight]).toMatchObject([{ ...answer('{}'), sendIdleMs: 7 }, 0]);
    gate.close();
    expect(JSON.parse(await textOf((await whole()).body))).toMatchObject({ code: 'server_closing', retryable: true });
    expect(gate.isClosed).toBe(true);
  });

  it('is idle once the last request and the last body have ended', async () => {
    const gate = new RequestGate({ maxInFlight: 0, sendIdleMs: 0 });
    await gate.idle();
    const body = new PushStream();
    let handle: (response: HttpResponse) => void = () => undefined;
    const response = guarded(gate, () => new Promise((resolve) => (handle = resolve)))();
    const order: string[] = [];
    const idle = gate.idle().then(() => order.push('idle'));
    await setImmediate();
    order.push('handled');
    handle(answer(body, 'text/event-stream'));
    const { body: open } = await response;
    await setImmediate();
    order.push('ended');
    body.end();
    await textOf(open);
    await idle;
    expect(order).toEqual(['handled', 'ended', 'idle']);
    const second = guarded(gate, () => new Promise((resolve) => (handle = resolve)))();
    const idleAgain = gate.idle();
    await setImmediate();
    handle(answer('{}'));
    await Promise.all([second, idleAgain]);
  });

  it('frees the place of a request whose handler threw', async () => {
    const gate = new RequestGate({ maxInFlight: 0, sendIdleMs: 0 });
    await expect(behind(gate, () => Promise.reject(new Error('no')))()).rejects.toThrow('no');
    expect(gate.inFlight).toBe(0);
  });
});
