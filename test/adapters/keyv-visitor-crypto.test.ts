import { expect, it } from 'vitest';
import { visitorCrypto } from '../../src/adapters/keyv/visitor-crypto.js';

it('random texts have their full length and never repeat, however many are drawn', () => {
  const texts = Array.from({ length: 600 }, () => visitorCrypto.random(16, 'base64url'));
  expect(texts.filter((text) => text.length !== 22)).toEqual([]);
  expect(new Set(texts).size).toBe(600);
});

it('a MAC is the same in every process and version', () => {
  expect(visitorCrypto.mac(new Uint8Array(32), 'text')).toMatch(/^0611b704abab473f[\da-f]{48}$/);
});

it.each([
  ['abc', 'abc', true],
  ['abc', 'abd', false],
  ['abc', 'abcd', false],
])('%s and %s are equal: %s', (one, other, isEqual) => {
  expect(visitorCrypto.equal(one, other)).toBe(isEqual);
});

it('a text opens under its own key and name only', () => {
  const [key, other] = [new Uint8Array(32), new Uint8Array(32).fill(1)];
  const sealed = visitorCrypto.seal(key, 'name', 'grüezi');
  expect(visitorCrypto.open(key, 'name', sealed)).toBe('grüezi');
  expect(visitorCrypto.open(other, 'name', sealed)).toBeUndefined();
  expect(visitorCrypto.open(key, 'other', sealed)).toBeUndefined();
});
