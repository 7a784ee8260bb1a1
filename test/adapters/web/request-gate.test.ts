import { describe, expect, it } from 'vitest';
import { errorResponse, PROBLEMS } from '../../../src/adapters/web/error-response.js';
import { RequestGate } from '../../../src/adapters/web/request-gate.js';
import { errorContext } from '../../../src/adapters/web/serve-route.js';
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
  const behind = gate.guard(handler, (_request, error) => errorResponse(error, PROBLEMS, errorContext(site(), 'chat')));
  return () => behind(browserRequest());
}

describe('a gate', () => {
  it.each<readonly [string, (body: PushStream, response: HttpResponse) => Promise<unknown>]>([
    ['ends', async (body, response) => (body.end(), textOf(response.body))],
    ['breaks', async (body, response) => (body.break(new Error('cut')), textOf(response.body).catch(() => undefined))],
    [
      'is abandoned by its reader',
      async (_body, response) => (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.(),
    ],
  ])('counts open event streams separately, each until it %s', async (_how, end) => {
    const gate = new RequestGate({ maxInFlight: 1, sendIdleMs: 0 });
    const body = new PushStream();
    const response = await guarded(gate, () => Promise.resolve(answer(body, 'text/event-stream')))();
    expect([gate.inFlight, gate.openStreams]).toEqual([0, 1]);
    await end(body, response);
    expect([gate.inFlight, gate.openStreams]).toEqual([0, 0]);
  });

  it('frees the place of a request whose handler threw', async () => {
    const gate = new RequestGate({ maxInFlight: 0, sendIdleMs: 0 });
    await expect(guarded(gate, () => Promise.reject(new Error('no')))()).rejects.toThrow('no');
    expect(gate.inFlight).toBe(0);
  });
});
