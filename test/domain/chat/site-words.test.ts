import { describe, expect, it } from 'vitest';
import type { MetadataAbout, SiteMetadata } from '../../../src/domain/chat/sent-message.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { MessageFacts } from '../../../src/domain/credentials/route-auth.js';
import { SERVICE } from '../credentials/broker-fixture.js';
import { chatRequest, MESSAGE } from './chat-world.js';
import { RestWorld } from './rest-world.js';
import { VisitedWorld } from './visited-world.js';

const [HEADERS, NATIVE] = [{ 'content-type': 'application/json' }, { request: 'the request' }];

/** The facts that a function for header fields gets. */
function recording() {
  const facts: (MessageFacts | undefined)[] = [];
  const make = (_request: unknown, _session: unknown, message: MessageFacts | undefined) => {
    facts.push(message);
    return Promise.resolve({ 'x-session': message?.contextId });
  };
  return { facts, auth: { ...SERVICE, fields: { request: [], response: [], make } } };
}

describe('the header fields of the site', () => {
  it('know the context of a first message, and of a task once it is read', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const contextId = ada.begun();
    const { facts, auth } = recording();
    await ada.send({}, { auth });
    const [minted = ''] = /[a-f][0-9a-f-]{35}/.exec(world.calls[0] ?? '') ?? [];
    await ada.send({ contextId }, { auth });
    await ada.call('tasks/get', { id: 'task-1' }, { auth });
    await ada.send({ taskId: 'task-1' }, { auth });
    expect(facts).toEqual([
      { method: 'SendMessage', contextId: minted },
      { method: 'SendMessage', contextId },
      // The look-up.
      { method: 'GetTask', taskId: 'task-1' },
      { method: 'GetTask', contextId, taskId: 'task-1' },
      { method: 'SendMessage', contextId, taskId: 'task-1' },
    ]);
    const sent = world.rpc.upstream.requests.map(({ headers }) => headers['x-session']);
    expect(sent).toEqual([minted, contextId, undefined, contextId, contextId]);
  });

  it('know the task in a path', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const contextId = ada.begun();
    const { facts, auth } = recording();
    await ada.rest('POST', '/tasks/task-1:cancel', {}, { auth });
    // The first is the look-up of the card.
    expect(facts).toEqual([
      undefined,
      { method: 'GetTask', taskId: 'task-1' },
      { method: 'CancelTask', contextId, taskId: 'task-1' },
    ]);
  });
});

describe('the metadata of the site', () => {
  const asked: MetadataAbout[] = [];
  const metadata: SiteMetadata = {
    names: new Set(['plan']),
    passes: () => false,
    own: (about) => {
      asked.push(about);
      return Promise.resolve('"plan":"gold"');
    },
  };

  it('is made for each message, and for no other call', async () => {
    asked.length = 0;
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    ada.begun();
    const head = { native: NATIVE };
    await ada.send({}, { metadata, visitor: 'ada', head });
    await ada.call('message/stream', { message: { role: 'user' } }, { metadata, head });
    expect(asked).toEqual([
      { request: 'the request', session: null, visitor: 'ada' },
      { request: 'the request', session: null, visitor: null },
    ]);
    for (const call of world.calls) expect(call.match(/"metadata":\{"plan":"gold"\}/g)).toHaveLength(2);
    await ada.call('GetTask', { id: 'task-1', metadata: { plan: 'free' } }, { metadata });
    await ada.rest('GET', '/tasks/task-1', undefined, { metadata });
    expect(asked).toHaveLength(2);
    expect(world.calls.at(-2)).toBe('GetTask {"id":"task-1","metadata":{}}');
  });

  it('is not made for a message without a body', async () => {
    asked.length = 0;
    const world = new RestWorld();
    await world.ask('POST', '/message:send', { body: undefined, options: { metadata } });
    expect([asked, world.upstream.requests.length]).toEqual([[], 1]);
  });

  it('need not be configured for the metadata of a visitor to be dropped', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const { own: _own, ...rules } = metadata;
    await ada.send({ contextId: ada.begun(), metadata: { plan: 'gold' } }, { metadata: rules });
    expect(world.calls[0]).toContain('"metadata":{}');
  });
});

it('metadata is dropped and header fields are made where conversations are open, too', async () => {
  const { rpc, calls } = new VisitedWorld();
  const request = chatRequest('{"method":"SendMessage","params":{"message":{"role":"user","metadata":{"a":1}}}}');
  const policy = new MethodPolicy('chat');
  await rpc.forward(request, SERVICE, policy, { metadata: { names: new Set(), passes: () => false } });
  expect(calls).toEqual(['SendMessage {"message":{"role":"user","metadata":{}}}']);
  const { facts, auth } = recording();
  await rpc.forward(request, auth, policy);
  expect(facts).toEqual([{ method: 'SendMessage' }]);
});

it('fields that could name the work of another visitor are forwarded only if conversations are open', async () => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada');
  for (const name of ['last-event-id', 'idempotency-key']) {
    const head = { headers: { ...HEADERS, [name]: '7', 'a2a-version': '1.0' } };
    await ada.send({}, { head });
    await ada.rest('POST', '/message:send', { message: { role: 'ROLE_USER' } }, { head });
  }
  const requests = [...world.rpc.upstream.requests, ...world.rest.upstream.requests];
  expect(requests).toHaveLength(4);
  for (const { headers } of requests) {
    expect([headers['last-event-id'], headers['idempotency-key'], headers['a2a-version']]).toEqual([
      undefined,
      undefined,
      '1.0',
    ]);
  }
  const open = { 'last-event-id': '7', 'idempotency-key': '8' };
  await world.rest.ask('POST', '/message:send', { head: { headers: open } });
  await world.rpc.forward(chatRequest(MESSAGE, { headers: open }), SERVICE, new MethodPolicy('chat'));
  for (const { upstream } of [world.rpc, world.rest]) expect(upstream.requests.at(-1)?.headers).toMatchObject(open);
});
