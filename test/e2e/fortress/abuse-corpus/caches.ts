import { gzipSync } from 'node:zlib';
import {
  type AbuseCase,
  type AbuseFamily,
  ADA,
  BOB,
  type PlatformAnswer,
  render,
  step,
  type WireRequest,
} from './abuse-case.js';

const KEY = 'CVE-2025-57752';
const FLIP = 'CVE-2026-44572';
const VARY = 'CVE-2026-44457';
const JOIN = 'GHSA-v574-6498-x57v';
const STORED = 'docs/security.md';

const rendering = (text: string, ...fields: readonly string[]): PlatformAnswer => ({
  fields: ['Content-Type: application/json', ...fields],
  body: `{"render":"${text}"}`,
});

const FIRST = rendering('first');
const SECOND = rendering('second');

/** Two requests that are two renders, however alike they look: the second gets its own. */
function apart(
  id: string,
  tries: string,
  fact: string,
  [one, other]: readonly [WireRequest, WireRequest],
  first = FIRST,
): AbuseCase {
  return {
    id: `cache-${id}`,
    tries,
    fact,
    steps: [step(one), step(other)],
    platform: [first, SECOND],
    safe: { statuses: [200], platform: 'must', mostRequests: 3, answers: [['first'], ['second']] },
  };
}

/** The same, but where a parser reads first, which makes one of the two or refuses one. */
function apartUnlessParsed(...pair: Parameters<typeof apart>): AbuseCase {
  return { ...apart(...pair), on: { parsing: { statuses: [200, 400, 415], platform: 'may', answers: [] } } };
}

const at = (target: string, fields: readonly string[] = [], body = '{}'): WireRequest => ({
  ...render(fields, body),
  target,
});
const ID = '/api/service-surfaces/s-{n}/render';

/** Renders that reach somebody they are not for. */
export const caches: AbuseFamily = {
  name: 'caches',
  cases: [
    apart('two-users', "get another user's render", KEY, [render([ADA]), render([BOB])]),
    apart('user-then-nobody', "get a user's render without a session", KEY, [render([ADA]), render()]),
    apart('nobody-then-user', 'show a user what was rendered for nobody', KEY, [render(), render([ADA])]),
    apart('language', "give other visitors one's own language", VARY, [
      render(['Accept-Language: de']),
      render(['Accept-Language: en']),
    ]),
    apart('accept', "give other visitors one's own type", VARY, [
      render(['Accept: text/html']),
      render(['Accept: application/json']),
    ]),
    apart('version', "give other visitors one's own version", VARY, [
      render(['A2A-Version: 0.3']),
      render(['A2A-Version: 1.0']),
    ]),
    apart('query', 'have a query ignored', KEY, [at(`${ID}?a=1`), at(`${ID}?a=2`)]),
    apart('query-order', 'have the order of a query ignored', KEY, [at(`${ID}?a=1&b=2`), at(`${ID}?b=2&a=1`)]),
    apart('query-none', 'have an empty query taken for none', KEY, [at(ID), at(`${ID}?x`)]),
    apart('body', 'have a body ignored', KEY, [render([], '{"page":1}'), render([], '{"page":2}')]),
    apart('body-type', 'have 1 and "1" taken for one', JOIN, [render([], '{"page":1}'), render([], '{"page":"1"}')]),
    apartUnlessParsed('body-none', 'have an empty body taken for none', JOIN, [render([], '{}'), render([], 'null')]),
    apart('id-name', 'have an id taken for a name', JOIN, [at(ID), at('/api/service-surfaces/by-name/s-{n}/render')]),
    apart('join', 'shift a piece of the id into the query', JOIN, [
      at('/api/service-surfaces/s-{n}%3Fa/render'),
      at('/api/service-surfaces/s-{n}/render?a'),
    ]),
    apart('join-user', 'shift a piece of the user into the id', JOIN, [
      at('/api/service-surfaces/a-{n}/render', ['Cookie: session=adab']),
      at('/api/service-surfaces/ba-{n}/render', ['Cookie: session=ada']),
    ]),
    apart('case', 'have capitals taken for small letters', KEY, [at('/api/service-surfaces/S-{n}/render'), at(ID)]),
    apartUnlessParsed('repeated', 'have one of two values of a name chosen', JOIN, [
      render([], '{"a":1,"a":2}'),
      render([], '{"a":2}'),
    ]),
    apart(
      'set-cookie',
      "be given another visitor's cookie",
      KEY,
      [render(), render()],
      rendering('first', 'Set-Cookie: session=mallory'),
    ),
    apart(
      'no-store',
      'keep what must not be kept',
      STORED,
      [render(), render()],
      rendering('first', 'Cache-Control: no-store'),
    ),
    apart('vary-all', 'keep what varies by everything', VARY, [render(), render()], rendering('first', 'Vary: *')),
    apart(
      'vary-list',
      'keep what varies by everything and more',
      VARY,
      [render(), render()],
      rendering('first', 'Vary: Accept, *'),
    ),
    apart('type', 'keep what is no text', STORED, [render(), render()], {
      fields: ['Content-Type: image/png'],
      body: 'first',
    }),
    {
      ...apart('coding', 'keep what is compressed', STORED, [render(), render()], {
        fields: ['Content-Type: application/json', 'Content-Encoding: gzip'],
        body: gzipSync('{"render":"first"}').toString('latin1'),
      }),
      // Some hosts send no coding, so the first answer reads differently.
      safe: { statuses: [200], platform: 'must', mostRequests: 3, answers: [[], ['second']] },
    },
    ...[400, 403, 404, 410, 500, 503].map((status): AbuseCase => ({
      id: `cache-status-${String(status)}`,
      tries: `have an error of ${String(status)} kept for everybody`,
      fact: STORED,
      steps: [step(render()), step(render())],
      platform: [{ ...FIRST, status }, SECOND],
      safe: { statuses: [200, status], platform: 'must', mostRequests: 3, answers: [[String(status)], ['second']] },
    })),
    ...[
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: http',
      'X-Original-Url: /admin',
      'Forwarded: host=evil.example',
      'X-Host: evil.example',
      'Origin: https://site.example',
      'User-Agent: evil',
      'Referer: http://evil.example/',
      'RSC: 1',
      'x-middleware-prefetch: 1',
      'Authorization: Bearer evil',
      'Cache-Control: no-cache',
      'Pragma: no-cache',
      'If-None-Match: "evil"',
      'Range: bytes=0-1',
    ].map((field, index): AbuseCase => ({
      id: `cache-poison-${String(index)}`,
      tries: `put a render of its own into the cache by ${field}`,
      fact: FLIP,
      // What does not reach the platform cannot change its answer: both are one render, made from a request without the field.
      steps: [step(render([field])), step(render())],
      platform: [FIRST, SECOND],
      safe: {
        statuses: [200],
        platform: 'must',
        mostRequests: 1,
        notUpstream: ['evil'],
        answers: [['first'], ['first']],
      },
    })),
  ],
};
