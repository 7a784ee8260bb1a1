import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { normalized } from '../../react/src/chat/inline-text.js';
import { type Block, MarkdownBlocks } from '../../react/src/chat/markdown-blocks.js';
import type { Inline } from '../../react/src/chat/inline-tree.js';
import { parseInlines } from '../../react/src/chat/markdown-inlines.js';
import { inlineTree as inlineMarkup, treeOfMarkdown as markup } from '../support/markdown/trees.js';
import { processorTime } from '../support/stopwatch.js';

describe('Markdown of an agent', () => {
  it.each([
    [
      'a *b* **c** ***d*** ~~e~~ `f *g*`',
      '<p>a <em>b</em> <strong>c</strong> <em><strong>d</strong></em> <del>e</del> <code>f *g*</code></p>',
    ],
    ['**a *b* c** and *a **b** c*', '<p><strong>a <em>b</em> c</strong> and <em>a <strong>b</strong> c</em></p>'],
    ['snake_case_name 2 * 3 * 4 \\*x\\* a~b', '<p>snake_case_name 2 * 3 * 4 *x* a~b</p>'],
    ['a\nb  \nc\\\nd', '<p>a<br>b<br>c<br>d</p>'],
    ['# One\n## Two ##\nThree\n===\nFour\n---', '<h1>One</h1><h2>Two</h2><h1>Three</h1><h2>Four</h2>'],
    [
      '- a\n- b\n  - c\n  - d\n- e',
      '<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li><li><p>d</p></li></ul></li><li><p>e</p></li></ul>',
    ],
    ['3. a\n4. b\n\n   more\n\nend', '<ol 3><li><p>a</p></li><li><p>b</p><p>more</p></li></ol><p>end</p>'],
    ['1. a\n\n1. b', '<ol 1><li><p>a</p></li><li><p>b</p></li></ol>'],
    [
      '- a\n\n      code\n- ```js\n  x\n  ```\n* b',
      '<ul><li><p>a</p><pre >code\n</pre></li><li><pre js>x\n</pre></li></ul><ul><li><p>b</p></li></ul>',
    ],
    ['> a\nb\n> - c\n\nd', '<blockquote><p>a<br>b</p><ul><li><p>c</p></li></ul></blockquote><p>d</p>'],
    ['```js title=x\nconst a = 1;\n\n  b\n```\nafter', '<pre js>const a = 1;\n\n  b\n</pre><p>after</p>'],
    ['~~~\n```\n~~~', '<pre >```\n</pre>'],
    ['a\n\n***\n- - -\nb', '<p>a</p><hr><hr><p>b</p>'],
    [
      '| a | b |\n|:--|--:|\n| *c* | d \\| e |\n| f |\n\ng',
      '<table left,right><tr><td>a</td><td>b</td></tr><tr><td><em>c</em></td><td>d | e</td></tr><tr><td>f</td><td></td></tr></table><p>g</p>',
    ],
    [
      'text\na | b\n--|--\nc | d',
      '<p>text</p><table ,><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>',
    ],
    [
      '[a *b*](https://x.example/a_b_(c) "t &amp; u") [c](<https://x.example/d e>)',
      '<p><a https://x.example/a_b_(c) "t & u">a <em>b</em></a> <a https://x.example/d e>c</a></p>',
    ],
    ['[![img](https://i.example)](https://x.example)', '<p><a https://x.example>img</a></p>'],
    [
      '[see ![*img*](https://i.example) here](https://x.example)',
      '<p><a https://x.example>see <em>img</em> here</a></p>',
    ],
    ['[<https://i.example>](https://x.example)', '<p><a https://x.example>https://i.example</a></p>'],
    ['&frac12; &nosuch1;', '<p>½ &nosuch1;</p>'],
    ['![a picture](https://x.example/p.png)', '<p><a https://x.example/p.png>a picture</a></p>'],
    [
      '[a][1] [1] [2]\n\n[1]: https://x.example "t"',
      '<p><a https://x.example "t">a</a> <a https://x.example "t">1</a> [2]</p>',
    ],
    [
      'see https://x.example/a_b?c=*d*, (www.y.example). <mailto:a@b.c> <https://z.example>',
      '<p>see <a https://x.example/a_b?c=*d>https://x.example/a_b?c=*d</a>*, (<a https://www.y.example>www.y.example</a>). <a mailto:a@b.c>mailto:a@b.c</a> <a https://z.example>https://z.example</a></p>',
    ],
    ['**https://x.example**', '<p><strong><a https://x.example>https://x.example</a></strong></p>'],
    ['&lt;b&gt; &#65; &nope; &', '<p><b> A &nope; &</p>'],
    [
      'a<br>b <b>c</b> <script>x</script> <p class="x">',
      '<p>a<br>b <strong>c</strong> <script>x</script> <p class="x"></p>',
    ],
    ['a <!-- b --> c', '<p>a  c</p>'],
    [
      '&#x41;&#97; &#0; &#xd800;&#xDFFF;&#xe000; &#1114111; &#1114112; &nbsp;.',
      '<p>Aa \ufffd \ufffd\ufffd\ue000 \u{10ffff} \ufffd \u00a0.</p>',
    ],
    ['[a](https://x.example/&amp;&nope;\\_&#x42;)', '<p><a https://x.example/&&nope;_B>a</a></p>'],
    ['a\\\nb \\c !d', '<p>a<br>b \\c !d</p>'],
    ['a ~~~b~~~ ~~c~~ ~d~', '<p>a ~~~b~~~ <del>c</del> ~d~</p>'],
    ['` a ` `` b`c `` ` ` ``d`', '<p><code>a</code> <code>b`c</code> <code> </code> ``d`</p>'],
    [
      '[a] [b][] [c][x] [d](<e f) [g](h i) ![j]\n\n[b]: https://x.example',
      '<p>[a] <a https://x.example>b</a> [c][x] [d](<e f) [g](h i) ![j]</p>',
    ],
    [
      "[a](https://x.example 't') [b](https://x.example (u)) [c](https://x.example 't)",
      '<p><a https://x.example "t">a</a> <a https://x.example "u">b</a> [c](<a https://x.example>https://x.example</a> \'t)</p>',
    ],
    [
      '<a@b.c> <x> <BR/> <i>a</em> <STRONG>b</b>',
      '<p><a mailto:a@b.c>a@b.c</a> <x> <br> <em>a</em> <strong>b</strong></p>',
    ],
    ['xhttps://x.example', '<p>xhttps://x.example</p>'],
    [
      '| a | b |\n|---|---|  \n| c | d |',
      '<table ,><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>',
    ],
    ['x[^1]\n\n[^1]: [a](https://x.example)', '<p>x[^1]</p><p>[^1]: <a https://x.example>a</a></p>'],
    ['[^1]: Reuters', '<p>[^1]: Reuters</p>'],
    ['npm i a@18.2.0 b@203.0.113.5', '<p>npm i a@18.2.0 b@203.0.113.5</p>'],
    ['## a # b ##\n## ##\n# a#', '<h2>a # b</h2><h2></h2><h1>a#</h1>'],
    ['Dear \\[Your Name\\], \\[1\\] and \\(optional\\)', '<p>Dear [Your Name], [1] and (optional)</p>'],
    ['**not closed and `this', '<p>**not closed and `this</p>'],
    ['\tcode\n\n    more', '<pre >code\n\nmore\n</pre>'],
    ['a\r\nb\r\n\r\nc', '<p>a<br>b</p><p>c</p>'],
  ])('%j is formatted', (text, expected) => {
    expect(markup(text)).toBe(expected);
  });

  it.each([
    ['x [a](https://x.exam', '<p>x <a>a</a></p>'],
    ['x [a](<https://x.exam', '<p>x <a>a</a></p>'],
    ['x [a](https://x.example "t', '<p>x <a>a</a></p>'],
    ['x [a](https://x.example "t" y', '<p>x <a>a</a></p>'],
    ['x [a](https://x.example y', '<p>x [a](<a https://x.example>https://x.example</a> y</p>'],
    ['x [a][b', '<p>x a</p>'],
    ['x [a][b]', '<p>x a</p>'],
    ['x [a]', '<p>x a</p>'],
    ['x [a] y', '<p>x [a] y</p>'],
    ['x [a][b] y', '<p>x a y</p>'],
    ['[a', '<p>a</p>'],
    ['[a]', '<p>a</p>'],
    ['[a](https://x.example) y', '<p><a https://x.example>a</a> y</p>'],
    ['- [a](https://x.example): y', '<ul><li><p><a https://x.example>a</a>: y</p></li></ul>'],
    ['[a] y', '<p>[a] y</p>'],
    ['[a]: y z', '<p>[a]: y z</p>'],
    ['[a]: ', ''],
    ['[a]: https://x', ''],
    ['[a]: https://x ', ''],
    ['[a]: https://x "y z', ''],
    ['[b]: https://x.example\n\nx [a][b] [b', '<p>x <a https://x.example>a</a> b</p>'],
    ['[b]: https://x.example\n\nx [b][] y', '<p>x <a https://x.example>b</a> y</p>'],
    ['x `` y ` z', '<p>x <code>y ` z</code></p>'],
    ['x <!-- y', '<p>x </p>'],
    ['x <b>y', '<p>x <strong>y</strong></p>'],
    ['x ![a](https://x', '<p>x <a>a</a></p>'],
    ['```j', '<pre ></pre>'],
    ['```js\ny', '<pre js>y</pre>'],
    ['| x | y', '<table ><tr><td>x</td><td>y</td></tr></table>'],
    ['x\n=', '<p>x</p>'],
    ['x **y [z', '<p>x <strong>y z</strong></p>'],
    ['## **y', '<h2><strong>y</strong></h2>'],
    ['## [y](https://x', '<h2><a>y</a></h2>'],
    ['x `y | z` a', '<p>x <code>y | z</code> a</p>'],
    ['x | y', '<p>x | y</p>'],
    ['x [2][3] y', '<p>x [2][3] y</p>'],
    ['x [^a][^b] y', '<p>x [^a][^b] y</p>'],
    ['[1]: https://x.example\n', ''],
    ['[1]: https://x.example\n[2', ''],
    ['[1]: https://x.example "y"\n[2]: https://x.exa', ''],
    ['[a]\n[b]', '<p>[a]<br>b</p>'],
    ['x <br /', '<p>x </p>'],
    ['1. *', ''],
  ])('%j is shown while it grows as %s', (text, expected) => {
    expect(markup(text, true)).toBe(expected);
  });

  it.each([
    'Some **bold** and *light* words, `code`, ~~gone~~, a [link](https://x.example "t") and an ![image](https://x.example).',
    '- **one**: `a`\n- [two](https://x.example)\n  1. *three*\n  2. four',
    '# Title\n\n> quoted **words**\n\n***\n\nEnd',
    '```js\nconst a = 1;\n```\n\n~~~\nb\n~~~',
    '| a | **b** |\n| - | :-: |\n| `c` | d |\n| e | f |\n\nEnd',
    'A word &amp; <b>more</b>',
  ])('%j shows none of its marks while it grows', (text) => {
    for (let length = 1; length < text.length; length += 1) {
      const shown = markup(text.slice(0, length), true).replaceAll(/<[^>]*>/g, '');
      expect(shown, text.slice(0, length)).not.toMatch(/[*_`~#|[\](){}<>-]|&\w/);
    }
  });

  it.each([
    ['![a](', ')'],
    ['[a](', ' "t")'],
    ['[a](<', '>)'],
    ['[a](<', "> 't')"],
  ])('%j and %j around an address of any length are a link', (before, after) => {
    for (const address of ['https://x.example/', 'data:image/png;base64,'])
      for (const length of [100, 2950, 2980, 3000, 40_000]) {
        const link = `${before}${address}${'abcd'.repeat(length / 4)}${after}`;
        const shown = markup(`Words ${link} and more`);
        expect(shown.replace(/(?:abcd)+/, ''), String(length)).toBe(
          `<p>Words <a ${address}${after.includes('t') ? ' "t"' : ''}>a</a> and more</p>`,
        );
      }
  });

  const markdown = fc
    .array(
      fc.oneof(
        fc.constantFrom(...'*_`~[]()!<>&#-+|:\\ \n\t1.ax"='.split('')),
        fc.constantFrom(
          '\n\n',
          '\n- ',
          '\n  - ',
          '\n1. ',
          '\n> ',
          '\n```\n',
          '\n---\n',
          '**',
          '|-|-|',
          '[a]: b\n',
          'x[a][b]',
          '](',
          'https://',
        ),
        fc.constantFrom(
          '\\(',
          '\\)',
          '\\[',
          '\\]',
          '<a href="https://a.b">',
          '</a>',
          'a@b.c',
          'www.a.b',
          '请',
          '：',
          '~~',
        ),
        fc.constantFrom('word ', 'two words', '\n| a | b |\n|---|---|\n', '<!--', '-->', '<br>', '&amp;', '    '),
      ),
      { maxLength: 60 },
    )
    .map((pieces) => pieces.join(''));

  it('ends in the same blocks, however it arrived', () => {
    fc.assert(
      fc.property(markdown, fc.array(fc.nat(200), { maxLength: 10 }), (text, cuts) => {
        const blocks = new MarkdownBlocks();
        for (const cut of cuts.toSorted((a, b) => a - b)) blocks.write(text.slice(0, cut), true);
        blocks.write(text, false);
        const whole = new MarkdownBlocks();
        whole.write(text, false);
        expect(blocks.root).toEqual(whole.root);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a', 0, 0],
    ['a\n\n', 1, 0],
    ['a\n\nb', 1, 0],
    ['a\n\nb\n\nc', 2, 0],
    ['- a\n- b\n\nc\n\nd', 2, 0],
    ['> a\n>\n> b\n>\n> c', 0, 2],
  ])('has settled blocks while it grows, which no later text changes: %j', (text, inRoot, inFirst) => {
    const blocks = new MarkdownBlocks();
    blocks.write(text, true);
    expect([blocks.root, blocks.root.children[0] as Block].map((block) => blocks.settledCount(block))).toEqual([
      inRoot,
      inFirst,
    ]);
  });

  it('has one reference for each label, the first one', () => {
    const blocks = new MarkdownBlocks();
    blocks.write('[a b]: https://x.example\n\n[A  B]: https://y.example\n\n[c]: d "e"\n\n', true);
    expect(blocks.referenceCount).toBe(2);
    expect(blocks.reference(normalized('a b'))).toEqual({ href: 'https://x.example', title: '' });
    expect(blocks.reference(normalized('c'))).toEqual({ href: 'd', title: 'e' });
  });

  describe('a settled beginning of a paragraph reads the same without being parsed again', () => {
    const options = { isGrowing: false, reference: () => undefined, isLink: () => true };
    const words = (count: number): string => 'word '.repeat(count);
    const expectSame = (text: string): void => {
      const begun = parseInlines(text.slice(0, Math.ceil(text.length * 0.7)), 0, options);
      const rest = parseInlines(text, begun.settledLength, options).inlines;
      const beginning = begun.inlines.slice(0, begun.settledCount);
      expect(inlineMarkup([...beginning, ...rest])).toBe(inlineMarkup(parseInlines(text, 0, options).inlines));
    };

    it('whatever it is', () => {
      fc.assert(
        fc.property(fc.array(markdown, { minLength: 5, maxLength: 20 }), (pieces) => {
          const text = pieces.join(' ').replaceAll('\n\n', '\n');
          if (text.length < 3000) expectSame(text);
        }),
        { numRuns: 500 },
      );
    });

    it('in a long paragraph, however it arrives', () => {
      const long = fc.array(fc.oneof(markdown, fc.constant('some words of a sentence ')), {
        minLength: 50,
        maxLength: 200,
      });
      fc.assert(
        fc.property(
          long,
          fc.constantFrom(' ', '。'),
          fc.array(fc.nat(12_000), { maxLength: 30 }),
          (pieces, space, cuts) => {
            const text = pieces.join(space).replaceAll('\n\n', '\n').slice(0, 12_000);
            let [settled, nodes]: [number, readonly Inline[]] = [0, []];
            for (const cut of cuts.toSorted((a, b) => a - b)) {
              const begun = parseInlines(text.slice(0, cut), settled, { ...options, isGrowing: true });
              nodes = [...nodes, ...begun.inlines.slice(0, begun.settledCount)];
              settled = begun.settledLength;
            }
            const all = [...nodes, ...parseInlines(text, settled, options).inlines];
            expect(inlineMarkup(all)).toBe(inlineMarkup(parseInlines(text, 0, options).inlines));
          },
        ),
        { numRuns: 200 },
      );
    });

    it.each([
      ['an address', 'https://a.example', ']', ''],
      ['no page', '', '](javascript:a)', ''],
      ['code that ends later', '```', ']', '``` https://a.example'],
      ['a comment that ends later', '<!--', '](javascript:a)', '--> https://a.example'],
    ])('with brackets around %s', (_what, inside, closing, later) => {
      expectSame(`[ ${words(40)}${inside} ${words(10)}${closing} ${words(45)}${later} ${words(20)}`);
    });

    it.each([
      'a[i][j]',
      'a[i][]',
      `[${words(100)}]`,
      `[${words(100)}][b]`,
      `[${words(100)}][b](c)`,
      `[a](https://x.example/${'b'.repeat(3200)} "c d")`,
    ])('with %j, whose definition or title may follow, at each cut', (begin) => {
      const text = `${begin} ${words(150)}`;
      for (let cut = 1; cut < text.length; cut += 5) {
        const begun = parseInlines(text.slice(0, cut), 0, { ...options, isGrowing: true });
        const rest = parseInlines(text, begun.settledLength, options).inlines;
        const all = [...begun.inlines.slice(0, begun.settledCount), ...rest];
        expect(inlineMarkup(all)).toBe(inlineMarkup(parseInlines(text, 0, options).inlines));
      }
    });
  });

  it.each([
    '- ',
    '> ',
    '*a_',
    '[',
    '![a](',
    '`a``',
    '**a ',
    '<b>',
    '| ',
    '|-',
    '[a]: b\n',
    '\\',
    '&',
    '<!--',
    '1. ',
    '\t',
    '](',
    '~~a~',
    'https://x.example/(',
    'www.a](',
    'www.a请**',
  ])('takes linear time for %j repeated', (piece) => {
    const text = piece.repeat(30_000 / piece.length);
    const took = processorTime(() => {
      markup(text);
      markup(`| a |\n|-|\n${text}`, true);
    });
    expect(took).toBeLessThan(1000);
  });
});
