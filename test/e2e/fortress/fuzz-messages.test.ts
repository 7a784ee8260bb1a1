import express from 'express';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expressSite } from '../../site/frameworks/express.js';
import { honoSite } from '../../site/frameworks/hono.js';
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
import { tryCase } from './abuse-corpus/abuse-run.js';
import { type AbuseWorld, startAbuseWorld } from './abuse-corpus/abuse-world.js';

/** Picks one line of a text. */
const oneOf = (text: string): fc.Arbitrary<string> => fc.constantFrom(...text.trim().split(/\n\s*/));

const MOUNTS = '/api/a2a /api/service /api/service-surfaces/s-{n} /api http://{canary}/api/service //{canary}/api/a2a';
const PIECES = String.raw`/ .. %2e%2e %2f %5c \ ; render actions x config theme.css %00 %25 %`;
const target = fc
  .tuple(
    fc.constantFrom(...MOUNTS.split(' ')),
    fc.array(fc.constantFrom(...PIECES.split(' ')), { maxLength: 5 }),
    fc.constantFrom('', '?', '?a=1&a=2', '?#', '#x', '?x=%0d%0a', '?\\', '?//other.example/'),
  )
  .map(([mount, parts, query]) => mount + parts.join('') + query);

const field = fc.oneof(
  {
    weight: 5,
    arbitrary: oneOf(`
    Cookie: session=ada
    Cookie: session=bob; x=1
    Content-Type: application/json
    Content-Type: text/plain
    Origin: null
    Connection: close, authorization, x-api-key
    Authorization: Bearer evil
    X-Api-Key: evil
    X_Api_Key: evil
    Host: {canary}
    Transfer-Encoding: chunked
    Content-Length: 3
    Expect: 100-continue
    Upgrade: websocket
    Sec-Fetch-Site: same-origin
    Content-Encoding: gzip
    TE: trailers
    X-Forwarded-For: 1.2.3.4
    Range: bytes=0-1
    If-None-Match: *
    Accept: text/css`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('Accept', 'A2A-Version', 'X-Y', 'Cookie', 'Connection'), fc.string({ maxLength: 8 }))
      .map((parts) => parts.join(': ')),
  },
);

const SEND = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}';
const HIDDEN = '0\r\n\r\nGET /api/service/x HTTP/1.1\r\n\r\n';
/** A message of parts that need not match. */
const anything: fc.Arbitrary<WireRequest> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PATCH'),
    target,
    fields: fc.array(field, { maxLength: 6 }),
    body: fc.option(fc.oneof(fc.json(), fc.constantFrom(SEND, '{}', HIDDEN)), { nil: '' }),
    framing: fc.constantFrom('length', 'length', 'chunked', 'none'),
  })
  .map(({ body, ...rest }) => ({ ...rest, body: Buffer.from(body).toString('latin1') }) as WireRequest);

/** A valid message with further fields. */
const overloaded: fc.Arbitrary<WireRequest> = fc
  .tuple(fc.constantFrom(chat, render, action, theme, record), fc.array(field, { maxLength: 2 }))
  .map(([make, fields]) => make(fields));

const answerField = oneOf(`
  Content-Type: text/html
  Content-Type: application/json
  Content-Type: text/css
  Set-Cookie: a=1
  Location: http://{canary}/
  Location: //{canary}/x
  Access-Control-Allow-Origin: *
  ETag: "x"
  Vary: *
  X-Accel-Redirect: /
  Refresh: 0
  Connection: close, etag`);
const answer: fc.Arbitrary<PlatformAnswer | string> = fc.oneof(
  fc.record({
    status: fc.constantFrom(200, 200, 201, 204, 206, 301, 304, 307, 400, 401, 403, 404, 429, 500, 503),
    fields: fc.array(answerField, { maxLength: 5 }),
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

/** Any status is allowed. Only the rules for all cases are checked. */
const STATUSES = Array.from({ length: 600 }, (_, status) => status);

function thrownTogether(send: WireRequest, platform: PlatformAnswer | string | null): AbuseCase {
  // A truncated message would wait for its end.
  const mayLack = send.framing === 'none' || send.fields.some((one) => /^(?:content-length|transfer-enc)/i.test(one));
  return {
    id: 'fuzz',
    steps: [{ send: [send], answers: 1, halfCloses: mayLack }],
    ...(platform === null ? {} : { platform: [platform] }),
    safe: { statuses: STATUSES, platform: 'may', mostRequests: 20, notUpstream: ['evil', '{canary}'] },
  };
}

describe.each([nodeHttpSite('node:http'), expressSite('Express', express), honoSite('Hono')])('$name', (host) => {
  let world: AbuseWorld;
  beforeAll(async () => {
    world = await startAbuseWorld(host);
  });
  afterAll(() => world.close());

  it('withstands random messages and random responses of the platform', async () => {
    const property = fc.asyncProperty(fc.oneof(anything, overloaded), fc.option(answer), async (send, platform) => {
      expect(await tryCase(world, thrownTogether(send, platform))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 1_000 });
  }, 300_000);
});
