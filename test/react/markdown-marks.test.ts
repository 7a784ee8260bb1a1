import { beforeEach, describe, expect, it, vi } from 'vitest';

import { isLinkAddress } from '../../react/src/chat/link-address.js';
import { PRESIGNED } from '../support/markdown/everyday-answers.js';
import { treeOfMarkdown } from '../support/markdown/trees.js';

/** The tree of one paragraph. */
function words(text: string): string {
  return treeOfMarkdown(text).replace(/^<p>(.*)<\/p>$/s, '$1');
}

/** The addresses that become links, with the text of each where it is another one. */
function links(text: string): readonly string[] {
  return [...words(text).matchAll(/<a ([^">]*)>(.*?)<\/a>/g)].map(([, href = '', shown = '']) =>
    shown === href ? href : `${shown} → ${href}`,
  );
}

describe('an item of a list', () => {
  it.each([
    ['- a\n    - b\n    - c\n- d', '<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>'],
    [
      '- a\n    - b\n        - c\n        - d\n    - e',
      '<ul><li>a<ul><li>b<ul><li>c</li><li>d</li></ul></li><li>e</li></ul></li></ul>',
    ],
    ['   1. a\n   2. b', '<ol 1><li>a</li><li>b</li></ol>'],
    ['  - a\n  - b\n    - c', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>'],
    ['1. a\n    1. b\n    2. c\n2. d', '<ol 1><li>a<ol 1><li>b</li><li>c</li></ol></li><li>d</li></ol>'],
  ])('%j is nested as it is indented', (text, expected) => {
    expect(treeOfMarkdown(text).replaceAll(/<\/?p>/g, '')).toBe(expected);
  });
});

describe('a tilde', () => {
  it.each([
    ['배송 3~5일, 교환 7~10일', '배송 3~5일, 교환 7~10일'],
    ['a ~b~ c', 'a ~b~ c'],
    ['a ~~b~~ c', 'a <del>b</del> c'],
    ['a ~~b~ c~', 'a ~~b~ c~'],
    ['~~3~5~~', '<del>3~5</del>'],
  ])('strikes through with two of them only: %j', (text, expected) => {
    expect(words(text)).toBe(expected);
  });
});

describe('a mark beside Chinese, Japanese or Korean', () => {
  it.each([
    ['**注意：**请', '<strong>注意：</strong>请'],
    ['他说**“你好”**然后', '他说<strong>“你好”</strong>然后'],
    ['请*（注）*看', '请<em>（注）</em>看'],
    ['これは**「重要」**です。', 'これは<strong>「重要」</strong>です。'],
    ['**가격(원)**은 *10%*다', '<strong>가격(원)</strong>은 <em>10%</em>다'],
    ['~~旧价：~~新价', '<del>旧价：</del>新价'],
    ['𠮷**“好”**𠮷', '𠮷<strong>“好”</strong>𠮷'],
    ['2 * 3 * 4，**Note:**请', '2 * 3 * 4，<strong>Note:</strong>请'],
  ])('needs no space: %j', (text, expected) => {
    expect(words(text)).toBe(expected);
  });

  it('needs one beside other scripts, as in CommonMark', () => {
    expect(words('**Note:**this')).toBe('**Note:**this');
  });
});

describe('an address without marks', () => {
  it.each([
    ['请访问https://x.example/a，谢谢', ['https://x.example/a']],
    ['（https://x.example）。', ['https://x.example']],
    ['“https://x.example/a”', ['https://x.example/a']],
    ['«https://x.example/a» ‹http://y.example›', ['https://x.example/a', 'http://y.example']],
    ['https://x.example/a에서', ['https://x.example/a']],
    ['見るhttps://x.example/a。', ['https://x.example/a']],
    ['**链接：https://x.example/a**请', ['https://x.example/a']],
    ['https://x.example/wiki/Köln_(Stadt)?a=b&c=d#e!', ['https://x.example/wiki/Köln_(Stadt)?a=b&c=d#e']],
    ['{"url":"https://x.example/a","b":[1]}', ['https://x.example/a']],
    ["{'url': 'https://x.example/a', 'b': 1}", ['https://x.example/a']],
    ['{url: https://x.example/a}', ['https://x.example/a']],
    ['{\\"url\\":\\"https://x.example/a\\"}', ['https://x.example/a']],
    ['<a class="b" href="https://x.example/a">text</a>', ['https://x.example/a']],
    ["https://x.example/it's 'https://y.example'", ["https://x.example/it's", 'https://y.example']],
    [
      'www.x.example/a, help@x.example.',
      ['www.x.example/a → https://www.x.example/a', 'help@x.example → mailto:help@x.example'],
    ],
    ['邮箱：a.b_c+d@x.example。a@b', ['a.b_c+d@x.example → mailto:a.b_c+d@x.example']],
    ['xhttps://x.example https://… http://- https://例え.jp', []],
    ['data:image/png;base64,short', []],
    ['[https://x.example/a](https://x.example/a)', ['https://x.example/a']],
    [
      '[www.x.example](https://x.example), [https://x.example/a[1]](https://x.example)',
      ['www.x.example → https://x.example', 'https://x.example/a[1] → https://x.example'],
    ],
    [
      '[**Guide** (https://x.example/a)](https://x.example/b)',
      ['<strong>Guide</strong> (https://x.example/a) → https://x.example/b'],
    ],
    [
      '[https://x.example/a][1], [1](https://x.example/b)[2](https://x.example/c)',
      ['https://x.example/a', '1 → https://x.example/b', '2 → https://x.example/c'],
    ],
    ['https://x.example/?a[0][b]=c', ['https://x.example/?a[0][b]=c']],
    [PRESIGNED, [PRESIGNED]],
    [`[a](${PRESIGNED}) and <${PRESIGNED}>`, [`a → ${PRESIGNED}`, PRESIGNED]],
    [`${'word '.repeat(550)}${PRESIGNED} end`, [PRESIGNED]],
    [`${'word '.repeat(550)}[a](${PRESIGNED}) end`, [`a → ${PRESIGNED}`]],
  ])('ends where it ends for a reader: %j', (text, expected) => {
    expect(links(text)).toEqual(expected);
  });
});

describe('a long paragraph without spaces', () => {
  it.each(['请看[报告](https://x.example/reports/2026/1065)。', '请看https://x.example/reports/2026/1065。'])(
    'has the links of each of its parts: %s',
    (part) => {
      expect(links(part.repeat(120))).toEqual(Array.from({ length: 120 }, () => links(part)[0]));
    },
  );

  // Marks are looked for in parts of 3,000 characters.
  it.each([
    '**注意：**',
    '*a*',
    '~~a~~',
    '`a b`',
    '<b>a</b>',
    '\\(a * b * c\\)',
    'a@x.example',
    '<https://x.example>',
    '<a href="https://x.example">a</a>',
    '[a](https://x.example/报告.pdf "b c")',
    '![a](<https://x.example>)',
    `[${'长'.repeat(400)}](https://x.example)`,
    `[a](${PRESIGNED} "b c")`,
    `<a href="${PRESIGNED}">a b</a>`,
  ])('has its marks wherever they begin: %s', (mark) => {
    const expected = words(`。${mark}。`);
    for (let start = 2990 - Math.min(mark.length, 450); start < 3005; start += 1)
      expect(words(`${'请'.repeat(start)}。${mark}。请`), `at ${start}`).toContain(expected);
  });
});

describe('an anchor of HTML', () => {
  it.each([
    [
      '<a href="https://x.example/a?b=c&amp;d">more **words**</a>',
      '<a https://x.example/a?b=c&d>more <strong>words</strong></a>',
    ],
    ["<A HREF = 'mailto:a@b.c' >mail</A>", '<a mailto:a@b.c>mail</a>'],
    ['<a href="https://x.example"><b>c</b></a>', '<a https://x.example><strong>c</strong></a>'],
  ])('without other attributes is a link: %j', (text, expected) => {
    expect(words(text)).toBe(expected);
  });

  it.each([
    ['<a name="b">c</a>', '<a name="b">c</a>'],
    [
      '<a href="https://x.example" onclick="a()">b',
      '<a href="<a https://x.example>https://x.example</a>" onclick="a()">b',
    ],
    ['a</a>', 'a</a>'],
  ])('with others is text: %j', (text, expected) => {
    expect(words(text)).toBe(expected);
  });
});

describe('a formula of TeX', () => {
  it.each(['\\(a_1 * b * c\\)', '\\[\\frac{1}{2} \\\\ x\\]', 'so \\(x\\) and \\(y\\)'])(
    'keeps its backslashes: %j',
    (text) => {
      expect(words(text)).toBe(text);
    },
  );

  it.each([
    ['\\[\nx_1 \\\\\ny_1 * z * 2\n\\]', '\\[<br>x_1 \\\\<br>y_1 * z * 2<br>\\]'],
    ['\\(a, \\[b\\]', '(a, \\[b\\]'],
    ['\\(not closed *here*', '(not closed <em>here</em>'],
    ['\\[no link](https://x.example)', '[no link](<a https://x.example>https://x.example</a>)'],
  ])('ends in its paragraph: %j', (text, expected) => {
    expect(words(text)).toBe(expected);
  });
});

describe('the address of a link', () => {
  beforeEach(() => {
    vi.stubGlobal('document', { baseURI: 'https://site.example/shop/' });
    vi.stubGlobal('location', { origin: 'https://site.example' });
  });

  const WEB = ['https://x.example', 'HTTP://x.example/a b', 'mailto:a@b.c', 'tel:+123', 'https://site.example/a'];
  const SITE = ['/', '/a?b#c', '?a=b', '#a', '/.//x.example'];
  const NEITHER = [
    '//x.example',
    '/\\x.example',
    '\\\\x.example',
    'https:/x',
    'https:x',
    'page',
    './page',
    'javascript:alert(1)',
    'data:text/html,a',
    'ftp://x.example',
    'https://user@x.example',
    'https://user:password@x.example/',
    'https://@x.example',
    'https:///x.example',
    'https:////y.example@x.example',
    'https://x.example\\@y.example',
    'https://x.example/\u0000',
    '/\t/x.example',
    '/a\nb',
    ' https://x.example',
    '\u0001/a',
    '',
  ];

  it.each(WEB)('%j is one of the web', (href) => {
    expect([isLinkAddress(href, 'web'), isLinkAddress(href, 'site')]).toEqual([true, true]);
  });

  it.each(SITE)('%j is one of the site, where a prop allows those', (href) => {
    expect([isLinkAddress(href, 'web'), isLinkAddress(href, 'site')]).toEqual([false, true]);
  });

  it.each(NEITHER)('%j is text', (href) => {
    expect([isLinkAddress(href, 'web'), isLinkAddress(href, 'site')]).toEqual([false, false]);
  });

  it('is text when the base of the page is another site', () => {
    vi.stubGlobal('document', { baseURI: 'https://x.example/' });
    expect(isLinkAddress('/a', 'site')).toBe(false);
  });
});
