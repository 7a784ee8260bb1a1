import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { optionalSecret, secret } from '../../../src/domain/shared/secret.js';

const VALUE = 'hunter2-and-more';

describe('a secret', () => {
  it('reveals its value on an explicit call', () => {
    expect(secret(VALUE).reveal()).toBe(VALUE);
  });

  it('is absent when empty', () => {
    expect(optionalSecret(VALUE)?.reveal()).toBe(VALUE);
    expect([optionalSecret(''), optionalSecret(undefined)]).toEqual([undefined, undefined]);
  });

  it.each<[string, (hidden: object) => string, string]>([
    ['inspected', (hidden) => inspect(hidden), '[redacted]'],
    ['inspected twelve levels deep', (hidden) => inspect({ a: { b: { c: [hidden] } } }, { depth: 12 }), '[redacted]'],
    [
      'inspected with hidden properties',
      (hidden) => inspect(hidden, { showHidden: true, getters: true }),
      '[redacted]',
    ],
    [
      'inspected without its own printer',
      (hidden) => inspect(hidden, { customInspect: false, showHidden: true }),
      'HiddenSecret',
    ],
    ['inspected in a Map', (hidden) => inspect(new Map([['key', hidden]])), '[redacted]'],
    ['serialized', (hidden) => JSON.stringify(hidden), '"[redacted]"'],
    ['serialized inside an object', (hidden) => JSON.stringify({ a: [hidden] }), '{"a":["[redacted]"]}'],
    ['converted to a string', (hidden) => String(hidden), '[redacted]'],
    ['put into a template', (hidden) => `key=${hidden as unknown as string}`, 'key=[redacted]'],
    ['joined', (hidden) => [hidden, hidden].join(' '), '[redacted] [redacted]'],
    ['added to text', (hidden) => 'key=' + (hidden as unknown as string), 'key=[redacted]'],
    ['spread', (hidden) => JSON.stringify({ ...hidden }), '{}'],
    ['listed', (hidden) => JSON.stringify([Object.entries(hidden), Reflect.ownKeys(hidden)]), '[[],[]]'],
    ['cloned', (hidden) => inspect(structuredClone(hidden), { showHidden: true }), '{}'],
    [
      'thrown inside an error',
      (hidden) => inspect(new Error('broken', { cause: hidden }), { depth: 12 }),
      '[redacted]',
    ],
  ])('stays hidden when %s', (_how, print, shown) => {
    const text = print(secret(VALUE));
    expect(text).toContain(shown);
    expect(text).not.toContain(VALUE);
  });
});
