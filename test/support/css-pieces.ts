import fc from 'fast-check';

/** CSS fragments that interact when combined. `HOST` stands for a foreign host. */
const PIECES = [
  ...String.raw`:root|html|.dark|--a|--b|:|;|{|}|(|)|[|]|,|"|'|\|\75 rl(|url(|url("|u\72 l(|//HOST/x|http://HOST/|x.png|image-set(|src(`.split(
    '|',
  ),
  ...String.raw`var(--a)|attr(|@import |@media |@namespace |@font-face|@charset |(prefers-color-scheme:dark)|and|!important|/*|*/|<!--`.split(
    '|',
  ),
  ...String.raw`-->|</style>| |×|é|😀|1e3|1px|.5|#|#1|@|-|--|+|U+0-7F|&|>|*|/|<|data:,|data:x;base64,AAAA|!|\31 |\a |1 0|e`.split(
    '|',
  ),
  ...String.raw`format("woff2")|body::before|content:"x"|position:fixed|a{background:|:host{background:|b{cursor:`.split(
    '|',
  ),
  '\n',
  '\r\n',
  '\f',
  '\0',
  '\\\n',
];

/** Nearly valid style sheets with addresses on a foreign host. */
export function cssOf(host: string): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...PIECES) },
    { weight: 1, arbitrary: fc.string({ maxLength: 3 }) },
  );
  return fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('').replaceAll('HOST', host));
}
