import { describe, expect, it } from 'vitest';
import { WatchedBody } from './chat-world.js';
import { AGENT, bodyOf, CARD, RestWorld, MESSAGE } from './rest-world.js';
import { SERVICE } from '../credentials/broker-fixture.js';

describe('a call of the HTTP+JSON binding', () => {
  it("is sent to the card's interface with the credential and an unchanged body", async () => {
    const world = new RestWorld();
    const offer = { url: `${AGENT}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'acme' };
    world.card = { name: 'Agent', supportedInterfaces: [offer] };
    const body = { ...bodyOf(MESSAGE), type: 'application/a2a+json' };
    const { signal } = new AbortController();
    const headers = { 'content-type': 'application/a2a+json', authorization: 'Bearer theirs', cookie: 'sid=1' };
    await world.ask('POST', '/acme/message:send', { head: { headers, query: '?a=1', signal }, body });
    expect(world.upstream.requests).toEqual([
      {
        method: 'POST',
        origin: AGENT,
        path: '/rest/acme/message:send?a=1',
        headers: {
          'content-type': 'application/a2a+json',
          authorization: 'Bearer account-token-1',
          'x-api-key': 'site-key',
        },
        body: body.bytes,
        signal,
        headersMs: 60_000,
        bodyIdleMs: 30_000,
      },
    ]);
    expect(world.upstream.requests[0]?.body).toBe(body.bytes);
  });

  it('without a body is forwarded without one', async () => {
    const world = new RestWorld();
    await world.ask('GET', '/tasks/7');
    expect(world.upstream.requests).toMatchObject([{ method: 'GET', path: '/rest/tasks/7', body: null }]);
  });

  it("returns the agent's status, allowed fields and exact body", async () => {
    const world = new RestWorld();
    const headers = { 'content-type': 'application/json', 'set-cookie': 'a=b', server: 'agent' };
    expect(await world.answered({ status: 404, headers, body: '{"error":{}}' })).toEqual({
      status: 404,
      headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
      body: '{"error":{}}',
    });
  });

  it.each(['?a#b', '?a b', '?a\r\nhost: elsewhere.example', '?\u0000', '?\u00fc', 'a=1', '/../admin', '#a', '.7'])(
    'with the query %j is rejected as an unknown route without a call',
    async (query) => {
      const world = new RestWorld();
      await expect(world.ask('GET', '/tasks/7', { head: { query } })).rejects.toMatchObject({
        name: 'AgentBffError',
        code: 'not_found',
        detail: 'There is no such route.',
      });
      expect([world.cardsAsked, world.upstream.requests, world.account.issued]).toEqual([[], [], 0]);
    },
  );

  it('fails without a configured agent, naming the field before any token is fetched', async () => {
    const world = new RestWorld({ agent: undefined });
    await expect(world.ask('GET', '/tasks/7')).rejects.toMatchObject({
      code: 'service_auth_failed',
      fields: ['a2aUrl'],
    });
    expect(world.account.issued).toBe(0);
  });

  it.each([
    ['/tasks/7', undefined, '1.0'],
    ['/tasks/7', '1.1', '1.1'],
    ['/v1/tasks/7', undefined, ''],
    ['/v1/tasks/7', '1.1', ''],
  ])('to %s with version %s uses the card of version "%s"', async (path, named, version) => {
    const world = new RestWorld();
    await world.ask('GET', path, { head: { headers: named === undefined ? {} : { 'a2a-version': named } } });
    expect(world.cardsAsked).toEqual([[version, SERVICE]]);
  });
});

describe('the interface of a call', () => {
  const NEW = { url: `${AGENT}/new`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };
  const OLD = { url: `${AGENT}/old`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' };
  const LISTED = { url: `${AGENT}/listed`, transport: 'HTTP+JSON' };
  const TOP = { url: `${AGENT}/top`, preferredTransport: 'HTTP+JSON' };

  it.each([
    ['v1.0 and v0.3 in one list', { supportedInterfaces: [NEW, OLD] }, '/new', '/old'],
    ['v0.3 and v1.0 in one list', { supportedInterfaces: [OLD, NEW] }, '/new', '/old'],
    ['one list for each version', { supportedInterfaces: [NEW], additionalInterfaces: [LISTED] }, '/new', '/listed'],
    ['v1.0 and a preferred one', { supportedInterfaces: [NEW], ...TOP }, '/new', '/top'],
    ['v1.0 only', { supportedInterfaces: [NEW] }, '/new', '/new'],
    ['v0.3 only', { additionalInterfaces: [LISTED] }, '/listed', '/listed'],
    ['one without a version', { supportedInterfaces: [{ ...OLD, protocolVersion: undefined }, NEW] }, '/old', '/old'],
  ])('matches the version of the call: %s', async (_what, fields, current, legacy) => {
    const world = new RestWorld();
    world.card = { name: 'Agent', ...fields };
    await world.ask('GET', '/tasks/7');
    await world.ask('GET', '/v1/tasks/7');
    expect(world.upstream.requests.map(({ path }) => path)).toEqual([`${current}/tasks/7`, `${legacy}/v1/tasks/7`]);
  });

  it.each([
    [`${AGENT}`, '/tasks/7'],
    [`${AGENT}/`, '/tasks/7'],
    [`${AGENT}/a/b//`, '/a/b/tasks/7'],
    [`${AGENT}//a/?tenant=1#part`, '//a/tasks/7'],
    ['https://AGENT.internal:443/a', '/a/tasks/7'],
  ])('at %s maps the call to %s', async (url, path) => {
    const world = new RestWorld();
    world.card = { name: 'Agent', supportedInterfaces: [{ ...NEW, url }] };
    await world.ask('GET', '/tasks/7');
    expect(world.upstream.requests).toMatchObject([{ origin: AGENT, path }]);
  });

  it.each([
    ['on another host', { supportedInterfaces: [{ ...NEW, url: 'https://elsewhere.example/rest' }] }],
    ['with another binding', { supportedInterfaces: [{ ...NEW, protocolBinding: 'JSONRPC' }] }],
    ['in a v0.3 field without a version', { supportedInterfaces: [LISTED] }],
    ['without an address', { supportedInterfaces: [{ ...NEW, url: undefined }] }],
    ['when it is not an object', { supportedInterfaces: [null, 7, 'HTTP+JSON'], additionalInterfaces: 'HTTP+JSON' }],
    ['when it is missing', {}],
  ])('is rejected %s', async (_what, fields) => {
    const world = new RestWorld();
    world.card = { name: 'Agent', ...fields };
    await expect(world.ask('GET', '/tasks/7')).rejects.toMatchObject({
      code: 'agent_binding_unsupported',
      detail: 'The agent has no HTTP+JSON interface this site can forward to.',
      hint: 'Use the JSON-RPC binding, or enable HTTP+JSON on the agent, on the host of "a2aUrl".',
      block: 'configureServer',
      fields: ['a2aUrl'],
    });
    expect(world.upstream.requests).toEqual([]);
  });
});

describe('the method policy of the HTTP+JSON binding', () => {
  const REFUSED = { code: 'body_invalid', rpcCode: -32602 };

  it('rejects a denied method before its body is read and any token fetched', async () => {
    const world = new RestWorld();
    const body = bodyOf('{');
    await expect(world.ask('POST', '/tasks/7/pushNotificationConfigs', { body })).rejects.toMatchObject({
      code: 'method_denied',
      rpcCode: -32003,
    });
    expect([world.account.issued, world.cardsAsked]).toEqual([0, []]);
  });

  it('rejects an HTTP method that the path does not support', async () => {
    await expect(new RestWorld().ask('DELETE', '/tasks/7')).rejects.toMatchObject({ code: 'method_denied' });
  });

  it('rejects a message that registers a webhook', async () => {
    const body = bodyOf('{"configuration":{"pushNotificationConfig":{"url":"https://attacker.example"}}}');
    await expect(new RestWorld().ask('POST', '/message:send', { body })).rejects.toMatchObject({
      code: 'method_denied',
      rpcCode: -32003,
    });
  });

  it.each(['[]', '{"message":{},"request":{}}'])('rejects the ambiguous body %s', async (text) => {
    const world = new RestWorld();
    await expect(world.ask('POST', '/message:send', { body: bodyOf(text) })).rejects.toMatchObject(REFUSED);
    expect(world.upstream.requests).toEqual([]);
  });

  it('does not check the members of the body when it denies nothing', async () => {
    const body = bodyOf('{"message":7,"message":8}');
    expect((await new RestWorld().ask('POST', '/message:send', { body, policy: 'all' })).status).toBe(200);
  });

  it('forwards a call without a body', async () => {
    expect((await new RestWorld().ask('POST', '/tasks/7:cancel', { body: undefined })).status).toBe(200);
  });
});

describe('an extended card of the HTTP+JSON binding', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const card = (world: RestWorld, path = '/extendedAgentCard') => world.ask('GET', path, { policy: 'all' });

  it.each(['/extendedAgentCard', '/v1/card'])(
    "from %s points to the site, without the agent's Content-Length and ETag",
    async (path) => {
      const world = new RestWorld();
      const headers = { ...JSON_TYPE, 'content-length': '7', etag: '"1"' };
      world.upstream.willAnswer(() => ({
        status: 200,
        headers,
        body: JSON.stringify({ ...CARD, description: 'More' }),
      }));
      const response = await card(world, path);
      expect({ ...response, body: JSON.parse(response.body as string) as unknown }).toEqual({
        status: 200,
        headers: { ...JSON_TYPE, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
        body: {
          name: 'Agent',
          description: 'More',
          supportedInterfaces: [
            { url: 'https://site.example/api/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
            { url: 'https://site.example/api/a2a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
          ],
        },
      });
    },
  );

  it.each([200, 203])('does not list an interface on another host (status %i)', async (status) => {
    const world = new RestWorld();
    const elsewhere = { url: 'https://elsewhere.example', protocolBinding: 'HTTP+JSON' };
    const extended = { ...CARD, supportedInterfaces: [{ url: AGENT, protocolBinding: 'JSONRPC' }, elsewhere] };
    world.upstream.willAnswer(() => ({ status, headers: JSON_TYPE, body: JSON.stringify(extended) }));
    expect((await card(world)).body).not.toContain('HTTP+JSON');
  });

  it.each([
    ['not JSON', '<html>', {}],
    ['not a card', '{"url":"https://agent.internal"}', {}],
    ['empty', '', {}],
    ['compressed', JSON.stringify(CARD), { 'content-encoding': 'gzip' }],
    ['longer than 1 MiB', JSON.stringify({ ...CARD, x: 'x'.repeat(1_048_576) }), {}],
  ])('is not forwarded when it is %s', async (_what, body, headers) => {
    const world = new RestWorld();
    world.upstream.willAnswer(() => ({
      status: 200,
      headers: { ...JSON_TYPE, ...headers },
      body: new WatchedBody(body),
    }));
    await expect(card(world)).rejects.toMatchObject({
      code: 'upstream_invalid_response',
      detail: 'The agent did not send its extended card.',
    });
  });

  it("keeps the JSON of the agent's error when rejected", async () => {
    const world = new RestWorld();
    world.upstream.willAnswer(() => ({ status: 404, headers: JSON_TYPE, body: '{"error":"none"}' }));
    expect(await card(world)).toMatchObject({ status: 404, body: '{"error":"none"}' });
  });

  it('is not looked for in other responses', async () => {
    expect(await new RestWorld().answered({ status: 200, headers: JSON_TYPE, body: 'a task' })).toMatchObject({
      body: 'a task',
    });
  });
});

it('the media type of a body reaches the agent', async () => {
  const world = new RestWorld();
  await world.ask('POST', '/message:send', { body: { ...bodyOf(MESSAGE), type: 'application/a2a+json' } });
  expect(world.upstream.requests[0]?.headers['content-type']).toBe('application/a2a+json');
});
