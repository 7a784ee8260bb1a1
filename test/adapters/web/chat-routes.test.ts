import { describe, expect, it } from 'vitest';
import { chatRoutes, type ChatRoutes } from '../../../src/adapters/web/chat-routes.js';
import { unusable } from '../../../src/composition/routes/unconfigured-responses.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import { ServiceAuthError } from '../../../src/domain/shared/errors.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../src/ports/http.js';
import { ChatWorld, MESSAGE } from '../../domain/chat/chat-world.js';
import { SERVICE } from '../../domain/credentials/broker-fixture.js';
import { bodyBudget, browserRequest, bytes, site, streamed } from './browser-request.js';
import { PushStream } from './push-stream.js';
import { textOf } from '../../contracts/http-upstream.contract.js';

interface Routes {
  readonly world: ChatWorld;
  readonly settings: ReturnType<typeof site>;
  readonly handle: HttpHandler;
}

function routes(changes: Partial<ChatRoutes> = {}): Routes {
  const world = new ChatWorld();
  const settings = site();
  const mount = {
    site: settings,
    auth: SERVICE,
    policy: new MethodPolicy('chat'),
    bindings: ['JSONRPC'],
    publicUrl: '',
  };
  const handle = chatRoutes({ ...mount, forwarder: world.forwarder, ...changes });
  return { world, settings, handle };
}

const text = ({ body }: HttpResponse): Promise<string> => textOf(body);

async function json(response: HttpResponse): Promise<unknown> {
  return JSON.parse(await text(response));
}

const answering =
  (body: string): HttpHandler =>
  ({ method }) =>
    Promise.resolve({ status: 200, headers: {}, body: `${body} by ${method}` });
const lookups = { configRoute: answering('the config'), card: answering('the card') };

describe('the paths of the chat', () => {
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
  ])('map "%s" to %s', async (path, name) => {
    const { handle } = routes(lookups);
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      expect(await text(await handle(browserRequest({ path, method })))).toBe(`${name} by ${method}`);
    }
  });

  it.each(['', '/'])('accept messages by POST only at "%s"', async (path) => {
    const { world, handle } = routes(lookups);
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'post']) {
      const response = await handle(browserRequest({ path, method }));
      expect([response.status, response.headers['allow']]).toEqual([405, 'POST']);
    }
    expect(world.upstream.requests).toEqual([]);
    expect((await handle(browserRequest({ path }))).status).toBe(200);
  });

  it.each(['/config', '/.well-known/agent-card.json'])('do not include %s', async (path) => {
    expect((await routes().handle(browserRequest({ path, method: 'GET' }))).status).toBe(404);
  });
});

describe('a mount that cannot work', () => {
  const cause = new ServiceAuthError('service_auth_failed', { detail: 'The server is not configured.' });

  it('returns the reason: as JSON-RPC to a message, else as a problem document', async () => {
    const handle = (request: HttpRequest) => unusable(request, cause, site());
    const [message, rest] = [await handle(browserRequest()), await handle(browserRequest({ method: 'GET' }))];
    expect([message.status, rest.status]).toEqual([401, 401]);
    expect(await json(message)).toMatchObject({ id: '1', error: { message: 'The server is not configured.' } });
    expect(await json(rest)).toMatchObject({ code: 'service_auth_failed', detail: 'The server is not configured.' });
  });

  it.each<[state: string, body: () => HttpRequest['body'], id: unknown]>([
    ['streams', () => streamed(['{"jsonrpc":"2.0",', '"id":7,"method":"x"}']), 7],
    ['is not JSON', () => '{', null],
    ['breaks', () => streamed(['{"id":7'], new Error('cut')), null],
    ['is longer than it reads', () => `{"id":7,"x":"${'x'.repeat(70_000)}"}`, null],
    ['was taken by a parser', () => null, null],
  ])('names the id of a message that %s', async (_state, body, id) => {
    const request = browserRequest({ body: body() });
    expect(await json(await unusable(request, cause, site()))).toMatchObject({ id });
  });

  it('does not wait for a message that does not come', async () => {
    const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    const response = await unusable(browserRequest({ body }), cause, site());
    expect(await json(response)).toMatchObject({ id: null });
  });

  it('returns the reason as a problem document when no A2A client calls', async () => {
    const path = '/s-1/render';
    expect(await json(await unusable(browserRequest({ path }), cause, site()))).toMatchObject({
      code: 'service_auth_failed',
    });
  });
});

describe('the memory of a message', () => {
  it('is held until the response begins, also a rejected one', async () => {
    const { world, settings, handle } = routes();
    let during = 0;
    world.upstream.willAnswer(() => {
      during = settings.bodies.heldBytes;
      return { kind: 'failure', reason: 'timeout', log: '' };
    });
    await handle(browserRequest({ body: streamed([MESSAGE, ' ']) }));
    expect([during, settings.bodies.heldBytes]).toEqual([MESSAGE.length + 1, 0]);
    await handle(browserRequest({ body: bytes('{') }));
    await handle(browserRequest({ body: streamed([' '], new Error('reset')) }));
    expect(settings.bodies.heldBytes).toBe(0);
  });

  it('is freed with a 408 when another message needs it', async () => {
    let now = 0;
    const settings = site({ bodyLimitBytes: 90_000, bodies: bodyBudget(() => now) });
    const { handle } = routes({ site: settings });
    const stalled = new PushStream();
    stalled.push(' '.repeat(70_000));
    const reply = handle(browserRequest({ body: stalled }));
    await expect.poll(() => stalled.pulls).toBe(2);
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

describe('what is judged of a message', () => {
  // One spelling for two members: a policy, a visitor or metadata of the site could be evaded by it.
  const body = '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"CONTEXTID":"x"}}}';
  const send = (handle: HttpHandler): Promise<HttpResponse> => handle(browserRequest({ body: bytes(body) }));
  const open = new MethodPolicy('all');

  it('is everything under the policy of the chat', async () => {
    expect(await json(await send(routes().handle))).toMatchObject({ error: { code: -32602 } });
  });

  it('is the method alone where nothing depends on the rest', async () => {
    const { world, handle } = routes({ policy: open });
    expect((await send(handle)).status).toBe(200);
    expect(world.upstream.requests).toHaveLength(1);
  });

  it.each([
    ['a visitor', { visitor: () => ({}) }],
    ['metadata of the site', { options: { metadata: { visitor: 'drop', own: undefined } as never } }],
  ])('is everything for a route with %s', async (_title, changes) => {
    const { world, handle } = routes({ policy: open, ...changes });
    expect(await json(await send(handle))).toMatchObject({ error: { code: -32602 } });
    expect(world.upstream.requests).toEqual([]);
  });
});

it('a chat event names the conversation and the task of a message, and nothing where it names none', async () => {
  const settings = site({ digest: (name) => `digest of ${name}` });
  const { handle } = routes({ site: settings, policy: new MethodPolicy('all') });
  const message = (ids: object): Uint8Array =>
    bytes(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: ids } }));
  await handle(browserRequest({ body: message({ contextId: 'c-1', taskId: 't-1' }) }));
  await handle(browserRequest({ body: message({ contextId: '', taskId: '' }) }));
  const [named, unnamed] = settings.telemetry.of('chat');
  expect(named).toMatchObject({ context: 'digest of context c-1', task: 'digest of task t-1' });
  expect(JSON.stringify(unnamed)).not.toContain('digest of');
});
