import { type CSSToken, tokenize, TokenType } from '@csstools/css-tokenizer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CssChecker } from '../../../src/adapters/css/css-checker.js';
import { cssOf } from '../../support/css-pieces.js';

const checker = new CssChecker(new Set(['https://cdn.example']));

const css = cssOf('evil.example');
const RUNS = { numRuns: 1_500 };

const kinds = (text: string): unknown[] =>
  tokenize({ css: text })
    .filter(([type]) => type !== TokenType.Comment)
    .map((token) => [token[0], token[4]]);
const isClosed = (tokens: readonly CSSToken[]): boolean => {
  const open: string[] = [];
  const closers = new Map([
    ['{', '}'],
    ['(', ')'],
    ['[', ']'],
  ]);
  for (const [type, spelling] of tokens) {
    const closer =
      type === TokenType.Function
        ? ')'
        : type.endsWith('-token') && spelling.length === 1
          ? closers.get(spelling)
          : undefined;
    if (closer !== undefined) open.push(closer);
    else if (
      [TokenType.CloseCurly, TokenType.CloseParen, TokenType.CloseSquare].includes(type) &&
      open.pop() !== spelling
    )
      return false;
  }
  return open.length === 0;
};

/** True if the string in this function may be an address; in the other functions of the pieces it is text. */
const loads = (token: CSSToken | undefined): boolean =>
  token?.[0] === TokenType.Function && !/^(?:attr|format|var)$/i.test(token[4].value);

it('a checked theme has no foreign address, no import and no open block, and a second check changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(css, async (text) => {
      const sent = (await checker.theme(text))?.css ?? '';
      const tokens = tokenize({ css: sent });
      expect(isClosed(tokens)).toBe(true);
      const imports = tokens.filter(
        (token) => token[0] === TokenType.AtKeyword && /^(?:import|charset)$/i.test(token[4].value),
      );
      expect(imports).toEqual([]);
      const addresses = tokens.flatMap((token, index) => {
        const [before, between] = [tokens[index - 2], tokens[index - 1]];
        const isArgument = loads(between) || (loads(before) && between?.[0] !== TokenType.CloseParen);
        return token[0] === TokenType.URL || (token[0] === TokenType.String && isArgument) ? [token[4].value] : [];
      });
      if (!/namespace/i.test(sent))
        for (const address of addresses) expect(new URL(address, 'https://site.example/').host).not.toContain('evil');
      expect(tokens.map(([type]) => type)).not.toEqual(expect.arrayContaining([TokenType.BadURL]));
      expect(kinds((await checker.theme(sent))?.css ?? '')).toEqual(kinds(sent));
      // A rule appended to it is still parsed as a rule.
      expect(kinds(`${sent}}b{c:d}`).slice(-8)).toEqual(kinds('}b{c:d}').slice(-8));
    }),
    RUNS,
  );
}, 60_000);

it('a checked brand has custom properties of the root only', async () => {
  await fc.assert(
    fc.asyncProperty(css, fc.boolean(), async (text, isInside) => {
      const { css: sent } = await checker.brand(isInside ? `:root{${text}` : text);
      const rest = sent
        .replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""')
        .replaceAll(/@media [^{}]*prefers-color-scheme[^{}]*\{/g, '{')
        .replaceAll(/(?::root|html|\.dark|:where\(:root\))[^{}]*\{/g, '{');
      // An escaped name begins with an escaped hyphen.
      expect(rest).toMatch(/^(?:[\s{};]|(?:--|\\2d -)[^{}:;]+:[^{};]*)*$/);
      // A name may end with these letters, such as `rooturl(`.
      expect(rest).not.toMatch(/(?<![\w\-\u{80}-\u{10ffff}])(?:url|src|attr)\(|image-set|<|@[\w\\-]/iu);
      expect(isClosed(tokenize({ css: sent }))).toBe(true);
      expect((await checker.brand(sent)).css).toBe(sent);
    }),
    RUNS,
  );
}, 60_000);
