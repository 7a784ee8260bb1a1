import { type AbuseCase, type AbuseFamily, type PlatformAnswer, slug, step, theme } from './abuse-case.js';

const FACT = 'docs/security.md';
const RULE = 'a{color:red}';

const NO_THEMES: readonly (readonly [what: string, answer: PlatformAnswer | string])[] = [
  ['HTML', { fields: ['Content-Type: text/html'], body: '<script>1</script>' }],
  ['a script', { fields: ['Content-Type: text/javascript'], body: 'alert(1)' }],
  ['SVG', { fields: ['Content-Type: image/svg+xml'], body: '<svg onload="alert(1)"/>' }],
  ['no type', { fields: [], body: RULE }],
  ['an empty type', { fields: ['Content-Type: '], body: RULE }],
  ['two types', { fields: ['Content-Type: text/css', 'Content-Type: text/html'], body: RULE }],
  ['two types in one', { fields: ['Content-Type: text/css, text/html'], body: RULE }],
  ['a type in a parameter', { fields: ['Content-Type: text/html; text/css'], body: RULE }],
  ['a longer type', { fields: ['Content-Type: text/css+html'], body: RULE }],
  ['UTF-7', { fields: ['Content-Type: text/css; charset=utf-7'], body: RULE }],
  ['UTF-16', { fields: ['Content-Type: text/css; charset=utf-16'], body: RULE }],
  ['JSON', { fields: ['Content-Type: application/json'], body: '{}' }],
  ['no content', { status: 204, fields: [] }],
  ['a part', { status: 206, fields: ['Content-Type: text/css', 'Content-Range: bytes 0-1/9'], body: 'a{' }],
  ['1.1 MiB', { fields: ['Content-Type: text/css'], body: 'x'.repeat(1_153_434) }],
  [
    '1.1 MiB in chunks',
    `HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nTransfer-Encoding: chunked\r\n\r\n${(1_153_434).toString(16)}\r\n${'x'.repeat(1_153_434)}\r\n0\r\n\r\n`,
  ],
  ['half of it', 'HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Length: 100\r\n\r\na{'],
  ['a 304 nobody asked for', { status: 304, fields: ['ETag: "x"'] }],
];

/** Style sheets are the one thing of the platform that pages of the site load by themselves. */
export const themes: AbuseFamily = {
  name: 'themes',
  cases: [
    ...NO_THEMES.map(([what, answer]): AbuseCase => ({
      id: `css-${slug(what)}`,
      tries: `pass ${what} off as a style sheet`,
      fact: FACT,
      steps: [step(theme())],
      platform: [answer],
      safe: { statuses: [502], platform: 'must', mostRequests: 2, notAnswered: ['<script', '<svg', RULE, 'text/css'] },
    })),
    {
      id: 'css-set-cookie',
      tries: 'set a cookie by a style sheet',
      fact: FACT,
      steps: [step(theme())],
      platform: [
        {
          fields: [
            'Content-Type: text/css',
            'Set-Cookie: a=1',
            'Access-Control-Allow-Origin: *',
            'Link: <x>; rel=stylesheet',
          ],
          body: RULE,
        },
      ],
      safe: {
        statuses: [200],
        platform: 'must',
        answered: [RULE, 'content-type: text/css; charset=utf-8', 'nosniff'],
        notAnswered: ['set-cookie', 'link:'],
      },
    },
    {
      id: 'css-close-style',
      tries: 'leave a style element',
      fact: 'docs/security.md',
      steps: [step(theme())],
      platform: [{ fields: ['Content-Type: text/css'], body: '</style><script>alert(1)</script>' }],
      safe: { statuses: [200], platform: 'must', answered: ['content-type: text/css; charset=utf-8', 'nosniff'] },
    },
  ],
};
