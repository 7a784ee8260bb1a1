import { describe, expect, it } from 'vitest';
import { type A2ACall, currentName } from '../../../src/domain/chat/call.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import { RequestError } from '../../../src/domain/shared/errors.js';

/** Each method in both spellings, with the JSON-RPC code of its refusal. */
const CHAT: readonly (readonly [string, string])[] = [
  ['message/send', 'SendMessage'],
  ['message/stream', 'SendStreamingMessage'],
  ['tasks/get', 'GetTask'],
  ['tasks/cancel', 'CancelTask'],
  ['tasks/resubscribe', 'SubscribeToTask'],
];
const OTHERS: readonly (readonly [string, string, number])[] = [
  ['tasks/list', 'ListTasks', -32004],
  ['tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig', -32003],
  ['tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig', -32003],
  ['tasks/pushNotificationConfig/list', 'ListTaskPushNotificationConfigs', -32003],
  ['tasks/pushNotificationConfig/delete', 'DeleteTaskPushNotificationConfig', -32003],
  ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard', -32601],
];

const QUIET: A2ACall = {
  binding: 'JSONRPC',
  method: '',
  isOld: false,
  kind: 'other',
  id: '1',
  tenants: [],
  hasPush: false,
  query: '',
};

function refusal(policy: MethodPolicy, method: string, call: Partial<A2ACall> = {}): unknown {
  try {
    policy.check({ ...QUIET, method: currentName(method), ...call });
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('the policy "chat"', () => {
  const policy = new MethodPolicy('chat');

  it("depends on every member that determines a message's effect", () => {
    expect(policy.isStrict).toBe(true);
  });

  it.each(CHAT)('allows %s, alias %s', (old, current) => {
    expect([policy.allows(old), policy.allows(current)]).toEqual([true, true]);
    expect([refusal(policy, old), refusal(policy, current)]).toEqual([undefined, undefined]);
  });

  it.each(OTHERS)('rejects %s, alias %s, with %i', (old, current, rpcCode) => {
    for (const method of [old, current]) {
      expect(policy.allows(method)).toBe(false);
      expect(refusal(policy, method)).toMatchObject({
        name: 'RequestError',
        code: 'method_denied',
        rpcCode,
        detail: 'This method is not available here.',
        hint: 'The site allows chat methods only; its operator can change "a2aMethods".',
        fields: ['a2aMethods'],
      });
    }
  });

  it.each([
    '',
    'sendMessage',
    'SENDMESSAGE',
    'message/Send',
    'SendMessage ',
    'rpc.discover',
    'constructor',
    '__proto__',
  ])('rejects the unknown method "%s"', (method) => {
    expect(refusal(policy, method)).toMatchObject({ code: 'method_denied', rpcCode: -32601 });
  });

  it.each(['message/send', 'SendStreamingMessage'])('rejects a %s that registers a webhook', (method) => {
    expect(refusal(policy, method, { hasPush: true })).toMatchObject({
      code: 'method_denied',
      rpcCode: -32003,
      detail: 'Push notifications are not available here.',
    });
  });

  it('rejects a message with a fault before its method', () => {
    const fault = new RequestError('body_invalid', { detail: 'There are two.', rpcCode: -32600 });
    expect(refusal(policy, 'tasks/list', { fault })).toBe(fault);
  });
});

describe('the policy "all"', () => {
  const policy = new MethodPolicy('all');

  it('allows every method without further checks', () => {
    expect(policy.isStrict).toBe(false);
    for (const method of ['tasks/list', 'ListTasks', 'anything']) {
      expect(policy.allows(method)).toBe(true);
      expect(refusal(policy, method, { hasPush: true })).toBeUndefined();
    }
  });
});

describe('a list of methods', () => {
  const spellings = [...CHAT, ...OTHERS].map(([old, current]) => [old, current] as const);

  it.each(spellings)('allows %s when it has %s, and vice versa', (old, current) => {
    expect([new MethodPolicy([old]).allows(current), new MethodPolicy([current]).allows(old)]).toEqual([true, true]);
  });

  it('may name a custom method of the agent', () => {
    const policy = new MethodPolicy(['acme/search']);
    expect([policy.allows('acme/search'), policy.allows('SendMessage')]).toEqual([true, false]);
    expect(policy.isStrict).toBe(true);
  });

  it('rejects every method when empty', () => {
    expect(refusal(new MethodPolicy([]), 'message/send')).toMatchObject({ code: 'method_denied' });
  });

  it('that includes push configuration allows a message with a webhook', () => {
    const policy = new MethodPolicy(['message/send', 'tasks/pushNotificationConfig/set']);
    expect(refusal(policy, 'message/send', { hasPush: true })).toBeUndefined();
  });
});
