import { type AbuseCase, type AbuseFamily, chat, config, record, refused, render, slug, step } from './abuse-case.js';

const CRLF = 'CVE-2022-31150; CVE-2026-1527';

const VALUES: readonly (readonly [what: string, value: string])[] = [
  ['a carriage return', 'x\rX-Injected: 1'],
  ['a line feed', 'x\nX-Injected: 1'],
  ['NUL', 'x\0y'],
  ['BEL', 'x\x07y'],
  ['DEL', 'x\x7fy'],
];

const CROSSING = [
  'A2A-Version',
  'Accept',
  'Accept-Language',
  'Idempotency-Key',
  'Traceparent',
  'Last-Event-ID',
  'A2A-Extensions',
];

const ENCODED = [
  '%0d%0aX-Injected:%201',
  '%0aX-Injected:%201',
  '%00',
  '%E5%98%8A%E5%98%8DX-Injected:1',
  '%250d%250aX-Injected:1',
];

/** Line ends and control characters, in everything that crosses. */
export const injections: AbuseFamily = {
  name: 'header injection',
  cases: [
    ...VALUES.flatMap(([what, value]) =>
      CROSSING.slice(0, 3).map((name): AbuseCase => ({
        id: `inject-${slug(name)}-${slug(what)}`,
        tries: `write fields of the platform's request by ${what} in ${name}`,
        fact: CRLF,
        steps: [{ ...step(chat([`${name}: ${value}`])), halfCloses: true }],
        safe: { statuses: [0, 200, 400], platform: 'may', notUpstream: ['x-injected'] },
      })),
    ),
    ...CROSSING.map((name): AbuseCase => ({
      id: `inject-latin-${slug(name)}`,
      tries: `write fields of the platform's request by bytes above ASCII in ${name}`,
      fact: CRLF,
      // Cut to one byte, the first two are CR and LF.
      steps: [step(chat([`${name}: \xe5\x98\x8d\xe5\x98\x8aX-Injected: 1`]))],
      safe: { statuses: [200, 400], platform: 'may', notUpstream: ['\r\nx-injected'] },
    })),
    ...ENCODED.flatMap((text, index): AbuseCase[] => [
      {
        id: `inject-query-chat-${String(index)}`,
        tries: `write fields by ${text} in the query of a chat`,
        fact: CRLF,
        steps: [step(chat([], undefined, `/api/a2a?x=${text}`))],
        safe: { statuses: [200, 400, 404], platform: 'may', notUpstream: ['\r\nx-injected', '\nx-injected'] },
      },
      {
        id: `inject-query-record-${String(index)}`,
        tries: `write fields by ${text} in the query of a record`,
        fact: CRLF,
        steps: [step(record([], `/api/service/conversations?x=${text}`))],
        safe: { statuses: [200, 400, 404], platform: 'may', notUpstream: ['\nx-injected'] },
      },
      {
        id: `inject-version-${String(index)}`,
        tries: `write fields by ${text} as the version of a card`,
        fact: CRLF,
        steps: [step(config([], `?A2A-Version=${text}`))],
        safe: {
          statuses: [200, 502],
          platform: 'may',
          mostRequests: 20,
          notUpstream: ['\nx-injected'],
          notAnswered: ['\nx-injected'],
        },
      },
      {
        id: `inject-id-${String(index)}`,
        tries: `write fields by ${text} as the id of a widget`,
        fact: CRLF,
        steps: [step({ ...render(), target: `/api/service-surfaces/a${text}/render` })],
        // Letters that somebody else cuts to line ends are letters, and cross encoded.
        safe: text.startsWith('%E5')
          ? { statuses: [200], platform: 'must', notUpstream: ['\nx-injected'] }
          : refused(400, 404),
      },
    ]),
    ...['#fragment', '#', ' HTTP/1.1\r\nX-Injected: 1\r\nY:', '\t', '\xfc', '\x7f', '\\'].map(
      (text, index): AbuseCase => ({
        id: `inject-raw-query-${String(index)}`,
        tries: `end the platform's target early by ${JSON.stringify(text)} in a query`,
        fact: 'GHSA-pxq7-h93f-9jrg',
        steps: [{ ...step(chat([], undefined, `/api/a2a?x=1${text}`)), answers: 1 }],
        safe: { statuses: [0, 200, 400, 404], platform: 'may', notUpstream: ['x-injected'] },
      }),
    ),
  ],
};

const X = (length: number): string => 'x'.repeat(length);
const TOO_LONG = 'OWASP ASVS 5.0 4.2.5';

/** More than a parser should keep. */
export const oversized: AbuseFamily = {
  name: 'oversized heads',
  cases: [
    ...(
      [
        ['a value of 64 KB', chat([`Accept-Language: ${X(65_536)}`])],
        ['a name of 64 KB', chat([`${X(65_536)}: 1`])],
        ['a path of 64 KB', record([], `/api/service/${X(65_536)}`)],
        ['a query of 64 KB', chat([], undefined, `/api/a2a?${X(65_536)}`)],
        ['a cookie of 64 KB', record([`Cookie: session=ada; x=${X(65_536)}`])],
        ['a Connection list of 64 KB', chat([`Connection: close, ${X(65_536)}`])],
        ['a segment of 4 KB', record([], `/api/service/${X(4_096)}`)],
        ['an id of 4 KB', { ...render(), target: `/api/service-surfaces/${X(4_096)}/render` }],
      ] as const
    ).map(([what, request]): AbuseCase => ({
      id: `size-${slug(what)}`,
      tries: `fill the site's memory with ${what}`,
      fact: TOO_LONG,
      steps: [{ ...step(request), answers: 1 }],
      safe: refused(0, 400, 404, 414, 431),
    })),
    ...(
      [
        ['1,000 fields', chat(Array.from({ length: 1_000 }, (_, index) => `X-${String(index)}: 1`))],
        ['1,000 fields of one name', chat(Array.from({ length: 1_000 }, () => `Accept: */*`))],
        ['400 segments', record([], `/api/service${'/a'.repeat(400)}`)],
        ['a query of 8 KB', record([], `/api/service/x?${X(8_192)}`)],
        ['4,000 separators', record([], `/api/service/x?${'&'.repeat(4_000)}`)],
      ] as const
    ).map(([what, request]): AbuseCase => ({
      id: `size-${slug(what)}`,
      tries: `slow the site down by ${what}`,
      fact: 'CVE-2024-45590; CVE-2025-15284',
      steps: [step(request)],
      safe: { statuses: [200, 400, 404, 431], platform: 'may' },
    })),
  ],
};
