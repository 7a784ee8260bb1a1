import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Inline } from '../../react/src/chat/inline-tree.js';
import { parseInlines } from '../../react/src/chat/markdown-inlines.js';
import { ONE_PIECE, piecesOfLines, sliceEnd, withInlines } from '../../react/src/chat/pieces.js';

const LENGTH = 48_000;
const repeated = (piece: string): string => piece.repeat(LENGTH / piece.length);
const inlinesOf = (text: string): readonly Inline[] =>
  parseInlines(text, 0, { isGrowing: false, reference: () => undefined, isLink: () => true }).inlines;
const elementsIn = (inlines: readonly Inline[]): number =>
  inlines.reduce<number>((sum, inline) => sum + 1 + (typeof inline === 'string' ? 0 : elementsIn(inline.children)), 0);

/** The inlines of each piece. */
function piecesOf(inlines: readonly Inline[]): readonly (readonly Inline[])[] {
  const { starts } = withInlines(ONE_PIECE, 0, inlines);
  return starts.map((start, index) => inlines.slice(start, starts[index + 1]));
}

describe('a paragraph that a browser lays out as a whole', () => {
  it.each([
    'a\n',
    'some words of a line\n',
    '[a](https://x.example) ',
    '[a](http://b)',
    'https://x.example ',
    '`a` ',
    '*a* ',
    '**a *b* c** ',
    '<br>',
    'some words of text ',
    'a',
    '\u{1f44d}\u{1f3fd}',
    '\u0645\u0631\u062d\u0628\u0627 ',
  ])('has few elements and characters, also with 48 KB of %j', (piece) => {
    const pieces = piecesOf(inlinesOf(repeated(piece)));
    for (const inlines of pieces) {
      expect(elementsIn(inlines)).toBeLessThan(1000);
      expect(JSON.stringify(inlines).length).toBeLessThan(60_000);
    }
    expect(pieces.flat()).toEqual(inlinesOf(repeated(piece)));
  });

  it('is cut at a line break where it has one', () => {
    const pieces = piecesOf(inlinesOf(repeated('**a** b\n')));
    expect(pieces.length).toBeGreaterThan(10);
    for (const inlines of pieces.slice(0, -1)) expect(inlines.at(-1)).toMatchObject({ tag: 'br' });
  });

  it('stays whole when it is one that agents write', () => {
    expect(piecesOf(inlinesOf('A **word** and [a link](https://x.example).\n'.repeat(30)))).toHaveLength(1);
  });

  it('is cut in the same places, however it arrived', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a\n', '*a* ', 'word '), { maxLength: 2000 }), fc.nat(), (words, at) => {
        const inlines = inlinesOf(words.join(''));
        const cut = inlines.length === 0 ? 0 : at % inlines.length;
        const begun = withInlines(ONE_PIECE, 0, inlines.slice(0, cut));
        expect(withInlines(begun, cut, inlines.slice(cut))).toEqual(withInlines(ONE_PIECE, 0, inlines));
      }),
      { numRuns: 50 },
    );
  });
});

describe('a text that is shown as it is written', () => {
  it.each(['a\n', '\n', 'some words of a line\n', 'a line of code that is longer than the others\n'])(
    'has few lines in a piece, also with 48 KB of %j',
    (line) => {
      const text = repeated(line);
      const pieces = piecesOfLines(text);
      expect(pieces.join('')).toBe(text);
      for (const piece of pieces) expect(piece.split('\n').length).toBeLessThan(1000);
    },
  );

  it.each(['', 'a', 'a\n', '\n', 'a\nb'])('is one piece when it is short: %j', (text) => {
    expect(piecesOfLines(text)).toEqual([text]);
  });
});

describe('a slice of a text that is formatted at once', () => {
  it.each(['a\n', '[a](http://b)', '| a | b |\n|---|---|\n\n', '- ', '`a`', 'some words of text ', 'a'])(
    'has few marks, also of 48 KB of %j',
    (piece) => {
      const text = repeated(piece);
      const slices: string[] = [];
      for (let at = 0; at < text.length;) {
        const end = sliceEnd(text, at, 0);
        slices.push(text.slice(at, end));
        at = end;
      }
      expect(slices.join('')).toBe(text);
      for (const slice of slices) {
        expect(slice.length).toBeLessThanOrEqual(8000);
        expect(slice.match(/[\n`*[|]/g)?.length ?? 0).toBeLessThanOrEqual(800);
      }
    },
  );

  it('is as long as half of the line of code before it, to the end of that line', () => {
    const line = 'a*'.repeat(10_000);
    expect(sliceEnd(line, 12_000, 0)).toBe(12_800);
    expect(sliceEnd(line, 12_000, 6000)).toBe(18_000);
    expect(sliceEnd(line, 6000, 10_000)).toBe(16_000);
    expect(sliceEnd(line, 18_000, 9000)).toBe(20_000);
    expect(sliceEnd(`${line}\n${line}`, 19_000, 9000)).toBe(20_000);
  });
});
