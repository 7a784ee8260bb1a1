import { type AbuseCase, type AbuseFamily, MESSAGE, refused, type SafeOutcome, slug, step } from './abuse-case.js';

const SMUGGLING = 'RFC 9112 §11.2';
const DUPLICATE = 'CVE-2026-1525';
const CODING = 'CVE-2026-23527';

/** What a smuggler wants somebody to take for a request of its own. */
const HIDDEN = 'GET /api/service/smuggled HTTP/1.1\r\nHost: site.example\r\nCookie: session=mallory\r\n\r\n';
const NO_SMUGGLING: SafeOutcome = {
  statuses: [0, 400, 404, 408, 411, 413, 417, 431, 501, 505],
  platform: 'never',
  notUpstream: ['smuggled'],
};

function post(fields: readonly string[], rest: string): string {
  const lines = ['POST /api/a2a HTTP/1.1', 'Host: site.example', 'Content-Type: application/json', ...fields];
  return `${lines.join('\r\n')}\r\n\r\n${rest}`;
}

const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const L = String(MESSAGE.replace('{n}', '1').length);
const BODY = MESSAGE.replace('{n}', '1');
const TE = 'Transfer-Encoding: chunked';

/** Fields that say two things about where a body ends, or nothing clear. */
const LENGTHS: readonly (readonly [fields: readonly string[], fact: string])[] = [
  [[`Content-Length: ${L}`, TE], SMUGGLING],
  [[TE, `Content-Length: ${L}`], SMUGGLING],
  [['Content-Length: 0', TE], SMUGGLING],
  [[`Content-Length: ${L}`, 'Content-Length: 0'], DUPLICATE],
  [['Content-Length: 0', `Content-Length: ${L}`], DUPLICATE],
  [[`Content-Length: ${L}, 0`], DUPLICATE],
  [[`Content-Length: +${L}`], SMUGGLING],
  [[`Content-Length: -${L}`], SMUGGLING],
  [['Content-Length: 0x10'], SMUGGLING],
  [['Content-Length: 1e2'], SMUGGLING],
  [['Content-Length: 1.0'], SMUGGLING],
  [['Content-Length: 1 0'], SMUGGLING],
  [['Content-Length: '], SMUGGLING],
  [['Content-Length: ten'], SMUGGLING],
  [['Content-Length: 99999999999999999999'], SMUGGLING],
  [['Content-Length : 10'], 'RFC 9112 §5.1'],
  [['Transfer-Encoding : chunked'], 'RFC 9112 §5.1'],
  [['Content-Length\t: 10'], 'RFC 9112 §5.1'],
  [[`${TE}`, 'Transfer-Encoding: identity'], CODING],
  [['Transfer-Encoding: chunked, identity'], CODING],
  [['Transfer-Encoding: identity'], CODING],
  [['Transfer-Encoding: xchunked'], CODING],
  [['Transfer-Encoding: chunked;x=1'], CODING],
  [['Transfer-Encoding: "chunked"'], CODING],
  [['Transfer-Encoding: chunked\x0b'], CODING],
  [['Transfer-Encoding: \x00chunked'], CODING],
  [['Transfer-Encoding: gzip'], CODING],
  [['Transfer-Encoding: chunked, gzip'], CODING],
  [['Transfer-Encoding:', ' chunked'], 'RFC 9112 §5.2'],
  [['X: y\r\n\tTransfer-Encoding: chunked', 'Content-Length: 3'], 'RFC 9112 §5.2'],
  [['X: y\nTransfer-Encoding: chunked', 'Content-Length: 3'], 'RFC 9112 §2.2'],
  [['X: y\rTransfer-Encoding: chunked', 'Content-Length: 3'], 'RFC 9112 §2.2'],
  [['X: y\0z', 'Content-Length: 3'], 'RFC 9110 §5.5'],
  [['X Y: z', 'Content-Length: 3'], 'RFC 9112 §5.1'],
  [[': z', 'Content-Length: 3'], 'RFC 9112 §5.1'],
  [['no colon', 'Content-Length: 3'], 'RFC 9112 §5.1'],
  [['Content-Length: 3', 'X(Y): z'], 'RFC 9110 §5.6.2'],
];

const CHUNKS: readonly (readonly [what: string, body: string])[] = [
  ['a hexadecimal prefix', `0x5\r\nhello\r\n0\r\n\r\n`],
  ['a negative size', `-1\r\n${BODY}\r\n0\r\n\r\n`],
  ['a size with a sign', `+5\r\nhello\r\n0\r\n\r\n`],
  ['a size beyond 64 bits', `fffffffffffffffff\r\n${BODY}\r\n0\r\n\r\n`],
  ['no size', `\r\n${BODY}\r\n0\r\n\r\n`],
  ['a size in words', `five\r\nhello\r\n0\r\n\r\n`],
  ['a size with a blank inside', `1 0\r\n0123456789abcdef\r\n0\r\n\r\n`],
  ['a chunk longer than its size', `2\r\nhello\r\n0\r\n\r\n`],
  ['bare line feeds', chunked(BODY).replaceAll('\r\n', '\n')],
  ['bare carriage returns', chunked(BODY).replaceAll('\r\n', '\r')],
  ['a line feed inside an extension', `5;x\ny\r\nhello\r\n0\r\n\r\n`],
  ['an extension of 70 KB', `5;${'x'.repeat(70_000)}\r\nhello\r\n0\r\n\r\n`],
  ['no end behind a chunk', `5\r\nhello0\r\n\r\n`],
];

const refusals: readonly AbuseCase[] = [
  ...LENGTHS.map(([fields, fact], index) => ({
    id: `smug-length-${String(index)}-${slug(fields.join(' '))}`,
    tries: `hide a request behind ${JSON.stringify(fields)}`,
    fact,
    steps: [{ ...step(post(fields, chunked(BODY) + HIDDEN)), halfCloses: true }],
    safe: NO_SMUGGLING,
  })),
  ...CHUNKS.map(([what, body], index) => ({
    id: `smug-chunk-${String(index)}-${slug(what)}`,
    tries: `hide a request behind a chunk with ${what}`,
    fact: 'RFC 9112 §7.1',
    steps: [{ ...step(post([TE], body + HIDDEN)), halfCloses: true }],
    safe: NO_SMUGGLING,
  })),
];

/** A body that is itself a request: it is a body everywhere, or nowhere. */
const BODIES: readonly AbuseCase[] = ['DELETE', 'OPTIONS', 'PATCH', 'PUT', 'POST'].flatMap((method) => {
  const head = `${method} /api/service/conversations/{n} HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n`;
  return [
    ['length', `Content-Length: ${String(HIDDEN.length)}\r\n\r\n${HIDDEN}`],
    ['chunked', `${TE}\r\n\r\n${chunked(HIDDEN)}`],
    ['capitals', `Transfer-Encoding: ChUnKeD\r\n\r\n${chunked(HIDDEN)}`],
  ].map(
    ([how, rest]) =>
      ({
        id: `smug-body-${method.toLowerCase()}-${String(how)}`,
        tries: `have the body of a ${method} read as a request at the platform`,
        fact: 'CVE-2026-29057',
        steps: [step(head + String(rest))],
        // It is one request there, with the same body; the hidden one has a credential of its own then, which it must not get.
        safe: { statuses: [200], platform: 'must', mostRequests: 1, notUpstream: ['token-of-mallory'] },
      }) as const,
  );
});

const READS: readonly AbuseCase[] = ['GET', 'HEAD'].flatMap((method) =>
  [
    ['length', `Content-Length: ${String(HIDDEN.length)}\r\n\r\n${HIDDEN}`],
    ['chunked', `${TE}\r\n\r\n${chunked(HIDDEN)}`],
  ].map(
    ([how, rest]) =>
      ({
        id: `smug-read-${method.toLowerCase()}-${String(how)}`,
        tries: `have the body of a ${method} read as a request at the platform`,
        fact: 'CVE-2026-29057',
        steps: [
          step(
            `${method} /api/service/conversations/{n} HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n${String(rest)}`,
          ),
        ],
        safe: {
          statuses: [200, 400, 411, 413, 501, 502],
          platform: 'may',
          mostRequests: 1,
          notUpstream: ['token-of-mallory'],
        },
      }) as const,
  ),
);

const VERSIONS: readonly (readonly [what: string, bytes: string])[] = [
  ['HTTP/2 in clear', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/3.7', 'GET /api/service/x HTTP/3.7\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n'],
  ['no version', 'GET /api/service/x HTTP/\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n'],
  ['another protocol', 'GET /api/service/x ICE/1.0\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['a tab', 'GET\t/api/service/x\tHTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n'],
  ['NUL', '\0'.repeat(100)],
  ['a first field that is folded', 'GET /api/service/x HTTP/1.1\r\n Cookie: session=ada\r\nHost: site.example\r\n\r\n'],
  ['a method with a colon', 'GET: /api/service/x HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n'],
];

const versions: readonly AbuseCase[] = VERSIONS.map(([what, bytes]) => ({
  id: `smug-version-${slug(what)}`,
  tries: `be read differently by two servers, by ${what}`,
  fact: 'RFC 9112 §3',
  steps: [{ ...step(bytes), halfCloses: true }],
  safe: NO_SMUGGLING,
}));

/** Framing that is odd and allowed: the same message must arrive, once, under our own framing. */
const allowed: readonly AbuseCase[] = [
  [
    'a chunked body of one-byte chunks',
    post(
      [TE],
      `${BODY.split('')
        .map((c) => `1\r\n${c}\r\n`)
        .join('')}0\r\n\r\n`,
    ),
  ],
  ['chunk extensions', post([TE], `${BODY.length.toString(16)};a=b;authorization="x"\r\n${BODY}\r\n0\r\n\r\n`)],
  [
    'trailers',
    post(
      [TE, 'Trailer: Authorization, X-Api-Key'],
      `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\nAuthorization: Bearer smuggled\r\nX-Api-Key: smuggled\r\nCookie: smuggled=1\r\n\r\n`,
    ),
  ],
  ['empty lines in front', `\r\n\r\n${post([`Content-Length: ${L}`], BODY)}`],
  ['Expect', post([`Content-Length: ${L}`, 'Expect: 100-continue'], BODY)],
  ['capitals in the coding', post(['Transfer-Encoding: ChunKed'], chunked(BODY))],
].map(([what = '', bytes = '']) => ({
  id: `smug-odd-${slug(what)}`,
  tries: `carry something along by ${what}`,
  fact: what === 'trailers' ? 'RFC 9110 §6.5; docs/security.md' : CODING,
  steps: [step(bytes)],
  safe: { statuses: [100, 200], platform: 'must', mostRequests: 1, notUpstream: ['smuggled', 'expect: ', 'trailer: '] },
}));

/** Two servers that disagree where a message ends. */
export const framing: AbuseFamily = {
  name: 'framing',
  cases: [
    ...refusals,
    ...BODIES,
    ...READS,
    ...versions,
    ...allowed,
    {
      id: 'smug-version-http-0.9',
      tries: 'be served without a head',
      fact: 'RFC 9112 §3',
      steps: [{ ...step('GET /api/service/x\r\n\r\n'), halfCloses: true }],
      safe: refused(0, 400, 401, 404, 505),
    },
    {
      id: 'smug-version-two-blanks',
      tries: 'be read differently by two servers, by two blanks',
      fact: 'RFC 9112 §3',
      steps: [step('GET  /api/service/x  HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n')],
      // Node's parser takes one blank for several; whoever reads on reads one.
      safe: { statuses: [200, 400], platform: 'may', mostRequests: 1 },
    },
    {
      id: 'smug-expect-unknown',
      tries: 'expect something nobody knows',
      fact: 'RFC 9110 §10.1.1',
      steps: [step(post([`Content-Length: ${L}`, 'Expect: 200-maybe'], BODY))],
      safe: { statuses: [200, 417], platform: 'may', mostRequests: 1, notUpstream: ['200-maybe'] },
    },
  ],
};
