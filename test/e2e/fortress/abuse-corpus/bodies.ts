import { deflateSync, gzipSync } from 'node:zlib';
import {
  type AbuseCase,
  type AbuseFamily,
  action,
  chat,
  record,
  refused,
  render,
  type SafeOutcome,
  slug,
  step,
} from './abuse-case.js';

const CSRF = 'docs/security.md; OWASP ASVS 5.0 3.5.1';
const REWRITTEN = 'CVE-2023-51701 / GHSA-v2v2-hph8-q5xp';

const TYPES: readonly (readonly [type: string, fact: string])[] = [
  ['text/plain', CSRF],
  ['text/plain;charset=UTF-8', CSRF],
  ['text/plain; application/json', CSRF],
  ['text/html; application/json', CSRF],
  ['text/json', CSRF],
  ['application/x-www-form-urlencoded', CSRF],
  ['application/x-www-form-urlencoded; application/json', CSRF],
  ['multipart/form-data; boundary=x', 'CVE-2026-55603'],
  ['multipart/form-data; boundary=application/json', 'CVE-2026-55603'],
  ['multipart/mixed; boundary="application/json"', 'CVE-2026-55603'],
  ['application/jsonp', CSRF],
  ['application/json-patch+json', CSRF],
  ['application/json/x', CSRF],
  ['application/json, text/plain', CSRF],
  ['text/plain, application/json', CSRF],
  ['application /json', CSRF],
  ['application/ json', CSRF],
  ['application', CSRF],
  ['json', CSRF],
  ['*/*', CSRF],
  ['application/*', CSRF],
  ['"application/json"', CSRF],
  [';application/json', CSRF],
  [',application/json', CSRF],
  ['application/x-json', CSRF],
  ['application/json\x0c', CSRF],
  ['', CSRF],
];

/** A body that is not declared as JSON, which any page may send without asking (Fetch, "CORS-safelisted request-header"). */
export const contentTypes: AbuseFamily = {
  name: 'content types',
  cases: [
    ...TYPES.flatMap(([type, fact], index) =>
      Object.entries({ chat, render, action }).map(([name, make]) => ({
        id: `ct-${name}-${String(index)}-${slug(type)}`,
        tries: `post a ${name} as ${type === '' ? 'nothing' : type}`,
        fact,
        steps: [step(make([`Content-Type: ${type}`]))],
        safe: refused(400, 415),
      })),
    ),
    ...(['application/json ; charset=utf-8', 'application/json;x="y;z"', 'APPLICATION/JSON'] as const).map(
      (type): AbuseCase => ({
        id: `ct-odd-${slug(type)}`,
        tries: `have a body written anew and wrongly by the type ${type}`,
        fact: REWRITTEN,
        steps: [step(chat([`Content-Type: ${type}`]))],
        safe: { statuses: [200], platform: 'must', upstream: ['"messageId":"m-{n}"'] },
      }),
    ),
    {
      id: 'ct-two',
      tries: 'name two types',
      fact: CSRF,
      steps: [step(chat(['Content-Type: text/plain', 'Content-Type: application/json']))],
      safe: refused(400, 415),
    },
  ],
};

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const SMALL = latin1(gzipSync('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}'));
const BOMB = latin1(gzipSync(Buffer.alloc(8 * 1_048_576, 0x20)));
const LAYERS = latin1(gzipSync(gzipSync(gzipSync('{}'))));

const CODINGS: readonly (readonly [coding: string, body: string])[] = [
  ['gzip', SMALL],
  ['GZIP', SMALL],
  ['x-gzip', SMALL],
  ['deflate', latin1(deflateSync('{}'))],
  ['br', SMALL],
  ['zstd', SMALL],
  ['compress', SMALL],
  ['gzip, gzip', LAYERS],
  ['gzip, identity', SMALL],
  ['identity, gzip', SMALL],
  [Array.from({ length: 1000 }, () => 'gzip').join(','), LAYERS],
  ['gzip', BOMB],
  ['gzip', 'not gzip'],
  ['gzip', SMALL.slice(0, 20)],
  ['unknown', '{}'],
];

/** Bodies that grow when somebody unpacks them. */
export const contentCodings: AbuseFamily = {
  name: 'content codings',
  cases: [
    ...CODINGS.flatMap(([coding, body], index) =>
      Object.entries({ chat, render }).map(([name, make]): AbuseCase => ({
        id: `body-coding-${name}-${String(index)}-${slug(coding.slice(0, 20))}`,
        tries: `make the site unpack a ${name} in ${coding.slice(0, 20)}`,
        fact: 'CVE-2026-22036',
        steps: [step(make([`Content-Encoding: ${coding}`], body))],
        safe: refused(400, 413, 415),
        // A parser may have unpacked a small one: then it is JSON like any other.
        on: {
          parsing: {
            statuses: [200, 400, 413, 415],
            platform: 'may',
            notUpstream: ['content-encoding', ...(name === 'chat' ? ['ListTasks'] : [])],
          },
        },
      })),
    ),
    {
      id: 'body-coding-record-bomb',
      tries: 'make the site unpack a record',
      fact: 'CVE-2026-22036',
      steps: [
        step({ ...record(['Content-Encoding: gzip', 'Content-Type: application/json']), method: 'POST', body: BOMB }),
      ],
      safe: { statuses: [200], platform: 'must', upstream: ['content-encoding: gzip'] },
    },
  ],
};

const LARGE = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"x":"${'x'.repeat(2_200_000)}"}}`;
const TOO_LARGE: SafeOutcome = refused(0, 400, 413);

/** Bodies longer than the site takes, or that never end. */
export const bodySizes: AbuseFamily = {
  name: 'body sizes',
  cases: [
    ...Object.entries({ chat, render, action }).flatMap(([name, make]): AbuseCase[] => [
      {
        id: `body-large-${name}`,
        tries: `send a ${name} of more than 2 MiB`,
        fact: 'docs/security.md',
        steps: [step(make([], LARGE))],
        safe: TOO_LARGE,
      },
      {
        id: `body-large-chunked-${name}`,
        tries: `send a ${name} of more than 2 MiB without saying so`,
        fact: 'CVE-2026-44456',
        steps: [step({ ...make([], LARGE), framing: 'chunked' })],
        safe: TOO_LARGE,
      },
      {
        id: `body-declared-${name}`,
        tries: `declare a ${name} of 8 EiB`,
        fact: 'docs/security.md',
        steps: [{ ...step({ ...make(['Content-Length: 9223372036854775807']), framing: 'none' }), halfCloses: true }],
        safe: TOO_LARGE,
      },
      {
        id: `body-short-${name}`,
        tries: `have half a ${name} forwarded`,
        fact: 'docs/security.md',
        steps: [{ ...step({ ...make(['Content-Length: 1000']), framing: 'none' }), halfCloses: true }],
        safe: TOO_LARGE,
      },
      {
        id: `body-short-chunked-${name}`,
        tries: `have a ${name} forwarded whose last chunk never comes`,
        fact: 'docs/security.md',
        steps: [
          {
            ...step({ ...make(['Transfer-Encoding: chunked'], '2\r\n{}\r\n'), framing: 'none' }),
            halfCloses: true,
          },
        ],
        safe: TOO_LARGE,
      },
    ]),
    {
      id: 'body-short-record',
      tries: 'have half a record stored',
      fact: 'docs/security.md',
      steps: [
        {
          ...step({
            ...record(['Content-Length: 1000', 'Content-Type: application/json']),
            method: 'PUT',
            body: '{"half":',
            framing: 'none',
          }),
          halfCloses: true,
        },
      ],
      // What streams may have begun; the platform sees that it never ended.
      safe: { statuses: [0, 400], platform: 'never' },
    },
  ],
};
