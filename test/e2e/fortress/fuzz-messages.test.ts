import express from 'express';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expressSite } from '../../site/frameworks/express.js';
import { nodeHttpSite } from '../../site/frameworks/node-http.js';
import {
  type AbuseCase,
  action,
  chat,
  type PlatformAnswer,
  record,
  render,
  theme,
  type WireRequest,
} from './abuse-corpus/abuse-case.js';
import { webSite } from './abuse-corpus/abuse-hosts.js';
import { tryCase } from './abuse-corpus/abuse-run.js';
import { type AbuseWorld, startAbuseWorld } from './abuse-corpus/abuse-world.js';
import { ANSWER_MUTANTS } from './abuse-mutants/answer-mutants.js';
import { startMutant } from './abuse-mutants/mutant.js';
import { REQUEST_MUTANTS } from './abuse-mutants/request-mutants.js';

const target = fc
  .tuple(
    fc.constantFrom(
      '/api/a2a',
      '/api/service',
      '/api/service-surfaces/s-{n}',
      '/api',
      'http://{canary}/api/service',
      '//{canary}/api/a2a',
    ),
    fc.array(
      fc.constantFrom(
        '/',
        '..',
        '%2e%2e',
        '%2f',
        '%5c',
        '\\',
        ';',
        'render',
        'actions',
        'x',
        'config',
        'theme.css',
        '%00',
        '%25',
        '%',
      ),
      { maxLength: 5 },
    ),
    fc.constantFrom('', '?', '?a=1&a=2', '?#', '#x', '?x=%0d%0a', '?\\', '?//other.example/'),
  )
  .map(([mount, parts, query]) => mount + parts.join('') + query);

const field = fc.oneof(
  fc.constantFrom(
    'Cookie: session=ada',
    'Cookie: session=bob; x=1',
    'Content-Type: application/json',
    'Content-Type: text/plain',
    'Origin: null',
  ),
  fc.constantFrom(
    'Connection: close, authorization, x-api-key',
    'Authorization: Bearer evil',
    'X-Api-Key: evil',
    'X_Api_Key: evil',
    'Host: {canary}',
  ),
  fc.constantFrom(
    'Transfer-Encoding: chunked',
    'Content-Length: 3',
    'Expect: 100-continue',
    'Upgrade: websocket',
    'Sec-Fetch-Site: same-origin',
  ),
  fc.constantFrom(
    'Content-Encoding: gzip',
    'TE: trailers',
    'X-Forwarded-For: 1.2.3.4',
    'Range: bytes=0-1',
    'If-None-Match: *',
    'Accept: text/css',
  ),
  fc
    .tuple(fc.constantFrom('Accept', 'A2A-Version', 'X-Y', 'Cookie', 'Connection'), fc.string({ maxLength: 8 }))
    .map((parts) => parts.join(': ')),
);

/** Nothing in it need fit together. */
const anything: fc.Arbitrary<WireRequest> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PATCH'),
    target,
    fields: fc.array(field, { maxLength: 6 }),
    body: fc.option(
      fc.oneof(
        fc.json(),
        fc.constantFrom(
          '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}',
          '{}',
          '0\r\n\r\nGET /api/service/x HTTP/1.1\r\n\r\n',
        ),
      ),
      { nil: '' },
    ),
    framing: fc.constantFrom('length', 'length', 'chunked', 'none'),
  })
  .map(({ body, ...rest }) => ({ ...rest, body: Buffer.from(body).toString('latin1') }) as WireRequest);

/** A good message, with more in it than belongs there. */
const overloaded: fc.Arbitrary<WireRequest> = fc
  .tuple(fc.constantFrom(chat, render, action, theme, record), fc.array(field, { maxLength: 2 }))
  .map(([make, fields]) => make(fields));

const request = fc.oneof(anything, overloaded);

const answer: fc.Arbitrary<PlatformAnswer | string> = fc.oneof(
  fc.record({
    status: fc.constantFrom(200, 200, 201, 204, 206, 301, 304, 307, 400, 401, 403, 404, 429, 500, 503),
    fields: fc.array(
      fc.constantFrom(
        'Content-Type: text/html',
        'Content-Type: application/json',
        'Content-Type: text/css',
        'Set-Cookie: a=1',
        'Location: http://{canary}/',
        'Location: //{canary}/x',
        'Access-Control-Allow-Origin: *',
        'ETag: "x"',
        'Vary: *',
        'X-Accel-Redirect: /',
        'Refresh: 0',
        'Connection: close, etag',
      ),
      { maxLength: 5 },
    ),
    body: fc.string({ unit: 'binary-ascii', maxLength: 30 }),
  }),
  fc.constantFrom(
    '',
    'x',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
  ),
);

/** Any answer will do: what holds for every case is what is looked at. */
const STATUSES = Array.from({ length: 600 }, (_, status) => status);

/** Nothing unsafe comes of a message and the platform's answer to it, on a site of its own. */
function safeOn(world: () => AbuseWorld) {
  return fc.asyncProperty(request, fc.option(answer), async (send, platform) => {
    expect(await tryCase(world(), thrownTogether(send, platform))).toEqual([]);
  });
}

function thrownTogether(send: WireRequest, platform: PlatformAnswer | string | null): AbuseCase {
  // What is cut short here would wait for the rest.
  const mayLack = send.framing === 'none' || send.fields.some((one) => /^(?:content-length|transfer-enc)/i.test(one));
  return {
    id: 'fuzz',
    tries: 'find what nobody thought of',
    fact: 'none',
    steps: [{ send: [send], answers: 1, halfCloses: mayLack }],
    ...(platform === null ? {} : { platform: [platform] }),
    safe: { statuses: STATUSES, platform: 'may', mostRequests: 20, notUpstream: ['evil', '{canary}'] },
  };
}

describe.each([nodeHttpSite('node:http'), expressSite('Express', express), webSite])('on $name,', (host) => {
  let world: AbuseWorld;
  beforeAll(async () => {
    world = await startAbuseWorld(host);
  });
  afterAll(() => world.close());

  it('nothing unsafe comes of messages and answers that are thrown together', async () => {
    await fc.assert(
      safeOn(() => world),
      { numRuns: 1_000 },
    );
  }, 300_000);
});

describe('messages and answers that are thrown together', () => {
  it.each([
    'carries cookies to the platform',
    'lets Connection take the credential away',
    'follows redirects',
    'passes everything on but hop-by-hop fields',
  ])(
    'find a forwarder that %s',
    async (name) => {
      const mutant = [...REQUEST_MUTANTS, ...ANSWER_MUTANTS].find((one) => one.name === name);
      if (mutant === undefined) throw new Error(`no forwarder "${name}"`);
      const world = await startMutant(mutant);
      const { failed } = await fc.check(
        safeOn(() => world),
        { numRuns: 2_000, endOnFailure: true },
      );
      await world.close();
      expect(failed).toBe(true);
    },
    120_000,
  );
});
