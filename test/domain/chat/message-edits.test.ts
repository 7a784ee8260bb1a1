import { describe, expect, it } from 'vitest';
import { normalizedName, readHttpJsonMessage, readRpcMessage } from '../../../src/domain/chat/chat-message.js';
import { editedMessage, type MetadataRules, namesIn } from '../../../src/domain/chat/message-edits.js';

/** The params after the edits; the expected text is what every parser of the agent reads. */
function edited(params: string, { contextId, metadata }: Edits): string {
  const bytes = new TextEncoder().encode(params);
  const body = { bytes, message: readHttpJsonMessage(bytes, 'policy', true) };
  return new TextDecoder().decode(editedMessage(body, contextId, metadata, metadata?.own ?? '', true));
}

interface Edits {
  readonly contextId?: string;
  readonly metadata?: MetadataRules & { readonly own: string };
}

const DROP = { names: new Set<string>(), passes: () => false, own: '' };
const PASS = { names: new Set(['plan', 'größe'].map(normalizedName)), passes: () => true, own: '"plan":"gold"' };

/** Members of metadata with short names, without the braces. */
function members(count: number): string {
  return Array.from({ length: count }, (_, at) => `"m${String(at)}":1`).join();
}

describe('an edited message', () => {
  it('keeps its bytes when others are edited after it', () => {
    const bytes = new TextEncoder().encode('{"message":{"role":"user"}}');
    const body = { bytes, message: readHttpJsonMessage(bytes, 'policy', true) };
    const edits = Array.from({ length: 500 }, (_, at) =>
      editedMessage(body, `größe ${String(at)}`, undefined, '', false),
    );
    const texts = edits.map((one) => new TextDecoder().decode(one));
    expect(texts).toEqual(texts.map((_, at) => `{"message":{"contextId":"größe ${String(at)}","role":"user"}}`));
  });

  it('shares a block of memory with others, unless it has more than 4 KB', () => {
    const buffers = (characters: number) => {
      const bytes = new TextEncoder().encode(`{"message":{"text":"${'x'.repeat(characters)}"}}`);
      const body = { bytes, message: readHttpJsonMessage(bytes, 'policy', true) };
      return new Set([1, 2, 3].map(() => editedMessage(body, 'c1', undefined, '', false).buffer)).size;
    };
    expect([buffers(100) < 3, buffers(5_000), buffers(9_000)]).toEqual([true, 3, 3]);
  });

  it.each<[string, string, boolean]>([
    ['1,000 members', members(1_000), true],
    ['1,001 members', members(1_001), false],
    ['a name of 256 bytes', `"${'x'.repeat(256)}":1`, true],
    ['a name of 257 bytes', `"${'x'.repeat(257)}":1`, false],
  ])('may have metadata with %s: %s', (_what, text, may) => {
    const params = `{"metadata":{${text}},"message":{}}`;
    const edits = { metadata: { ...PASS, own: '' } };
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
    const message = readRpcMessage(bytes, 'policy', true);
    expect(editedMessage({ bytes, message }, 'c1', PASS, PASS.own, true)).toBe(bytes);
  });

  it.each<[string, Edits, string, string]>([
    [
      'keeps every other byte',
      { contextId: 'c1' },
      '{ "message" : {"text":"\\u0061 🙂", "n":1.0e5} }',
      '{ "message" : {"contextId":"c1","text":"\\u0061 🙂", "n":1.0e5} }',
    ],
    [
      'has its context replaced',
      { contextId: 'c2' },
      '{"message":{"contextId": null ,"kind":"message"}}',
      '{"message":{"contextId": "c2" ,"kind":"message"}}',
    ],
    [
      'loses the metadata of the visitor, whatever it is',
      { metadata: DROP },
      '{"metadata":[1],"message":{"metadata":{"a":{"b":[]}},"role":"user"}}',
      '{"metadata":{},"message":{"metadata":{},"role":"user"}}',
    ],
    [
      'keeps its metadata without a rule',
      { contextId: 'c1' },
      '{"metadata":{"a":1},"message":{"metadata":{"userId":2}}}',
      '{"metadata":{"a":1},"message":{"contextId":"c1","metadata":{"userId":2}}}',
    ],
    ['keeps other members', { metadata: DROP }, '{"other":{"a":1},"id":"7"}', '{"other":{"a":1},"id":"7"}'],
    ['stays without metadata', { metadata: DROP }, '{"message":{"role":"user"}}', '{"message":{"role":"user"}}'],
    [
      'gets that of the site in both places',
      { metadata: PASS },
      '{"message":{"role":"user"}}',
      '{"metadata":{"plan":"gold"},"message":{"metadata":{"plan":"gold"},"role":"user"}}',
    ],
    [
      'without a member gets it too',
      { metadata: PASS },
      '{"message":{}}',
      '{"metadata":{"plan":"gold"},"message":{"metadata":{"plan":"gold"}}}',
    ],
    [
      'keeps the visitor’s members as they were written',
      { metadata: PASS },
      '{"metadata":{"big":9007199254740993, "e\\u0041" : "\\n","x":1,"x":2},"message":null}',
      '{"metadata":{"big":9007199254740993,"e\\u0041" : "\\n","x":1,"x":2,"plan":"gold"},"message":null}',
    ],
    [
      'loses every spelling of the site’s names, and of those that choose whose memory to open',
      { metadata: PASS },
      '{"metadata":{"PLAN":1,"pl\\u0061n":2,"p-l-a-n":3,"plan\\u0000":4,"plan\\u0000x":4,"pl\\u0000an":4,"gröSSe":5,"GRÖßE":6,"ｐｌａｎ":7,"__proto__":{"plan":8},"User_ID":8,"resource.id":9,"coderAgent":10,"a":11}}',
      '{"metadata":{"a":11,"plan":"gold"}}',
    ],
    [
      'loses a context that names a user, in every spelling',
      { metadata: DROP },
      '{"context":{"userId":"a"},"Context":1,"con_text":[{}],"context\\u0000x":1,"message":{"context":1}}',
      '{"context":{},"Context":{},"con_text":{},"context\\u0000x":{},"message":{"context":1}}',
    ],
  ])('%s', (_what, edits, params, expected) => {
    expect(edited(params, edits)).toBe(expected);
  });
});

describe('the ids that a message names', () => {
  const body = (params: object) => {
    const bytes = new TextEncoder().encode(JSON.stringify(params));
    return { body: { bytes, message: readHttpJsonMessage(bytes, 'policy', true) } };
  };

  it.each<[object, object]>([
    [{}, {}],
    [{ message: { contextId: 'c1' } }, { contextId: 'c1' }],
    [
      { message: { contextId: 'c1', taskId: 't1' }, id: 't2' },
      { contextId: 'c1', taskId: 't1' },
    ],
    [{ message: { contextId: '', taskId: '' }, id: 't2' }, { taskId: 't2' }],
    [{ message: { contextId: 7, taskId: ['t1'] }, id: null }, {}],
  ])('in %j are %j', (params, names) => {
    expect(namesIn(body(params))).toStrictEqual(names);
  });

  it('are not found where places were not read', () => {
    const bytes = new TextEncoder().encode('{"message":{"contextId":"c1"}}');
    expect(namesIn({ body: { bytes, message: readHttpJsonMessage(bytes) } })).toStrictEqual({});
  });

  it('have at most 16,384 bytes, with their quotes', () => {
    const read = (characters: number) =>
      namesIn(body({ message: { role: 'user', contextId: 'x'.repeat(characters) } })).contextId?.length;
    expect([read(16_382), read(16_383)]).toEqual([16_382, undefined]);
  });
});
