import { describe, expect, it } from 'vitest';
import { Notes } from '../../../examples/platform/surfaces/notes.js';
import { Poll } from '../../../examples/platform/surfaces/poll.js';
import { CssChecker } from '../../../src/adapters/css/css-checker.js';
import { processorTimeSince } from '../../support/stopwatch.js';

const CDN = 'https://cdn.example';
const checker = new CssChecker(new Set([CDN]));
const theme = async (css: string): Promise<string | undefined> => (await checker.theme(css))?.css;

describe('a checked theme', () => {
  it.each([new Notes(), new Poll()])('keeps the themes of the demo unchanged: %#', async (surface) => {
    expect(await checker.theme(surface.theme)).toEqual({ css: surface.theme, leftOut: [] });
  });

  it.each([
    'a{background:url("img/x.png")}',
    'a{background:url("/x.png?a#b")}',
    'a{filter:url("#blur")}',
    'a{background:url("data:image/png;base64,AAAA")}',
    `a{background:url("${CDN}/x.png")}`,
    `a{background:image-set("x.png" 1x, url("y.png") 2x type("image/png"))}`,
    '@font-face{font-family:x;src:local("A: b"),url("f.woff2") format("woff2")}',
    '@namespace svg url("http://www.w3.org/2000/svg");',
    '.a::before{content:"see https://x.example/";quotes:"«" "»"}',
    '.a{&:hover{color:red}@media (width<600px){color:blue}}',
    '@supports (display:grid){@layer a{b{c:var(--d,"https://e")}}}',
    '@container style(--x: 1){a{color:red}}',
    'a:not([href^="https://x"]){b:c}',
    '@font-face{unicode-range:U+0025-00FF, u+4??}',
    'a{background:url("data:agent-bff/0,")}',
    '#\\31 a.b\\:c{color:#1f2;margin:-1.5e3px +.5em}',
    'a{background:url("")}',
    'a{background:url("x/a:b")}',
    String.raw`a{filter:url("#a\\b")}`,
    String.raw`a{b:"\\ \" \a ";will-change:url}`,
    '@font-feature-values "A: b"{a{b:1}}',
  ])('keeps %s', async (css) => {
    const sent = await theme(css);
    expect(sent).toBe(css.replace('\\:', '\\3a '));
  });

  it('keeps an embedded file in which another seems to begin', async () => {
    const file = 'data:;base64,';
    const css = `a{background:url("${file}${'A'.repeat(1_100)}${file}${'B'.repeat(1_100)}")}`;
    expect(await theme(css)).toBe(css);
  });

  it.each(['data:agent-bff/0,', String.raw`data:\61gent-bff/0,`])(
    'does not put an embedded file in place of another address, such as %s',
    async (address) => {
      const file = `a{b:url("data:;base64,${'A'.repeat(1_100)}")}`;
      expect(await theme(`${file}c{d:url("${address}")}`)).toBe(`${file}c{d:url("data:agent-bff/0,")}`);
    },
  );

  it('keeps an address without the spaces around it', async () => {
    const spaced = 'a{background:url(" data:image/png;base64,AAAA ")}';
    expect(await theme(spaced)).toBe(spaced.replaceAll(/" | "/g, '"'));
  });

  it.each([
    ['url(//evil.example/x)', 'url("data:,")'],
    ['url("https://evil.example/x")', 'url("data:,")'],
    ['URL( "HTTPS://EVIL.example" )', 'URL( "data:," )'],
    ['u\\72l(https://evil.example/)', 'url("data:,")'],
    ['\\75 rl("//evil.example")', 'url("data:,")'],
    ['url(\\2f\\2f evil.example)', 'url("data:,")'],
    ['url("/\\5c evil.example")', 'url("data:,")'],
    ['url("\\9 //evil.example")', 'url("data:,")'],
    ['url("/\\a /evil.example")', 'url("data:,")'],
    ['url(https:evil.example)', 'url("data:,")'],
    ['url(blob:https://site.example/1)', 'url("data:,")'],
    ['url(javascript:alert\\(1\\))', 'url("data:,")'],
    [`url(${CDN}.evil.example/x)`, 'url("data:,")'],
    [`url(${CDN}@evil.example/x)`, 'url("data:,")'],
    [`url(${CDN}:444/x)`, 'url("data:,")'],
    [`url(http://cdn.example/x)`, 'url("data:,")'],
    ['image-set("//evil.example/x" 1x)', 'image-set("data:," 1x)'],
    ['-webkit-image-set(url(//evil.example/x) 1x)', '-webkit-image-set(url("data:,") 1x)'],
    ['image-set({"//evil.example/x"} 1x)', 'image-set({"data:,"} 1x)'],
    ['image-set(["//evil.example/x"] 1x)', 'image-set(["data:,"] 1x)'],
    ['image-set((("//evil.example/x")) 1x)', 'image-set((("data:,")) 1x)'],
    ['image-set(var(--x) 1x)', 'url("data:,")'],
    ['image-set(attr(data-x) 1x)', 'url("data:,")'],
    ['image-set(--own() 1x)', 'url("data:,")'],
    ['image-set(linear-gradient(var(--x),red) 1x)', 'url("data:,")'],
    ['image-set(url("a") 1x,var(--x) 1x)', 'url("data:,")'],
    ['src(var(--x))', 'url("data:,")'],
    ['url("//evil.example/data:")', 'url("data:,")'],
    ['url("//evil.example/#")', 'url("data:,")'],
    ['url("//[")', 'url("data:,")'],
    ['src("//evil.example")', 'src("data:,")'],
    ['image("//evil.example",red)', 'image("data:,",red)'],
    ['cross-fade(url(//evil.example/a),url(b))', 'cross-fade(url("data:,"),url("b"))'],
    ['some-new("//evil.example")', 'some-new("data:,")'],
    ['attr(data-x url)', 'attr(data-x  ! )'],
    ['attr(data-x type(url))', 'attr(data-x type( ! ))'],
  ])('replaces the address in %s', async (value, sent) => {
    for (const [before, after] of [
      ['a{b:c;background:red ', ' no-repeat}'],
      ['a{--x:', ';b:c}'],
      ['@font-face{src:', '}'],
      ['@media (a){b{cursor:', ',auto}}'],
      ['@supports (background:', '){a{b:c}}'],
      ['', '{b:c}'],
      ['@namespace {}a{b:', '}'],
      ['a{@namespace ', '}'],
    ] as const) {
      expect(await theme(before + value + after)).toBe(before + sent + after);
    }
  });

  it.each([
    ['@import "x.css";a{b:c}', '  a{b:c}'],
    ['@\\69 mport url(//evil.example) layer(x);a{b:c}', ' a{b:c}'],
    ['a{b:c}@IMPORT "x"', 'a{b:c} '],
    ['ur@import x;l(//evil.example)', 'ur l(//evil.example)'],
    ['a{@import "x"}b{c:d}', 'a{ }b{c:d}'],
    ['@import {x{y}z} a{b:c}', '  a{b:c}'],
    ['@import src(var(--x));a{b:c}', ' a{b:c}'],
    ['@charset "x";a{b:c}', ' a{b:c}'],
  ])('drops an import or a character set: %s', async (css, sent) => {
    expect((await theme(css))?.replaceAll(/ +/g, ' ')).toBe(sent.replaceAll(/ +/g, ' '));
  });

  it.each([
    ['a{b:(c', 'a{b:(c)}'],
    ['a{b:c}}d{e:f}', 'a{b:c} ! d{e:f}'],
    ['a{b:[c}d{e:f}', 'a{b:[c ! d{e:f}]}'],
    ['a{b:"c', 'a{b:"c"}'],
    ['a{b:url(c', 'a{b:url("c")}'],
    ['a{b:c}/* d', 'a{b:c}/**/'],
    ['a{b:c\\', 'a{b:c\\fffd }'],
    ['a{b:"c\nd:e}', 'a{b: ! \nd:e}'],
    ['@namespace url("c\n', '@namespace url("data:,"\n)'],
    ['a{b:url("data:;base64,AAAA', 'a{b:url("data:;base64,AAAA")}'],
  ])('closes what %j leaves open', async (css, sent) => {
    expect(await theme(css)).toBe(sent);
  });

  it.each([
    ['@namespace url(a);', '@namespace url("a");'],
    [String.raw`@\6d edia x{a{\63 olor-x:#1\62 }}`, '@media x{a{color-x:#1b}}'],
    [
      String.raw`a{b:-10.25e+12p\78  .25p\78  12p\78  1e3p\78  3\65 3}`,
      String.raw`a{b:-10.25e+12\70 x .25\70 x 12\70 x 1e3\70 x 3\65 3}`,
    ],
    ['<!--a{b:"\u0001"}-->', String.raw` a{b:"\fffd "} `],
  ])('writes %j as %j', async (css, sent) => {
    expect(await theme(css)).toBe(sent);
  });

  it('counts the origins it dropped', async () => {
    expect(
      (
        await checker.theme(
          '@charset "x";@import url("//e.example/0");@import "x";a{b:url(//e.example/1) url(//e.example/2) src(var(--c)) url("\\\\") url(blob:x)}',
        )
      )?.leftOut,
    ).toEqual([
      'https://e.example (2)',
      'a computed address (1)',
      'an unreadable address (1)',
      'blob: (1)',
      '@import (2)',
    ]);
    const many = Array.from({ length: 10 }, (_, at) => `url(//${String(at)}.example) `).join('');
    expect((await checker.theme(`a{b:${many}url(//0.example)}`))?.leftOut).toEqual([
      'https://0.example (2)',
      ...Array.from({ length: 7 }, (_, at) => `https://${String(at + 1)}.example (1)`),
      'further origins (2)',
    ]);
  });
});

/** The longest the event loop is held up while a theme is checked, in milliseconds of processor time. */
async function longestWait(css: string): Promise<number> {
  let longest = 0;
  let last = process.cpuUsage();
  let isOver = false;
  const other = (): void => {
    longest = Math.max(longest, processorTimeSince(last));
    last = process.cpuUsage();
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await checker.theme(css);
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return longest;
}

const SIZE = 131_072;
const HOSTILE: readonly (readonly [string, string])[] = [
  ['brackets', '{'.repeat(2_097_152)],
  ['parentheses', 'a('.repeat(SIZE / 2)],
  ['a string without an end', `"${'a'.repeat(SIZE - 1)}`],
  ['a string of escapes', '"\\'.repeat(SIZE / 2)],
  ['broken strings', "'\n".repeat(SIZE / 2)],
  ['an address without an end', `url(${'a'.repeat(SIZE - 4)}`],
  ['addresses', 'url(//e);'.repeat(SIZE / 9)],
  ['computed addresses', 'image-set(var());'.repeat(SIZE / 17)],
  ['embedded files', `a{b:url("data:font/woff2;base64,${'AB+/'.repeat(250_000)}")}`],
  ['beginnings of embedded files', 'data:;base64,'.repeat(80_000)],
];

describe('a hostile theme', () => {
  it.each(HOSTILE)('of %s does not block the event loop', async (_what, css) => {
    const longest: number[] = [];
    while (longest.length < 8) longest.push(await longestWait(css));
    // Under 50 ms unless garbage collection runs in between.
    expect(Math.min(...longest)).toBeLessThan(200);
  });

  it.each([
    ['open brackets', '{', 100],
    ['open functions', 'a(', 100],
    ['broken strings', "'\n", 200],
    ['broken addresses', 'url(a b)', 200],
  ])('of %s is rejected: %j more than %i times', async (_what, piece, times) => {
    expect(await theme(piece.repeat(times))).toBeDefined();
    expect(await theme(piece.repeat(times + 1))).toBeUndefined();
  });

  it('is rejected beyond 131,072 characters, not counting embedded files', async () => {
    const file = `a{b:url("data:font/woff2;base64,${'A'.repeat(900_000)}")}`;
    const rules = (length: number): string => `a{b:c}${' '.repeat(length - 6)}`;
    expect(await theme(file + rules(131_000))).toHaveLength(file.length + 131_000);
    expect(await theme(rules(131_072))).toHaveLength(131_072);
    expect(await theme(rules(131_073))).toBeUndefined();
  });
});
