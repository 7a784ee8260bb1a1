import { describe, expect, it, vi } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { chatRoutes, type ChatRoutes, errorHandler } from '../../../src/adapters/web/chat-routes.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import { ServiceAuthError } from '../../../src/domain/shared/errors.js';
import type { HttpHandler, HttpResponse } from '../../../src/ports/http.js';
import { ChatWorld, MESSAGE } from '../../domain/chat/chat-world.js';
import { SERVICE, sessionPlan } from '../../domain/credentials/broker-fixture.js';
import { failure } from '../../domain/credentials/token-fixture.js';
import { bodyBudget, browserRequest, bytes, site, streamed } from './browser-request.js';
import { PushStream } from './push-stream.js';

interface Routes {
  readonly world: ChatWorld;
  readonly settings: ReturnType<typeof site>;
  readonly handle: HttpHandler;
}

function routes(changes: Partial<ChatRoutes> = {}): Routes {
  const world = new ChatWorld();
  const settings = site();
  const policy = new MethodPolicy('chat');
  const handle = chatRoutes({ site: settings, forwarder: world.forwarder, auth: SERVICE, policy, ...changes });
  return { world, settings, handle };
}

async function text(response: HttpResponse): Promise<string> {
  const { body } = response;
  if (body === null || typeof body === 'string') return body ?? '';
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  let read = '';
  for await (const chunk of body) read += new TextDecoder().decode(chunk);
  return read;
}

async function json(response: HttpResponse): Promise<unknown> {
  return JSON.parse(await text(response));
}

const answering =
  (body: string): HttpHandler =>
  ({ method }) =>
    Promise.resolve({ status: 200, headers: {}, body: `${body} by ${method}` });
const lookups = { configRoute: answering('the config'), card: answering('the card') };

describe('the addresses of the chat', () => {
  it.each(['', '/'])('lead to the agent by POST to the mount point with "%s" behind it', async (path) => {
    const { world, handle } = routes();
    expect((await handle(browserRequest({ path }))).status).toBe(200);
    expect(world.upstream.requests).toHaveLength(1);
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'post'])(
    'take POST alone, and answer 405 to %s',
    async (method) => {
      const { world, handle } = routes();
      const response = await handle(browserRequest({ method }));
      expect([response.status, response.headers['allow']]).toEqual([405, 'POST']);
      expect(world.upstream.requests).toEqual([]);
    },
  );

  const nothing = ['//', '/x', '/a2a', '/..', '/%2e%2e', '/config/x', '/Config', '?'];
  nothing.push('/.well-known', '/.well-known/', '/.well-known/x', '/.well-known/agentXjson', '/well-known/agent.json');
  nothing.push('/.well-known/agent-card.json/', '/.well-known/agent.json/x', '//.well-known/agent.json');
  it.each(nothing)('do not include "%s"', async (path) => {
    const { world, handle } = routes(lookups);
    expect((await handle(browserRequest({ path }))).status).toBe(404);
    expect(world.upstream.requests).toEqual([]);
  });

  it.each([
    ['/config', 'the config'],
    ['/config/', 'the config'],
    ['/.well-known/agent-card.json', 'the card'],
    ['/.well-known/agent.json', 'the card'],
  ])('lead by "%s" to %s, which knows its methods itself', async (path, name) => {
    const { handle } = routes(lookups);
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      expect(await text(await handle(browserRequest({ path, method })))).toBe(`${name} by ${method}`);
    }
  });

  it.each(['/config', '/.well-known/agent-card.json'])(
    'do not include "%s" where there is no route for it',
    async (path) => {
      expect((await routes().handle(browserRequest({ path, method: 'GET' }))).status).toBe(404);
    },
  );
});

describe('a message', () => {
  it('crosses with its query and its very bytes, and the answer comes back', async () => {
    const { world, settings, handle } = routes();
    const body = bytes('{"jsonrpc":"2.0","id":1,"method":"tasks/get", "params":{"id":"ü"}}');
    world.upstream.willAnswer(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"ok":true}',
    }));
    const response = await handle(browserRequest({ query: '?tenant=1', body }));
    expect([response.status, await text(response)]).toEqual([200, '{"ok":true}']);
    expect(world.upstream.requests[0]).toMatchObject({ path: '/a2a?tenant=1', body });
    expect(settings.telemetry.events).toEqual([
      { type: 'request', requestId: 'req-1', route: 'chat', method: 'POST', status: 200, durationMs: 0 },
    ]);
  });

  it("from another site's page spends nothing of this site's agent", async () => {
    const { world, handle } = routes();
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' };
    const response = await handle(browserRequest({ headers }));
    expect(response.status).toBe(403);
    expect(await json(response)).toMatchObject({ id: null, error: { data: [{ reason: 'ORIGIN_REFUSED' }] } });
    expect([world.upstream.requests.length, world.account.issued]).toEqual([0, 0]);
  });

  it.each([
    ['no JSON', { body: bytes('{"id":') }, 400, -32700],
    ['no JSON-RPC', { body: bytes('{"id":"1"}') }, 400, -32600],
    ['a form', { headers: { 'content-type': 'text/plain' } }, 400, -32005],
    ['too much', { body: bytes(`"${'x'.repeat(1_000)}"`) }, 413, -32603],
    ['compressed', { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } }, 415, -32603],
    ['consumed', { body: null, bodyConsumed: true }, 500, -32603],
  ])('that is %s is answered as JSON-RPC', async (_what, changes, status, code) => {
    const { world, handle } = routes();
    const response = await handle(browserRequest(changes));
    expect([response.status, response.headers['content-type']]).toEqual([status, 'application/json']);
    expect(await json(response)).toMatchObject({ jsonrpc: '2.0', error: { code } });
    expect(world.upstream.requests).toEqual([]);
  });

  it('with a method that is not allowed is answered under its own id, with 200', async () => {
    const { settings, handle } = routes();
    const response = await handle(browserRequest({ body: bytes('{"jsonrpc":"2.0","id":42,"method":"tasks/list"}') }));
    expect(response.status).toBe(200);
    expect(await json(response)).toMatchObject({ id: 42, error: { code: -32004 } });
    expect(settings.telemetry.of('request')).toMatchObject([{ requestId: 'req-1', status: 200 }]);
    expect(settings.telemetry.of('error')).toMatchObject([{ requestId: 'req-1', code: 'method_denied' }]);
  });

  it('that cannot be authenticated shows the hint under its own id', async () => {
    const { world, handle } = routes();
    world.account.answer = () => failure('refused', { detail: 'AADSTS7000215' });
    const response = await handle(browserRequest());
    expect(response.status).toBe(401);
    const shown = await text(response);
    expect(JSON.parse(shown)).toMatchObject({
      id: '1',
      error: {
        message:
          'The service credential was refused or cannot be used. Check the "idpA" configuration block: "clientId".',
      },
    });
    expect(shown).not.toContain('AADSTS');
  });

  it('without a session is 401, never a redirect', async () => {
    const source = new FakeSessionTokenSource();
    const auth = sessionPlan(source);
    const { world, handle } = routes({ auth, policy: new MethodPolicy('all') });
    const response = await handle(browserRequest());
    expect(response.status).toBe(401);
    expect(await json(response)).toMatchObject({ id: '1', error: { data: [{ reason: 'SESSION_REQUIRED' }] } });
    expect(world.upstream.requests).toEqual([]);
  });

  it('that meets a fault of our own is answered, and its text is kept for the log', async () => {
    const { world, settings, handle } = routes();
    world.upstream.willAnswer(() => {
      throw new Error('bug at /srv/site');
    });
    const response = await handle(browserRequest());
    expect(response.status).toBe(500);
    expect(await text(response)).not.toContain('/srv/site');
    expect(settings.telemetry.of('error')).toMatchObject([{ detail: 'Error: bug at /srv/site' }]);
  });
});

describe('a streamed answer', () => {
  const EVENTS = { 'content-type': 'text/event-stream' };

  it('that the agent breaks ends with an error event under the id of the message, and operators know who broke it', async () => {
    const { world, settings, handle } = routes();
    const body = streamed(['data: 1\n\n'], new Error('socket hang up'));
    world.upstream.willAnswer(() => ({ status: 200, headers: EVENTS, body }));
    const [first, event, ...rest] = (await text(await handle(browserRequest()))).split('\n\n');
    expect([first, rest]).toEqual(['data: 1', ['']]);
    const [name, data] = (event ?? '').split('\ndata: ');
    expect(name).toBe('event: error');
    expect(JSON.parse(data ?? '')).toMatchObject({
      id: '1',
      error: {
        code: -32603,
        message:
          'The connection to the agent was lost before the response was complete. Subscribe to the task again: the agent may still be working on it.',
        data: [{ metadata: { code: 'upstream_unreachable', requestId: 'req-1', retryable: 'false' } }],
      },
    });
    expect(settings.telemetry.of('stream_broken')).toEqual([
      { type: 'stream_broken', requestId: 'req-1', route: 'chat', side: 'upstream', detail: 'socket hang up' },
    ]);
  });

  it('that breaks because the browser left is told so', async () => {
    const { world, settings, handle } = routes();
    const leaving = new AbortController();
    const body = streamed(['data: 1\n\n'], new Error('aborted'));
    world.upstream.willAnswer(() => ({ status: 200, headers: EVENTS, body }));
    const response = await handle(browserRequest({ signal: leaving.signal }));
    leaving.abort();
    await text(response);
    expect(settings.telemetry.of('stream_broken')).toMatchObject([{ side: 'browser' }]);
  });
});

describe('a mount that cannot work', () => {
  const cause = new ServiceAuthError('service_auth_failed', { detail: 'The server is not configured.' });

  it('says why: as JSON-RPC to a message, as a problem document to the rest', async () => {
    const handle = errorHandler(site(), cause, true);
    const [message, rest] = [await handle(browserRequest()), await handle(browserRequest({ method: 'GET' }))];
    expect([message.status, rest.status]).toEqual([401, 401]);
    expect(await json(message)).toMatchObject({ id: null, error: { message: 'The server is not configured.' } });
    expect(await json(rest)).toMatchObject({ code: 'service_auth_failed', detail: 'The server is not configured.' });
  });

  it('says it as a problem document to every request, where no A2A client calls', async () => {
    expect(await json(await errorHandler(site(), cause, false)(browserRequest()))).toMatchObject({
      code: 'service_auth_failed',
    });
  });
});

describe('the memory of a message', () => {
  it('is held until the response has begun, also where it is refused', async () => {
    const { world, settings, handle } = routes();
    let during = 0;
    world.upstream.willAnswer(() => {
      during = settings.bodies.heldBytes;
      return { kind: 'failure', reason: 'timeout', detail: '' };
    });
    await handle(browserRequest({ body: streamed([MESSAGE, ' ']) }));
    expect([during, settings.bodies.heldBytes]).toEqual([MESSAGE.length + 1, 0]);
    await handle(browserRequest({ body: bytes('{') }));
    await handle(browserRequest({ body: streamed([' '], new Error('reset')) }));
    expect(settings.bodies.heldBytes).toBe(0);
  });

  it('is free again, with a 408, when another message needs it more', async () => {
    let now = 0;
    const settings = site({ bodyLimitBytes: 90_000, bodies: bodyBudget(() => now) });
    const { handle } = routes({ site: settings });
    const stalled = new PushStream();
    stalled.push(' '.repeat(70_000));
    const reply = handle(browserRequest({ body: stalled }));
    await vi.waitFor(() => expect(stalled.pulls).toBe(2));
    now = 10_000;
    expect((await handle(browserRequest({ body: streamed([' '.repeat(70_000), MESSAGE]) }))).status).toBe(200);
    const cut = await reply;
    expect([cut.status, await json(cut)]).toEqual([
      408,
      expect.objectContaining({ error: expect.objectContaining({ code: -32603 }) as unknown }),
    ]);
    expect(stalled.returned).toBe(true);
    expect(settings.bodies.heldBytes).toBe(0);
  });
});
