import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { conversationRoutes } from '../../../src/adapters/web/conversation-routes.js';
import { ConversationProxy, type SessionRequired } from '../../../src/domain/conversations/conversation-proxy.js';
import type { HttpHandler, HttpRequest } from '../../../src/ports/http.js';
import { BrokerWorld, sessionPlan } from '../../domain/credentials/broker-fixture.js';
import { API } from '../../domain/surfaces/surface-world.js';
import { browserRequest, site } from './browser-request.js';

interface Site {
  readonly upstream: FakeUpstream;
  readonly settings: ReturnType<typeof site>;
  readonly handle: HttpHandler;
}

function start(): Site {
  const upstream = new FakeUpstream();
  const settings = site();
  const call = new BrokerWorld().callThrough(upstream);
  const proxy = new ConversationProxy({ call, timeouts: { headersMs: 1, bodyIdleMs: 1 }, api: API });
  const auth = {
    ...sessionPlan(new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada-token' })),
    required: true,
  } as SessionRequired;
  return { upstream, settings, handle: conversationRoutes({ site: settings, proxy, auth }) };
}

function visit(changes: Partial<HttpRequest> = {}): HttpRequest {
  return browserRequest({
    method: 'GET',
    path: '/conversations',
    body: null,
    headers: { host: 'site.example' },
    ...changes,
  });
}

describe('the conversation routes', () => {
  it('reject TRACE', async () => {
    const { upstream, handle } = start();
    const response = await handle(visit({ method: 'TRACE' }));
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
    expect(upstream.requests).toEqual([]);
  });

  it('report a body consumed by other code instead of an empty one', async () => {
    const { upstream, handle } = start();
    expect((await handle(visit({ method: 'POST', bodyConsumed: true }))).status).toBe(500);
    expect(upstream.requests).toEqual([]);
  });
});
