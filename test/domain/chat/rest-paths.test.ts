import { describe, expect, it } from 'vitest';
import { restPath } from '../../../src/domain/chat/rest-paths.js';

const told = (path: string): unknown => {
  const call = restPath(path);
  return call === undefined ? undefined : [call.path, call.isOld, call.methods];
};

describe('a path of the HTTP+JSON binding', () => {
  it.each([
    ['/message:send', { POST: 'SendMessage' }],
    ['/message:stream', { POST: 'SendStreamingMessage' }],
    ['/tasks', { GET: 'ListTasks' }],
    ['/tasks/7', { GET: 'GetTask' }],
    ['/tasks/7:cancel', { POST: 'CancelTask' }],
    ['/tasks/7:subscribe', { GET: 'SubscribeToTask', POST: 'SubscribeToTask' }],
    [
      '/tasks/7/pushNotificationConfigs',
      { GET: 'ListTaskPushNotificationConfigs', POST: 'CreateTaskPushNotificationConfig' },
    ],
    [
      '/tasks/7/pushNotificationConfigs/8',
      { GET: 'GetTaskPushNotificationConfig', DELETE: 'DeleteTaskPushNotificationConfig' },
    ],
  ])('%s is valid in v1.0, with a tenant, and in v0.3', (path, methods) => {
    expect(told(path)).toEqual([path, false, methods]);
    expect(told(`/acme${path}`)).toEqual([`/acme${path}`, false, methods]);
    expect(told(`/v1${path}`)).toEqual([`/v1${path}`, true, methods]);
  });

  it('for the extended card differs between versions', () => {
    expect(told('/extendedAgentCard')).toEqual(['/extendedAgentCard', false, { GET: 'GetExtendedAgentCard' }]);
    expect(told('/v1/card')).toEqual(['/v1/card', true, { GET: 'GetExtendedAgentCard' }]);
    expect(told('/card')).toBeUndefined();
    expect(told('/extendedAgentCards/tasks')).toEqual(['/extendedAgentCards/tasks', false, { GET: 'ListTasks' }]);
  });

  it('has the decoded id of its task, if it names one', () => {
    const ids = ['/tasks/%61%20b:cancel', '/tasks/7/pushNotificationConfigs/8', '/tasks', '/message:send'];
    expect(ids.map((path) => restPath(path)?.taskId)).toEqual(['a b', '7', undefined, undefined]);
  });

  it('has its ids re-encoded', () => {
    expect(restPath('/tasks/urn:task:7')?.path).toBe('/tasks/urn%3Atask%3A7');
    expect(restPath('/tasks/%61%20b:cancel')?.path).toBe('/tasks/a%20b:cancel');
    expect(restPath('/tasks/7:cancelled')?.path).toBe('/tasks/7%3Acancelled');
  });

  it.each([
    '',
    '/',
    '/message',
    '/message%3Asend',
    '/message:send/',
    '/message:delete',
    '/tasks/',
    '/tasks/:cancel',
    '/tasks/..',
    '/tasks/%2e%2e',
    '/tasks/a%2fb',
    '/tasks/a/b',
    '/tasks/7%3Acancel',
    '/tasks/7%253acancel',
    '/tasks/7:cancel:cancel',
    '/tasks/7/pushNotificationConfigs/..',
    '/../tasks/7',
    '/%2e%2e/tasks/7',
    '/a/b/tasks/7',
    '//acme/tasks/7',
    'x/acme/tasks/7',
    '/acme/tasks\n7',
    '/v1',
    '/v1/v1/tasks/7',
    '/v2x/message',
  ])('cannot be "%s"', (path) => {
    expect(restPath(path)).toBeUndefined();
  });
});
