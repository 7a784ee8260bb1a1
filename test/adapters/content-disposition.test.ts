import { parse } from 'content-disposition';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writtenDisposition } from '../../src/adapters/content-disposition/written-disposition.js';
import { anyText } from '../support/odd-fields.js';
import { processorTime } from '../support/stopwatch.js';

const utf8 = (name: string): string => `; filename*=UTF-8''${encodeURIComponent(name).replace(/'/g, '%27')}`;

describe('a Content-Disposition', () => {
  it.each([
    ['attachment', 'attachment'],
    ['Inline', 'inline'],
    ['INLINE ; FileName="a.txt"', 'inline; filename=a.txt'],
    ['attachment; filename=a b.txt', 'attachment; filename="a b.txt"'],
    ['attachment; filename="文件.pdf"', `attachment; filename=__.pdf${utf8('文件.pdf')}`],
    ["attachment; filename=x.pdf; filename*=UTF-8''%E6%96%87.pdf", `attachment; filename=_.pdf${utf8('文.pdf')}`],
    ["attachment; filename*=UTF-8''%E6%96%87.pdf; filename=x.pdf", `attachment; filename=_.pdf${utf8('文.pdf')}`],
    ["attachment; filename*=iso-8859-1''na%EFve.pdf", `attachment; filename=na_ve.pdf${utf8('naïve.pdf')}`],
    [
      'attachment; filename="a\\"b\\\\c.txt"',
      `attachment; filename="a_b_c.txt"${utf8('a"b\\c.txt')}`.replace(/"/, '').replace(/"/, ''),
    ],
    ['attachment; filename="100%.txt"', `attachment; filename=100_.txt${utf8('100%.txt')}`],
    ['attachment; filename="a;b=c.txt"', 'attachment; filename="a;b=c.txt"'],
    ['attachment; filename="../../a.txt"', 'attachment; filename="../../a.txt"'],
    ['attachment; filename="a😀.txt"', `attachment; filename=a_.txt${utf8('a😀.txt')}`],
    // Nothing but type and name crosses, and unknown types are attachments (RFC 6266 §4.2).
    ['attachment; filename=a.txt; size=5; creation-date="x"; filename=b.txt', 'attachment; filename=a.txt'],
    ['form-data; name="a"; filename="b.txt"', 'attachment; filename=b.txt'],
    ['attachment; filename=" a.txt "', 'attachment; filename=a.txt'],
    [`attachment; filename=${'x'.repeat(768)}`, `attachment; filename=${'x'.repeat(768)}`],
  ])('of %s is written as %s', (text, value) => {
    expect(writtenDisposition(text)).toEqual({ value, isWhole: true });
  });

  it.each([
    ['attachment; filename=""', 'attachment', false],
    ['attachment; filename="a.txt', 'attachment', true],
    ["attachment; filename*=UTF-8''%FF%FE.txt", 'attachment', false],
    ["inline; filename*=KOI8-R''%C6.txt", 'inline', false],
    [`attachment; filename="${'文'.repeat(769)}"`, 'attachment', false],
    ['attachment filename="a.txt"', 'attachment', true],
    ['attachment; filename="\r\n"', 'attachment', false],
  ])('of %s is reduced to its type, and whole if it has no file name: %s %s', (text, value, isWhole) => {
    expect(writtenDisposition(text)).toEqual({ value, isWhole });
  });

  it.each(['', ';', 'filename=a.txt', '"inline"', 'in line', 'é', '; filename=a.txt'])('of %j is dropped', (text) => {
    expect(writtenDisposition(text)).toBeUndefined();
  });

  it('drops control characters from a name, even encoded ones', () => {
    const expected = { value: 'attachment; filename=ab.txt', isWhole: true };
    for (const name of ['"a\r\n\0\x7f\x85b.txt"', '"a\tb.txt"']) {
      expect(writtenDisposition(`attachment; filename=${name}`)).toEqual(expected);
    }
    expect(writtenDisposition("attachment; filename*=UTF-8''a%0D%0A%00%C2%85b.txt")).toEqual(expected);
    // These characters would make `a.exe` look like a text file.
    expect(writtenDisposition("attachment; filename*=UTF-8''a%E2%80%AEb%E2%81%A6.txt")).toEqual(expected);
  });

  it('has at most 8,192 printable ASCII characters and keeps the name', () => {
    const name = anyText(800);
    fc.assert(
      fc.property(fc.constantFrom('inline', 'attachment'), name, (type, text) => {
        const written = writtenDisposition(`${type}; filename="${text.replace(/["\\]/g, '\\$&')}"`);
        expect(written?.value).toMatch(/^[ -~]{6,8192}$/);
        const kept = text.replace(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]/gu, '').trim();
        const read = parse(written?.value ?? '');
        expect(read.type).toBe(type);
        if (kept.length <= 768) expect(read.parameters['filename'] ?? '').toBe(kept);
      }),
    );
  });

  it('is parsed within milliseconds, whatever it holds', () => {
    const parts = ['"', '\\', ';', '%', '=', "'", 'filename=', '文', ' '];
    const texts = [...parts.map((part) => part.repeat(12_288)), `attachment; filename="${'文'.repeat(12_000)}"`];
    const took = processorTime(() => {
      for (const text of texts) writtenDisposition(text);
    });
    expect(took / texts.length).toBeLessThan(50);
  });
});
