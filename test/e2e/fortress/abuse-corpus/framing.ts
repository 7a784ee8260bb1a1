import { type AbuseCase, type AbuseFamily, MESSAGE, type SafeOutcome, step } from './abuse-case.js';

/** A request that must never be parsed as a separate one. */
const HIDDEN = 'GET /api/service/smuggled HTTP/1.1\r\nHost: site.example\r\nCookie: session=mallory\r\n\r\n';
const NO_SMUGGLING: SafeOutcome = {
  statuses: [0, 400, 404, 408, 411, 413, 417, 431, 501, 505],
  platform: 'never',
  notUpstream: ['smuggled'],
};
const ONCE: SafeOutcome = { statuses: [200], platform: 'must', mostRequests: 1, notUpstream: ['token-of-mallory'] };

const BODY = MESSAGE.replace('{n}', '1');
const LENGTH = String(BODY.length);
const TE = 'Transfer-Encoding: chunked';
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

function post(fields: readonly string[], rest: string): string {
  const lines = ['POST /api/a2a HTTP/1.1', 'Host: site.example', 'Content-Type: application/json', ...fields];
  return `${lines.join('\r\n')}\r\n\r\n${rest}`;
}

/** RFC 9112 §11.2: two lengths, an ambiguous one, or a field that two parsers delimit differently. Node's parser rejects them. */
const UNCLEAR: readonly (readonly string[])[] = [
  [`Content-Length: ${LENGTH}`, TE],
  [TE, `Content-Length: ${LENGTH}`],
  [`Content-Length: ${LENGTH}`, 'Content-Length: 0'],
  [`Content-Length: +${LENGTH}`],
  ['Content-Length: 0x10'],
  ['Transfer-Encoding : chunked'],
  [TE, 'Transfer-Encoding: identity'],
  ['Transfer-Encoding: xchunked'],
  ['X: y\r\n\tTransfer-Encoding: chunked', 'Content-Length: 3'],
  ['X: y\nTransfer-Encoding: chunked', 'Content-Length: 3'],
];

/** CVE-2026-29057: a body that looks like a request arrives as a body, whatever the method and framing. */
const bodies = ['DELETE', 'OPTIONS', 'PATCH', 'PUT', 'POST'].flatMap((method) =>
  [
    `Content-Length: ${String(HIDDEN.length)}\r\n\r\n${HIDDEN}`,
    `${TE}\r\n\r\n${chunked(HIDDEN)}`,
    `Transfer-Encoding: ChUnKeD\r\n\r\n${chunked(HIDDEN)}`,
  ].map((rest): AbuseCase => ({
    id: `a request inside the body of a ${method}, ${rest.split('\r\n', 1)[0] ?? ''}`,
    steps: [
      step(`${method} /api/service/conversations/{n} HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n${rest}`),
    ],
    safe: ONCE,
  })),
);

/** Unusual but legal framing. The message arrives once, with new framing and without trailers. */
const allowed = Object.entries({
  'one-byte chunks': post(
    [TE],
    `${BODY.split('')
      .map((one) => `1\r\n${one}\r\n`)
      .join('')}0\r\n\r\n`,
  ),
  'a chunk extension': post([TE], `${BODY.length.toString(16)};authorization="x"\r\n${BODY}\r\n0\r\n\r\n`),
  trailers: post(
    [TE, 'Trailer: Authorization, X-Api-Key'],
    `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\nAuthorization: Bearer smuggled\r\nX-Api-Key: smuggled\r\nCookie: smuggled=1\r\n\r\n`,
  ),
  'empty lines before the request': `\r\n\r\n${post([`Content-Length: ${LENGTH}`], BODY)}`,
  Expect: post([`Content-Length: ${LENGTH}`, 'Expect: 100-continue'], BODY),
}).map(([id, bytes]): AbuseCase => ({
  id,
  steps: [step(bytes)],
  safe: { ...ONCE, statuses: [100, 200], notUpstream: ['smuggled', 'expect: ', 'trailer: '] },
}));

const twoExtensions: AbuseCase = {
  id: 'two chunk extensions',
  steps: [step(post([TE], `${BODY.length.toString(16)};a=b;authorization=x\r\n${BODY}\r\n0\r\n\r\n`))],
  // The parser of Node 20.19.0 refuses them.
  safe: process.versions['llhttp']?.startsWith('8.') === true ? NO_SMUGGLING : ONCE,
};

/** Messages whose end two servers could read differently. */
export const framing: AbuseFamily = {
  name: 'request smuggling',
  cases: [
    ...UNCLEAR.map((fields): AbuseCase => ({
      id: `a request behind ${JSON.stringify(fields)}`,
      steps: [{ ...step(post(fields, chunked(BODY) + HIDDEN)), halfCloses: true }],
      safe: NO_SMUGGLING,
    })),
    ...bodies,
    ...allowed,
    twoExtensions,
  ],
};
