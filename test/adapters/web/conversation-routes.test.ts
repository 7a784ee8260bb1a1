import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { conversationRoutes } from '../../../src/adapters/web/conversation-routes.js';
import { ConversationProxy, type SessionRequired } from '../../../src/domain/conversations/conversation-proxy.js';
import type { HttpHandler, HttpRequest } from '../../../src/ports/http.js';
import { BrokerWorld, sessionPlan } from '../../domain/credentials/broker-fixture.js';
import { API } from '../../domain/surfaces/surface-world.js';
import { browserRequest, site, streamed } from './browser-request.js';

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
  it('pass a body on as it streams, however long it may be', async () => {
    const { upstream, settings, handle } = start();
    const body = streamed(['x'.repeat(5_000), 'y'.repeat(5_000)]);
    expect((await handle(visit({ method: 'PUT', path: '/files/1', body }))).status).toBe(200);
    expect(upstream.requests[0]?.body).toBe(body);
    expect(settings.telemetry.of('request')).toMatchObject([{ route: 'conversation', method: 'PUT', status: 200 }]);
  });

  it('know no TRACE', async () => {
    const { upstream, handle } = start();
    const response = await handle(visit({ method: 'TRACE' }));
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
    expect(upstream.requests).toEqual([]);
  });

  it('do not pretend that a body which somebody else read was empty', async () => {
    const { upstream, handle } = start();
    expect((await handle(visit({ method: 'POST', bodyConsumed: true }))).status).toBe(500);
    expect(upstream.requests).toEqual([]);
  });
});
