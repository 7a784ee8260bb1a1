import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { RenderKeys, type RenderSubject } from '../../../src/domain/surfaces/render-keys.js';
import { memoryOf } from '../../support/memory.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const SUBJECT: RenderSubject = {
  scope: 'ada of site',
  ref: { by: 'id', value: 'counter' },
  input: ['', null],
  body: bytes('{"b":1,"a":2}'),
};

/** Render keys with a hash that records its inputs. */
function book(limitBytes?: number): { readonly book: RenderKeys; readonly hashed: string[] } {
  const hashed: string[] = [];
  const clock = new FakeClock();
  const hash = (data: string | Uint8Array): string => {
    const text = typeof data === 'string' ? data : new TextDecoder('utf-8', { ignoreBOM: true }).decode(data);
    hashed.push(text);
    return `<${text}>`;
  };
  return { book: new RenderKeys({ hash, memory: memoryOf(clock, limitBytes), clock }), hashed };
}

describe('the keys of a render', () => {
  // Processes of two releases may share a store. With different keys, neither would see the other's actions.
  it('are the same in every release', () => {
    expect(book().book.keys(SUBJECT)).toEqual({
      render: 'agent-bff:2:render:<["ada of site","id","counter",["",null],"bytes <{\\"b\\":1,\\"a\\":2}>"]>',
      owner: 'agent-bff:2:generation:<["ada of site"]>',
      address: 'agent-bff:2:generation:<["ada of site","id","counter"]>',
    });
    expect(book().book.keys({ ...SUBJECT, body: null }).render).toBe(
      'agent-bff:2:render:<["ada of site","id","counter",["",null],"none"]>',
    );
  });

  it('are computed once for repeated requests', () => {
    const { book: keys, hashed } = book();
    const first = keys.keys(SUBJECT);
    const { length } = hashed;
    expect([keys.keys({ ...SUBJECT }), hashed.length]).toEqual([first, length]);
  });

  it('depend on the request alone, not on earlier ones', () => {
    const part = fc.constantFrom('', '1', ' ', '1 a', '4 null', 'null', '["a"]', '2');
    const subject = fc.record({
      scope: fc.constant(SUBJECT.scope),
      ref: fc.record({ by: fc.constantFrom('id' as const, 'name' as const), value: part }),
      input: fc.array(fc.oneof(part, fc.constant(null), fc.array(part, { maxLength: 2 })), { maxLength: 3 }),
      body: fc.option(fc.constantFrom('1', '12', '"a"', '[1]', 'null').map(bytes)),
    });
    const { book: keys } = book();
    fc.assert(
      fc.property(subject, (asked) => {
        expect(keys.keys(asked)).toEqual(book().book.keys(asked));
      }),
      { numRuns: 2_000 },
    );
  });

  it('are cached only for short requests', () => {
    // Each part after its length, and the body as it is.
    const around = `11 ${SUBJECT.scope}id7 counter0 null `.length;
    for (const [length, isKnown] of [
      [2_048, true],
      [2_049, false],
    ] as const) {
      const { book: keys, hashed } = book();
      const subject = { ...SUBJECT, body: bytes('1'.repeat(length - around)) };
      keys.keys(subject);
      const { length: before } = hashed;
      keys.keys(subject);
      expect(hashed.length === before).toBe(isKnown);
    }
  });

  it('differ for bodies with different bytes, which two parsers may read differently', () => {
    const { book: keys } = book();
    const texts = ['{"b":1,"a":2}', '{"a":2,"b":1}', '{"a":2, "b":1}', '{"a":3,"a":2,"b":1}', '{"a":2.0,"b":1}'];
    texts.push('9007199254740993', '9007199254740992', '\uFEFF1', '1');
    const renders = texts.flatMap((text) =>
      [text, text.padEnd(3_000)].map((one) => keys.keys({ ...SUBJECT, body: bytes(one) }).render),
    );
    expect(new Set(renders).size).toBe(2 * texts.length);
  });

  it('are cached up to a limit in bytes', () => {
    const { book: keys, hashed } = book(8_388_608);
    const known = (from: number, to: number): number => {
      const { length } = hashed;
      for (let number = from; number < to; number += 1) {
        keys.keys({ ...SUBJECT, body: bytes(String(1_000_000 + number).padEnd(1_900)) });
      }
      return to - from - (hashed.length - length) / 4;
    };
    expect(known(0, 10_000)).toBe(0);
    // 5 KB each, at two bytes per character.
    expect([known(8_500, 10_000), known(0, 8_000)]).toEqual([1_500, 0]);
  });
});
