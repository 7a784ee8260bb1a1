import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../src/domain/chat/chat-message.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import { RequestError } from '../../../src/domain/shared/errors.js';

/** Each method in both spellings, and the JSON-RPC code it is refused with. */
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

const QUIET: ChatMessage = { id: '1', method: '', hasPushConfiguration: false };

function refusal(policy: MethodPolicy, method: string, message: ChatMessage | undefined = QUIET): unknown {
  try {
    policy.check(method, message);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('the policy "chat"', () => {
  const policy = new MethodPolicy('chat');

  it('depends on everything that says what a message does', () => {
    expect(policy.scrutiny).toBe('policy');
  });

  it.each(CHAT)('lets %s cross, which is also %s', (old, current) => {
    expect([policy.allows(old), policy.allows(current)]).toEqual([true, true]);
    expect([refusal(policy, old), refusal(policy, current)]).toEqual([undefined, undefined]);
  });

  it.each(OTHERS)('refuses %s, which is also %s, with %i', (old, current, rpcCode) => {
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
  ])('refuses "%s", which it does not know', (method) => {
    expect(refusal(policy, method)).toMatchObject({ code: 'method_denied', rpcCode: -32601 });
  });

  it.each(['message/send', 'SendStreamingMessage'])('refuses a %s that registers a webhook', (method) => {
    expect(refusal(policy, method, { ...QUIET, hasPushConfiguration: true })).toMatchObject({
      code: 'method_denied',
      rpcCode: -32003,
      detail: 'Push notifications are not available here.',
    });
  });

  it('refuses a message with a fault before it looks at the method', () => {
    const fault = new RequestError('body_invalid', { detail: 'There are two.', rpcCode: -32600 });
    expect(refusal(policy, 'tasks/list', { ...QUIET, fault })).toBe(fault);
  });

  it('lets a call without a body cross', () => {
    expect(() => policy.check('tasks/cancel', undefined)).not.toThrow();
  });
});

describe('the policy "all"', () => {
  const policy = new MethodPolicy('all');

  it('lets every method cross and depends on nothing else', () => {
    expect(policy.scrutiny).toBe('method');
    for (const method of ['tasks/list', 'ListTasks', 'anything']) {
      expect(policy.allows(method)).toBe(true);
      expect(refusal(policy, method, { ...QUIET, hasPushConfiguration: true })).toBeUndefined();
    }
  });
});

describe('a list of methods', () => {
  it('stands for both spellings, whichever one it uses', () => {
    const policy = new MethodPolicy(['message/send', 'ListTasks']);
    expect(['message/send', 'SendMessage', 'tasks/list', 'ListTasks'].map((method) => policy.allows(method))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(policy.allows('message/stream')).toBe(false);
    expect(policy.scrutiny).toBe('policy');
  });

  const spellings = [...CHAT, ...OTHERS].map(([old, current]) => [old, current] as const);

  it.each(spellings)('has %s where it has %s, and the other way round', (old, current) => {
    expect([new MethodPolicy([old]).allows(current), new MethodPolicy([current]).allows(old)]).toEqual([true, true]);
  });

  it("may name a method of the agent's own", () => {
    const policy = new MethodPolicy(['acme/search']);
    expect([policy.allows('acme/search'), policy.allows('SendMessage')]).toEqual([true, false]);
  });

  it('that is empty lets nothing cross', () => {
    expect(refusal(new MethodPolicy([]), 'message/send')).toMatchObject({ code: 'method_denied' });
  });

  it('with push configuration in it lets a message register a webhook', () => {
    const policy = new MethodPolicy(['message/send', 'tasks/pushNotificationConfig/set']);
    expect(refusal(policy, 'message/send', { ...QUIET, hasPushConfiguration: true })).toBeUndefined();
  });
});
