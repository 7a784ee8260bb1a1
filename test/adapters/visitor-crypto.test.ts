import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mac } from '../../src/adapters/keyv/visitor-crypto.js';

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 37) % 256);

describe('the MAC of a conversation', () => {
  it('is that of RFC 4231, test case 2', () => {
    const digest = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
    expect(mac('Jefe', 'what do ya want for nothing?')).toBe(digest);
  });

  it.each<[string, Uint8Array | string, string]>([
    ['the secret of a cookie', 'x'.repeat(22), 'a place'],
    ['a key of users', bytes(32), 'a place'],
    ['a key of one block', bytes(64), 'a place'],
    ['a key longer than a block', bytes(65), 'a place'],
    ['a key that is longer in UTF-8', 'ü'.repeat(40), 'a place'],
    ['an empty key', '', ''],
    ['letters outside of ASCII', bytes(32), 'größe 🙂 \ud800'],
    ['the longest text of one buffer', bytes(32), '€'.repeat(341)],
    ['a longer text', bytes(32), '€'.repeat(342)],
    ['a very long text', bytes(32), 'x'.repeat(5_000)],
  ])('is that of Node for %s, also after others', (_what, key, text) => {
    mac(bytes(64), 'y'.repeat(300));
    expect(mac(key, text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
  });
});
