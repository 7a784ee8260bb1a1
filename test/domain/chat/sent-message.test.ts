import { describe, expect, it } from 'vitest';
import { readRestCall, readRpcCall } from '../../../src/domain/chat/call.js';
import { normalizedName } from '../../../src/domain/chat/member-names.js';
import { restPath, type RestPath } from '../../../src/domain/chat/rest-paths.js';
import { sentBytes, type SiteMetadata } from '../../../src/domain/chat/sent-message.js';

const SEND = restPath('/message:send') as RestPath;

/** The params after the changes. */
function edited(params: string, { contextId, metadata: rules, own = '' }: Edits): string {
  const body = { bytes: new TextEncoder().encode(params), type: 'application/json' };
  const call = readRestCall(SEND, { method: 'POST', query: '' }, body, true);
  expect(call.fault).toBeUndefined();
  return new TextDecoder().decode(sentBytes(call, { contextId, rules, own }) ?? undefined);
}

interface Edits {
  readonly contextId?: string;
  readonly metadata?: SiteMetadata;
  readonly own?: string;
}

const DROP: Edits = { metadata: { names: new Set<string>(), passes: () => false } };
const RULES: SiteMetadata = { names: new Set(['plan', 'größe'].map(normalizedName)), passes: () => true };
const PASS: Edits = { metadata: RULES, own: '"plan":"gold"' };

/** Members of metadata with short names, without the braces. */
function members(count: number): string {
  return Array.from({ length: count }, (_, at) => `"m${String(at)}":1`).join();
}

describe('a message that waits', () => {
  it.each([
    ['with a short body keeps its value until it is sent', 4_096, false],
    ['with a longer body keeps bytes alone', 4_097, true],
  ])('%s', (_what, length, isBytes) => {
    const text = `{"message":{"text":"${'x'.repeat(length - 23)}"}}`;
    const bytes = new TextEncoder().encode(text);
    expect(bytes).toHaveLength(length);
    const call = readRestCall(SEND, { method: 'POST', query: '' }, { bytes, type: 'application/json' }, true);
    expect(call.body?.content instanceof Uint8Array).toBe(isBytes);
    expect(sentBytes(call, { rules: undefined, own: '' })).toBe(bytes);
    expect(call.body?.content).toBe(bytes);
  });
});

describe('an edited message', () => {
  it.each<[string, string, boolean]>([
    ['1,000 members', members(1_000), true],
    ['1,001 members', members(1_001), false],
    ['a name of 256 characters', `"${'x'.repeat(256)}":1`, true],
    ['a name of 257 characters', `"${'x'.repeat(257)}":1`, false],
  ])('may have metadata with %s: %s', (_what, text, may) => {
    const params = `{"metadata":{${text}},"message":{}}`;
    const edits = { metadata: RULES };
    if (may) expect(edited(params, edits)).toBe(params);
    else {
      const error = {
        code: 'body_invalid',
        detail: 'The metadata has too many members, or one with a name that is too long.',
        hint: 'Send at most 1000 members.',
        rpcCode: -32602,
      };
      expect(() => edited(params, edits)).toThrow(expect.objectContaining(error));
    }
  });

  it('stays without params', () => {
    const bytes = new TextEncoder().encode('{"jsonrpc":"2.0","method":"SendMessage"}');
    const call = readRpcCall(bytes, '', true);
    expect(sentBytes(call, { contextId: 'c1', rules: RULES, own: '"plan":"gold"' })).toEqual(bytes);
  });

  it.each<[string, Edits, string, string]>([
    [
      'keeps every other value',
      { contextId: 'c1' },
      '{ "message" : {"text":"\\u0061 🙂", "n":1.0e5, "m":[9007199254740993,-0,1E400]} }',
      '{"message":{"contextId":"c1","text":"a 🙂","n":1.0e5,"m":[9007199254740993,-0,1E400]}}',
    ],
    [
      'has its context replaced',
      { contextId: 'c2' },
      '{"message":{"contextId":null,"kind":"message"}}',
      '{"message":{"contextId":"c2","kind":"message"}}',
    ],
    [
      'gets a context under the old name of a message',
      { contextId: 'c2' },
      '{"request":{"role":"user"}}',
      '{"request":{"contextId":"c2","role":"user"}}',
    ],
    [
      'loses the metadata of the visitor, whatever it is',
      DROP,
      '{"metadata":[1],"message":{"metadata":{"a":{"b":[]}},"role":"user"}}',
      '{"metadata":{},"message":{"metadata":{},"role":"user"}}',
    ],
    [
      'keeps its metadata without a rule',
      { contextId: 'c1' },
      '{"metadata":{"a":1},"message":{"metadata":{"userId":2}}}',
      '{"metadata":{"a":1},"message":{"contextId":"c1","metadata":{"userId":2}}}',
    ],
    ['keeps other members', DROP, '{"other":{"a":1},"id":"7"}', '{"other":{"a":1},"id":"7"}'],
    ['stays without metadata', DROP, '{"message":{"role":"user"}}', '{"message":{"role":"user"}}'],
    [
      'stays with metadata that is null when something else changes',
      { ...DROP, contextId: 'c1' },
      '{"message":{"metadata":null}}',
      '{"message":{"contextId":"c1","metadata":null}}',
    ],
    ['stays with metadata that is null', DROP, '{"message":{"metadata":null}}', '{"message":{"metadata":null}}'],
    [
      'gets that of the site in both places',
      PASS,
      '{"metadata":null,"message":{"role":"user"}}',
      '{"metadata":{"plan":"gold"},"message":{"role":"user","metadata":{"plan":"gold"}}}',
    ],
    [
      'without a member gets it too',
      PASS,
      '{"message":{}}',
      '{"message":{"metadata":{"plan":"gold"}},"metadata":{"plan":"gold"}}',
    ],
    [
      'keeps the visitor’s members',
      PASS,
      '{"metadata":{"big":9007199254740993, "e\\u0041" : "\\n","x":1,"x":2.0,"y":{"__proto__":1}},"message":null}',
      '{"metadata":{"big":9007199254740993,"eA":"\\n","x":2.0,"y":{"__proto__":1},"plan":"gold"},"message":null}',
    ],
    [
      'loses every spelling of the site’s names, and of those that choose whose memory to open',
      PASS,
      '{"metadata":{"PLAN":1,"pl\\u0061n":2,"p-l-a-n":3,"plan\\u0000":4,"plan\\u0000x":4,"pl\\u0000an":4,"gröSSe":5,"GRÖßE":6,"ｐｌａｎ":7,"__proto__":{"plan":8},"User_ID":8,"resource.id":9,"coderAgent":10,"a":11}}',
      '{"metadata":{"a":11,"plan":"gold"}}',
    ],
    [
      'loses a context that names a user, in every spelling',
      DROP,
      '{"context":{"userId":"a"},"Context":1,"con_text":[{}],"context\\u0000x":1,"message":{"context":1}}',
      '{"context":{},"Context":{},"con_text":{},"context\\u0000x":{},"message":{"context":1}}',
    ],
  ])('%s', (_what, edits, params, expected) => {
    expect(edited(params, edits)).toBe(expected);
  });
});
