import { type AbuseCase, type AbuseFamily, chat, config, record, refused, render, step } from './abuse-case.js';

const CROSSING = ['A2A-Version', 'Accept', 'Accept-Language', 'Idempotency-Key', 'Traceparent', 'A2A-Extensions'];
const ENCODED = ['%0d%0aX-Injected:%201', '%00', '%E5%98%8A%E5%98%8DX-Injected:1', '%250d%250aX-Injected:1'];

/** CVE-2022-31150, CVE-2026-1527: line ends and control characters in everything that is forwarded. */
export const injections: AbuseFamily = {
  name: 'header injection',
  cases: [
    ...CROSSING.map((name): AbuseCase => ({
      id: `bytes above ASCII in ${name}`,
      // Cut to one byte, the first two are CR and LF.
      steps: [step(chat([`${name}: \xe5\x98\x8d\xe5\x98\x8aX-Injected: 1`]))],
      safe: { statuses: [200, 400], platform: 'may', notUpstream: ['\r\nx-injected'] },
    })),
    ...ENCODED.flatMap((text): AbuseCase[] => [
      {
        id: `${text} in the query of a chat`,
        steps: [step(chat([], undefined, `/api/a2a?x=${text}`))],
        safe: { statuses: [200, 400, 404], platform: 'may', notUpstream: ['\nx-injected'] },
      },
      {
        id: `${text} in the query of a record`,
        steps: [step(record([], `/api/service/conversations?x=${text}`))],
        safe: { statuses: [200, 400, 404], platform: 'may', notUpstream: ['\nx-injected'] },
      },
      {
        id: `${text} as the version of a card`,
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
        id: `${text} in the id of a widget`,
        steps: [step({ ...render(), target: `/api/service-surfaces/a${text}/render` })],
        // Letters whose low bytes are a line end are forwarded in encoded form.
        safe: text.startsWith('%E5')
          ? { statuses: [200], platform: 'must', notUpstream: ['\nx-injected'] }
          : refused(400, 404),
      },
    ]),
    // GHSA-pxq7-h93f-9jrg.
    ...['#fragment', '#', ' HTTP/1.1\r\nX-Injected: 1\r\nY:', '\t', '\xfc', '\x7f', '\\'].map((text): AbuseCase => ({
      id: `${JSON.stringify(text)} at the end of a query`,
      steps: [{ ...step(chat([], undefined, `/api/a2a?x=1${text}`)), answers: 1 }],
      safe: { statuses: [0, 200, 400, 404], platform: 'may', notUpstream: ['x-injected'] },
    })),
  ],
};

const long = (length: number): string => 'x'.repeat(length);
const TOO_LONG = {
  'a value of 64 KB': chat([`Accept-Language: ${long(65_536)}`]),
  'a path of 64 KB': record([], `/api/service/${long(65_536)}`),
  'a segment of 4 KB': record([], `/api/service/${long(4_096)}`),
  'an id of 4 KB': { ...render(), target: `/api/service-surfaces/${long(4_096)}/render` },
};
const MANY = {
  '1,000 fields': chat(Array.from({ length: 1_000 }, (_, index) => `X-${String(index)}: 1`)),
  '1,000 fields of one name': chat(Array.from({ length: 1_000 }, () => `Accept: */*`)),
  '400 segments': record([], `/api/service${'/a'.repeat(400)}`),
  '4,000 separators': record([], `/api/service/x?${'&'.repeat(4_000)}`),
};

/** More parameters than a parser should keep (OWASP ASVS 5.0 4.2.5; CVE-2024-45590, CVE-2025-15284). */
export const oversized: AbuseFamily = {
  name: 'oversized heads',
  cases: [
    ...Object.entries(TOO_LONG).map(([id, request]): AbuseCase => ({
      id,
      steps: [{ ...step(request), answers: 1 }],
      safe: refused(0, 400, 404, 414, 431),
    })),
    ...Object.entries(MANY).map(([id, request]): AbuseCase => ({
      id,
      steps: [step(request)],
      safe: { statuses: [200, 400, 404, 431], platform: 'may' },
    })),
  ],
};
