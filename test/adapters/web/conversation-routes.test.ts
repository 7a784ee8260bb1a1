import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { conversationRoutes } from '../../../src/adapters/web/conversation-routes.js';
import { ConversationProxy, type SessionRequired } from '../../../src/domain/conversations/conversation-proxy.js';
import type { HttpRequest, HttpResponse } from '../../../src/ports/http.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { BrokerWorld, sessionPlan, TIMEOUTS } from '../../domain/credentials/broker-fixture.js';
import { API } from '../../domain/surfaces/surface-world.js';
import { browserRequest, bytes, site } from './browser-request.js';
import { PushStream } from './push-stream.js';

class RouteWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream();

  ask(changes: Partial<HttpRequest> = {}): Promise<HttpResponse> {
    const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada' });
    const auth = { ...sessionPlan(source), required: true } as SessionRequired;
    const proxy = new ConversationProxy({ call: this.callThrough(this.upstream), timeouts: TIMEOUTS, api: API });
    const settings = site({ requestIdleMs: 30, requestBodyMs: 20 });
    const handle = conversationRoutes({ site: settings, proxy, auth });
    return handle(browserRequest({ path: '/conversations', ...changes }));
  }
}

describe('a request for conversation records', () => {
  it.each<[string, Partial<HttpRequest>, number, object]>([
    ['by TRACE', { method: 'TRACE' }, 405, { detail: expect.stringMatching(/GET, HEAD, POST.* only/) as unknown }],
    ['from a page of another site', { method: 'GET', headers: { 'sec-fetch-site': 'cross-site' } }, 403, {}],
    [
      'whose body a middleware consumed',
      { body: null, bodyConsumed: true },
      500,
      { hint: 'Mount the router before that middleware.' },
    ],
  ])('%s is rejected before the platform is called', async (_what, changes, status, document) => {
    const world = new RouteWorld();
    const response = await world.ask(changes);
    expect(response.status).toBe(status);
    expect(JSON.parse(await textOf(response.body))).toMatchObject(document);
    expect(world.upstream.requests).toEqual([]);
  });

  it.each([
    ['may take any time', 29, 200],
    ['that pauses is aborted with 408, not reported as a failure of the platform', 30, 408],
  ])('with a body %s', async (_what, ms, status) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const world = new RouteWorld();
    world.upstream.willAnswer(async ({ body }) =>
      textOf(body).then(
        (text) => ({ status: 200, headers: {}, body: text }),
        () => ({ kind: 'failure', reason: 'unreachable', log: 'aborted' }),
      ),
    );
    const body = new PushStream();
    const reply = world.ask({ body });
    for (const chunk of ['one', 'two']) {
      body.push(chunk);
      await vi.advanceTimersByTimeAsync(ms);
    }
    body.end();
    expect((await reply).status).toBe(status);
  });

  it('with a whole body is 502 if the platform cannot be reached', async () => {
    const world = new RouteWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'unreachable', log: 'down' }));
    expect((await world.ask({ body: bytes('{}') })).status).toBe(502);
  });
});
