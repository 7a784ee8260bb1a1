import { describe, expect, it } from 'vitest';
import { errorOf } from '../../support/error-of.js';
import { VisitedWorld } from './visited-world.js';

const INVALID = {
  code: 'body_invalid',
  hint: 'Send only members of the A2A specification, each with a valid value.',
  rpcCode: -32602,
};
const undefinedMember = (name: string) => ({ ...INVALID, detail: `The member "${name}" is not defined here.` });
const MESSAGE = { role: 'ROLE_USER' };
const SENT = { message: MESSAGE, configuration: {}, metadata: {}, tenant: 'acme' };
const NAMED = { id: 'task-1', metadata: {}, tenant: 'acme' };

describe('where conversations belong to their visitors', () => {
  it.each([
    'ListTasks',
    'tasks/list',
    'CreateTaskPushNotificationConfig',
    'tasks/pushNotificationConfig/get',
    'memory/read',
  ])('the method %s is denied under every policy', async (method) => {
    const world = new VisitedWorld();
    expect(await errorOf(world.visitor('ada').call(method, {}))).toMatchObject({
      code: 'method_denied',
      detail: 'This method is not available where conversations belong to their visitors.',
      hint: 'Use a method of the chat.',
      rpcCode: -32601,
    });
    expect(world.calls).toEqual([]);
  });

  it.each<[string, object]>([
    ['SendMessage', SENT],
    ['SendStreamingMessage', SENT],
    ['GetTask', { ...NAMED, historyLength: 2 }],
    ['CancelTask', NAMED],
    ['SubscribeToTask', NAMED],
    ['GetExtendedAgentCard', { tenant: 'acme' }],
  ])('%s is forwarded with its members in A2A, and rejected with any other', async (method, params) => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    ada.begun('task-1', { tenant: 'acme' });
    await ada.call(method, params);
    const before = world.calls.length;
    for (const name of ['sessionId', 'context_id', 'extra', ...(method === 'GetTask' ? [] : ['historyLength'])]) {
      expect(await errorOf(ada.call(method, { ...params, [name]: 'x' }))).toMatchObject({ code: 'body_invalid' });
    }
    expect(await errorOf(ada.call(method, { ...params, sessionId: 1 }))).toMatchObject(undefinedMember('sessionId'));
    expect(world.calls).toHaveLength(before);
    // Every parser reads null like a member that is missing.
    await ada.call(method, { ...params, sessionId: null });
    expect(world.calls.at(-1)).toContain('"sessionId":null');
  });

  it.each(['message', 'configuration'] as const)('"%s" has no members that A2A does not define', async (place) => {
    const world = new VisitedWorld();
    const defined = {
      message: {
        content: [],
        contextId: null,
        extensions: [],
        kind: 'message',
        messageId: 'm',
        metadata: {},
        parts: [],
      },
      configuration: { acceptedOutputModes: [], blocking: true, historyLength: 1, returnImmediately: false },
    };
    const ada = world.visitor('ada');
    await ada.call('SendMessage', defined);
    const more = { ...defined, [place]: { ...defined[place], threadId: 'x' } };
    expect(await errorOf(ada.call('SendMessage', more))).toMatchObject(undefinedMember('threadId'));
    const long = { ...defined, [place]: { ['x'.repeat(65)]: 1 } };
    expect(await errorOf(ada.call('SendMessage', long))).toMatchObject(undefinedMember('x'.repeat(64)));
    expect(world.calls).toHaveLength(1);
  });

  it('the envelope has no members that JSON-RPC does not define', async () => {
    const ada = new VisitedWorld().visitor('ada');
    expect(await errorOf(ada.send({}, { more: ',"sessionId":"x"' }))).toMatchObject(undefinedMember('sessionId'));
  });

  it.each([{}, { message: {} }, { message: null }])('a message must have members: %j', async (params) => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const error = { ...INVALID, detail: 'The request has no "message".' };
    expect(await errorOf(ada.call('SendMessage', params))).toMatchObject(error);
    expect(await errorOf(ada.rest('POST', '/message:send', params))).toMatchObject(error);
    expect(await errorOf(ada.rest('POST', '/message:send'))).toMatchObject(error);
    expect(world.calls).toEqual([]);
  });

  it('a request names one tenant', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const url = 'https://agent.internal/rest';
    const supportedInterfaces = ['acme', 'globex'].map((tenant) => ({ url, protocolBinding: 'HTTP+JSON', tenant }));
    world.rest.card = { name: 'Agent', supportedInterfaces };
    const tenants = (tenant: string) =>
      ada.rest('POST', '/acme/message:send', { message: MESSAGE, tenant }, { tenant: undefined });
    await tenants('acme');
    expect(await errorOf(tenants('globex'))).toMatchObject({ ...INVALID, detail: 'The request names two tenants.' });
    expect(world.calls).toHaveLength(1);
  });

  it.each([
    ['', true, true],
    ['?A2A-Version=1.0', true, true],
    ['?a2a-version=', true, true],
    ['?historyLength=10', false, true],
    ['?historyLength=10&A2A-Version=1.0', false, true],
    ['?A2A-Version=1.0&tenant=acme', false, false],
    ['?A2A-Version=1.0&contextId=x', false, false],
    ['?A2A-Version=1.0&', false, false],
    ['?contextId=x', false, false],
    ['?contextId=x&A2A-Version=1.0', false, false],
    ['?contextId=x?A2A-Version=1.0', false, false],
    ['?', false, false],
    ['?A2A-Version', false, false],
    ['?historyLength=%31', false, false],
    ['?historyLength=1;contextId=x', false, false],
  ])('the query "%s" is forwarded in JSON-RPC: %s, in HTTP+JSON: %s', async (query, inRpc, inRest) => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    ada.begun();
    const error = {
      ...INVALID,
      detail: 'The query names something other than "A2A-Version" and "historyLength".',
    };
    const calls = [
      [inRpc, () => ada.call('GetTask', { id: 'task-1' }, { head: { query } })],
      [inRest, () => ada.rest('GET', '/tasks/task-1', undefined, { head: { query } })],
    ] as const;
    for (const [crosses, call] of calls) {
      if (crosses) await call();
      else expect(await errorOf(call())).toMatchObject(error);
    }
  });
});
