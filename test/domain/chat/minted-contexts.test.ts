import { describe, expect, it } from 'vitest';
import { visitorCrypto } from '../../../src/adapters/keyv/visitor-crypto.js';
import { type ContextScope, MintedContexts, type VisitorKey } from '../../../src/domain/chat/minted-contexts.js';

const contexts = new MintedContexts(visitorCrypto);
const KEY: VisitorKey = { kind: 'user', user: 'ada', key: new Uint8Array(32).fill(7) };
const SCOPE: ContextScope = { agent: 'https://agent.example/a2a', tenant: 'acme', account: 'service' };
const CONTEXT = contexts.mint(KEY, SCOPE);

describe('the id of a conversation', () => {
  it('is a lower-case UUID of version 8 that begins with a letter, and every one is new', () => {
    const minted = Array.from({ length: 2_000 }, () => contexts.mint(KEY, SCOPE));
    for (const id of minted)
      expect(id).toMatch(/^[a-f][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(minted).size).toBe(minted.length);
    expect(new Set(minted.map(([first]) => first)).size).toBe(6);
    expect(new Set(minted.map((id) => id[19])).size).toBe(4);
  });

  it('is known to its visitor, in every place of the list of keys', () => {
    const others = [1, 2].map((byte): VisitorKey => ({ ...KEY, key: new Uint8Array(32).fill(byte) }));
    for (let place = 0; place < 3; place += 1) {
      expect(contexts.verify(CONTEXT, others.toSpliced(place, 0, KEY), SCOPE)).toBe(true);
    }
    expect(contexts.verify(CONTEXT, others, SCOPE)).toBe(false);
    expect(contexts.verify(CONTEXT, [], SCOPE)).toBe(false);
  });

  it.each<[string, VisitorKey, ContextScope]>([
    ['another user', { ...KEY, user: 'bob' }, SCOPE],
    ['a user and no name', { ...KEY, user: '' }, SCOPE],
    ['another kind of visitor', { ...KEY, kind: 'cookie' }, SCOPE],
    ['another key', { ...KEY, key: new Uint8Array(32).fill(8) }, SCOPE],
    ['another agent', KEY, { ...SCOPE, agent: 'https://other.example/a2a' }],
    ['another tenant', KEY, { ...SCOPE, tenant: 'globex' }],
    ['no tenant', KEY, { ...SCOPE, tenant: '' }],
    ['another account', KEY, { ...SCOPE, account: 'staff' }],
    ['fields that only join to the same text', KEY, { ...SCOPE, tenant: 'acmes', account: 'ervice' }],
  ])('is unknown to %s', (_who, key, scope) => {
    expect(contexts.verify(CONTEXT, [KEY], SCOPE)).toBe(true);
    expect(contexts.verify(CONTEXT, [key], scope)).toBe(false);
  });

  it('of a cookie is remembered for that cookie and place alone', () => {
    const cookie: VisitorKey = { kind: 'cookie', user: '', key: 'A'.repeat(22) };
    const context = contexts.mint(cookie, SCOPE);
    const known = (key: VisitorKey, scope: ContextScope): boolean[] =>
      [1, 2].map(() => contexts.verify(context, [key], scope));
    expect(known(cookie, SCOPE)).toEqual([true, true]);
    expect(known({ ...cookie, key: 'B'.repeat(22) }, SCOPE)).toEqual([false, false]);
    expect(known({ ...KEY, user: '' }, SCOPE)).toEqual([false, false]);
    for (const part of ['agent', 'tenant', 'account'] as const) {
      expect(known(cookie, { ...SCOPE, [part]: 'other' })).toEqual([false, false]);
    }
  });

  it.each<[string, readonly VisitorKey[]]>([
    ['a cookie', [{ kind: 'cookie', user: '', key: 'C'.repeat(22) }]],
    ['a user whose keys are rotated', [{ ...KEY, key: new Uint8Array(32).fill(9) }, KEY]],
  ])('of %s costs no MAC once it has verified', (_who, keys) => {
    let macs = 0;
    const mac: typeof visitorCrypto.mac = (...given) => {
      macs += 1;
      return visitorCrypto.mac(...given);
    };
    const counted = new MintedContexts({ ...visitorCrypto, mac });
    const context = contexts.mint(keys.at(-1) ?? KEY, SCOPE);
    const costs = [1, 2, 3].map(() => {
      const before = macs;
      return [counted.verify(context, keys, { ...SCOPE }), macs - before];
    });
    expect(costs).toEqual([
      [true, keys.length],
      [true, 0],
      [true, 0],
    ]);
  });

  it('is remembered until 10,000 others have verified', () => {
    let [minted, macs] = [0, 0];
    const random = () => (minted += 1).toString(16).padStart(12, '0');
    const mac = () => {
      macs += 1;
      return '0'.repeat(64);
    };
    const counted = new MintedContexts({ ...visitorCrypto, random, mac });
    const ids = Array.from({ length: 10_001 }, () => counted.mint(KEY, SCOPE));
    expect(ids.every((id) => counted.verify(id, [KEY], SCOPE))).toBe(true);
    const costs = [ids[1] ?? '', ids[0] ?? ''].map((id) => {
      const before = macs;
      return [counted.verify(id, [KEY], SCOPE), macs - before];
    });
    expect(costs).toEqual([
      [true, 0],
      [true, 1],
    ]);
  });

  it('is unknown after a change of any one of its 128 bits', () => {
    const hex = CONTEXT.replaceAll('-', '');
    for (let bit = 0; bit < 128; bit += 1) {
      const digit = (Number.parseInt(hex[bit >> 2] ?? '', 16) ^ (1 << (bit & 3))).toString(16);
      const changed = hex.slice(0, bit >> 2) + digit + hex.slice((bit >> 2) + 1);
      const id = changed.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      expect([bit, contexts.verify(id, [KEY], SCOPE)]).toEqual([bit, false]);
    }
  });

  it.each([
    ['upper case', CONTEXT.toUpperCase()],
    ['a blank', `${CONTEXT} `],
    ['a line end', `${CONTEXT}\n`],
    ['no dashes', CONTEXT.replaceAll('-', '')],
    ['nothing', ''],
    ['braces', `{${CONTEXT}}`],
    ['a prefix', `urn:uuid:${CONTEXT}`],
  ])('has no other spelling: %s', (_spelling, id) => {
    expect(contexts.verify(id, [KEY], SCOPE)).toBe(false);
  });
});
