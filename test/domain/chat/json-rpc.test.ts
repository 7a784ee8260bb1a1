import { describe, expect, it } from 'vitest';
import { rpcEnvelope, rpcIdOf } from '../../../src/domain/chat/json-rpc.js';

describe('the envelope of a request', () => {
  it('is its id, method and parameters', () => {
    const params = { message: {} };
    expect(rpcEnvelope({ jsonrpc: '2.0', id: 'a', method: 'message/send', params })).toEqual({
      id: 'a',
      method: 'message/send',
      params,
    });
  });

  it('may lack parameters and id', () => {
    expect(rpcEnvelope({ jsonrpc: '2.0', method: 'tasks/get' })).toEqual({
      id: null,
      method: 'tasks/get',
      params: undefined,
    });
  });

  it('may hold members nobody knows', () => {
    expect(rpcEnvelope({ method: 'tasks/get', meta: 1, Trace: 2 })?.method).toBe('tasks/get');
  });

  it.each([undefined, null, 'text', 7, true, [], [{ method: 'tasks/get' }], {}, { method: 7 }, { method: null }])(
    'is none in %j',
    (value) => {
      expect(rpcEnvelope(value)).toBeUndefined();
    },
  );

  it.each(['Method', 'METHOD', 'Params', 'ID', 'Jsonrpc'])('is none when a member is spelt %s', (name) => {
    expect(rpcEnvelope({ jsonrpc: '2.0', id: 1, method: 'tasks/get', [name]: 'tasks/list' })).toBeUndefined();
  });
});

describe('the id of an error answer', () => {
  it.each([
    [{ id: 'abc' }, 'abc'],
    [{ id: '' }, ''],
    [{ id: 7 }, 7],
    [{ id: 0 }, 0],
    [{ id: null }, null],
    [{ id: { a: 1 } }, null],
    [{ id: true }, null],
    [{}, null],
    [[{ id: 1 }], null],
    [null, null],
    [undefined, null],
    ['text', null],
  ])('for %j is %j', (value, id) => {
    expect(rpcIdOf(value)).toBe(id);
  });
});
