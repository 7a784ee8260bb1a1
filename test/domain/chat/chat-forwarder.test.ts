import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import { SERVICE, sessionPlan } from '../credentials/broker-fixture.js';
import { chatRequest, ChatWorld, inTurn, MESSAGE, WatchedBody } from './chat-world.js';

const CHAT = new MethodPolicy('chat');
const ALL = new MethodPolicy('all');
const REFUSED = { status: 401, headers: {}, body: null };

function session(): RouteAuth {
  const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada-token' });
  return sessionPlan(source);
}

describe('a chat request', () => {
  it('is sent to the agent alone, with the credential and an unchanged body', async () => {
    const world = new ChatWorld();
    const body = new TextEncoder().encode(MESSAGE);
    const signal = new AbortController().signal;
    const theirs = { authorization: 'Bearer theirs', cookie: 'sid=1', 'x-api-key': 'theirs', host: 'site.example' };
    const headers = { 'content-type': 'application/json; charset=utf-8', ...theirs };
    const request = chatRequest(MESSAGE, { headers, query: '?tenant=1', signal });
    await world.forward(request, SERVICE, CHAT);
    expect(world.upstream.requests).toEqual([
      {
        method: 'POST',
        origin: 'https://agent.example',
        path: '/a2a?tenant=1',
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer account-token-1',
          'x-api-key': 'site-key',
        },
        body,
        signal,
        headersMs: 60_000,
        bodyIdleMs: 30_000,
      },
    ]);
    expect(world.upstream.requests[0]?.signal).toBe(signal);
  });

  it('lets other requests run before a long message is changed, and only then', async () => {
    const rules = { names: new Set<string>(), passes: () => false };
    const order: string[] = [];
    for (const [length, metadata] of [
      [300_000, rules],
      [300_000, undefined],
      [1_000, rules],
    ] as const) {
      const world = new ChatWorld({ nextTurn: () => Promise.resolve(void order.push('others')) });
      const text = `{"method":"message/send","params":{"message":{"text":"${'x'.repeat(length)}","metadata":{"a":1}}}}`;
      world.upstream.willAnswer(() => ({ status: 200, headers: {}, body: null }));
      await world.forward(chatRequest(text), SERVICE, CHAT, { metadata }).catch(() => undefined);
      order.push(`sent ${String(world.upstream.requests.length)}`);
    }
    expect(order).toEqual(['others', 'sent 1', 'sent 1', 'sent 1']);
  });

  it("returns the agent's status, allowed fields and exact body", async () => {
    const world = new ChatWorld();
    const body = new WatchedBody('data: {}\n\n');
    const headers = { 'content-type': 'text/event-stream', 'set-cookie': 'a=b', server: 'agent' };
    world.upstream.willAnswer(() => ({ status: 202, headers, body }));
    const response = await world.forward(chatRequest(), SERVICE, CHAT);
    expect(response.status).toBe(202);
    expect(response.body).toBe(body);
    expect(body.ended).toBe(false);
    expect(Object.keys(response.headers).sort()).toEqual([
      'cache-control',
      'content-type',
      'x-accel-buffering',
      'x-content-type-options',
    ]);
  });

  it('fails without a configured agent, naming the field before any token is fetched', async () => {
    const world = new ChatWorld({ agent: undefined });
    await expect(world.forward(chatRequest(), SERVICE, CHAT)).rejects.toMatchObject({
      code: 'service_auth_failed',
      block: 'configureServer',
      fields: ['a2aUrl'],
    });
    expect(world.account.issued).toBe(0);
  });

  const UNSAFE = [
    chatRequest(MESSAGE, { query: '?a#b' }),
    { code: 'not_found', detail: 'There is no such route.' },
  ] as const;
  const DENIED = [
    chatRequest('{"jsonrpc":"2.0","id":1,"method":"tasks/list"}'),
    { code: 'method_denied', rpcCode: -32004 },
  ] as const;
  const AMBIGUOUS = [
    chatRequest('{"jsonrpc":"2.0","id":1,"method":"message/send","Method":"tasks/list"}'),
    {
      code: 'body_invalid',
      rpcCode: -32600,
      detail: 'A member resembles "method" but is spelled differently.',
      hint: 'Send one A2A request with each member once, under its name in the specification.',
    },
  ] as const;

  it.each([
    ['an unsafe query', ...UNSAFE],
    ['a denied method', ...DENIED],
    ['an ambiguous message', ...AMBIGUOUS],
  ] as const)('with %s is rejected before any token is fetched', async (_what, request, expected) => {
    const world = new ChatWorld();
    await expect(world.forward(request, SERVICE, CHAT)).rejects.toMatchObject(expected);
    expect([world.account.issued, world.upstream.requests]).toEqual([0, []]);
  });
});

describe('the method policy of a chat request', () => {
  it('allows a repeated field deep inside a message', async () => {
    const world = new ChatWorld();
    const text = '{"method":"message/send","params":{"message":{"metadata":{"a":1,"a":2}}}}';
    expect((await world.forward(chatRequest(text), SERVICE, CHAT)).status).toBe(200);
  });

  it.each(['tasks/list', 'acme/search'])('that denies nothing forwards %s with any parameters', async (method) => {
    const world = new ChatWorld();
    const request = chatRequest(`{"method":"${method}","params":[{"a":1,"a":2}]}`, {}, ALL.isStrict);
    expect((await world.forward(request, session(), ALL)).status).toBe(200);
  });

  it.each([
    ['a body that is not JSON', 'not json', undefined],
    ['a batch', '[{"method":"GetExtendedAgentCard"}]', -32600],
    ['a method in another case', '{"method":"tasks/get","Method":"GetExtendedAgentCard"}', -32600],
  ])('that denies nothing rejects %s, which could request an extended card', async (_what, text, rpcCode) => {
    const world = new ChatWorld();
    const request = chatRequest(text, {}, ALL.isStrict);
    await expect(world.forward(request, session(), ALL)).rejects.toMatchObject({
      code: 'body_invalid',
      rpcCode,
    });
    expect(world.upstream.requests).toEqual([]);
  });
});

describe('a credential rejected by the agent', () => {
  it('is reported with its block after a second rejection, without a third attempt', async () => {
    const world = new ChatWorld();
    const bodies = [new WatchedBody('no'), new WatchedBody('no')];
    world.upstream.willAnswer(inTurn(...bodies.map((body) => ({ ...REFUSED, body }))));
    await expect(world.forward(chatRequest(), SERVICE, CHAT)).rejects.toMatchObject({
      name: 'ServiceAuthError',
      code: 'service_token_rejected',
      block: 'serviceAccount',
      fields: ['serviceAccountId', 'keyId', 'privateKeyPem', 'privateKeyPath', 'audience'],
      retryable: false,
    });
    expect(world.upstream.requests).toHaveLength(2);
    expect(bodies.map(({ ended }) => ended)).toEqual([true, true]);
  });

  it('is reported and not renewed when it is an API key', async () => {
    const world = new ChatWorld({}, { strategy: '', hasServiceAccount: false });
    world.upstream.willAnswer(() => REFUSED);
    await expect(world.forward(chatRequest(), SERVICE, CHAT)).rejects.toMatchObject({
      code: 'service_token_rejected',
      block: 'serviceApiKey',
      fields: [],
      hint: 'Check "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy".',
    });
    expect(world.upstream.requests).toHaveLength(1);
  });
});
