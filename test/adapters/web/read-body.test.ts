import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyLimits, readJsonBody } from '../../../src/adapters/web/request-body.js';
import type { HttpRequest } from '../../../src/ports/http.js';
import { bodyBudget, browserRequest, bytes, streamed } from './browser-request.js';

const JSON_TYPE = { 'content-type': 'application/json' };

const limits = (bodyLimitBytes: number): BodyLimits => ({
  bodyLimitBytes,
  bodies: bodyBudget(),
  requestBodyMs: 0,
  requestIdleMs: 0,
});

function text(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

async function refusal(changes: Partial<HttpRequest>, limit = 1_000): Promise<unknown> {
  try {
    await readJsonBody(browserRequest(changes), limits(limit));
  } catch (error) {
    return error;
  }
  throw new Error('read');
}

describe('a JSON body', () => {
  it('that streams in is joined byte for byte, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 8 }), async (pieces) => {
        const all = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
        fc.pre(all.length > 0);
        const read = await readJsonBody(browserRequest({ body: streamed(pieces) }), limits(1_000));
        expect(Uint8Array.from(read.bytes)).toEqual(all);
      }),
    );
  });

  it('in one piece is not copied', async () => {
    const piece = bytes('{"a":1}');
    expect((await readJsonBody(browserRequest({ body: streamed([piece]) }), limits(1_000))).bytes).toBe(piece);
    expect((await readJsonBody(browserRequest({ body: piece }), limits(1_000))).bytes).toBe(piece);
  });

  it('reserialized by the host is sent as UTF-8', async () => {
    const read = await readJsonBody(browserRequest({ body: '{"name":"Zoë"}' }), limits(1_000));
    expect(read.bytes).toEqual(bytes('{"name":"Zoë"}'));
  });

  it.each(['application/json', 'Application/JSON; charset=utf-8'])(
    'declared as %s is read as application/json',
    async (type) => {
      const read = await readJsonBody(browserRequest({ headers: { 'content-type': type } }), limits(1_000));
      expect([read.type, text(read.bytes)]).toEqual(['application/json', expect.stringContaining('message/send')]);
    },
  );

  it('keeps the media type of its binding without parameters', async () => {
    const request = browserRequest({ headers: { 'content-type': 'application/a2a+json; charset=utf-8' } });
    expect(await readJsonBody(request, limits(1_000), ['application/json', 'application/a2a+json'])).toMatchObject({
      type: 'application/a2a+json',
    });
  });
});

describe('an unusable body', () => {
  it.each(['text/plain', 'application/json; charset=utf-7', undefined])('declared as %s is rejected', async (type) => {
    expect(await refusal({ headers: { 'content-type': type } })).toMatchObject({
      name: 'RequestError',
      code: 'content_type_unsupported',
      message: 'The request body is not declared as JSON in UTF-8. Send the header "Content-Type: application/json".',
    });
  });

  it.each(['gzip', 'br', 'identity, gzip', ''])('compressed as "%s" is rejected', async (coding) => {
    expect(await refusal({ headers: { ...JSON_TYPE, 'content-encoding': coding } })).toMatchObject({
      code: 'content_encoding_unsupported',
      message: expect.stringMatching(/compressed.*express\.json/) as unknown,
    });
  });

  it('does not include the identity coding', async () => {
    const request = browserRequest({ headers: { ...JSON_TYPE, 'content-encoding': 'identity' } });
    expect(text((await readJsonBody(request, limits(1_000))).bytes)).toContain('message/send');
  });

  it.each<[string, HttpRequest['body']]>([
    ['nothing', null],
    ['no bytes', new Uint8Array()],
    ['no text', ''],
    ['an empty stream', streamed([])],
  ])('that is empty is rejected: %s', async (_what, body) => {
    expect(await refusal({ body })).toMatchObject({
      code: 'body_invalid',
      message: 'The request body is empty. Send one JSON object.',
    });
  });

  it('that a middleware consumed, or that is announced as too long, is rejected unread', async () => {
    const unread = {
      [Symbol.asyncIterator]: (): never => {
        throw new Error('it was read');
      },
    };
    expect(await refusal({ body: unread, bodyConsumed: true })).toMatchObject({
      code: 'body_consumed',
      detail: 'A middleware of this server consumed the request body before the route.',
      hint: 'Mount the router before that middleware, or let it keep the result in "req.body" or "req.rawBody".',
    });
    expect(await refusal({ body: unread, headers: { ...JSON_TYPE, 'content-length': '1001' } }, 1_000)).toMatchObject({
      code: 'body_too_large',
    });
  });

  it('that a parser of the host cannot serialise again is rejected as nested too deeply', async () => {
    expect(await refusal({ body: streamed([], new RangeError()) })).toMatchObject({
      code: 'body_invalid',
      detail: 'The request body is nested too deeply.',
      rpcCode: -32600,
    });
  });

  it('that breaks off half-way is rejected', async () => {
    expect(await refusal({ body: streamed(['{"a"'], new Error('ECONNRESET 10.0.0.7')) })).toMatchObject({
      code: 'body_invalid',
      detail: 'The request body ended before it was complete.',
    });
  });
});

describe('a body at the limit is read and a longer one rejected', () => {
  const tooLarge = {
    code: 'body_too_large',
    detail: 'The request body is larger than 10 bytes.',
    hint: expect.stringContaining('raise "bodyLimitBytes"') as unknown,
    fields: ['bodyLimitBytes'],
  };

  it('in one piece, also one that arrives while the route begins', async () => {
    const headers = { ...JSON_TYPE, 'content-length': '10' };
    const late = (body: Uint8Array): HttpRequest => {
      const bodies = [streamed([]), body];
      return Object.defineProperty(browserRequest({ headers }), 'body', { get: () => bodies.shift() });
    };
    const requestOf = (body: Uint8Array): HttpRequest => browserRequest({ headers, body });
    for (const request of [requestOf, late]) {
      expect((await readJsonBody(request(bytes('1234567890')), limits(10))).bytes).toEqual(bytes('1234567890'));
      await expect(readJsonBody(request(bytes('12345678901')), limits(10))).rejects.toMatchObject(tooLarge);
    }
  });

  it('as a stream, without reading on', async () => {
    expect((await readJsonBody(browserRequest({ body: streamed(['12345', '67890']) }), limits(10))).bytes).toHaveLength(
      10,
    );
    let pulled = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        await Promise.resolve();
        pulled += 1;
        yield bytes('12345');
      }
    }
    expect(await refusal({ body: endless() }, 10)).toMatchObject(tooLarge);
    expect(pulled).toBe(3);
  });

  it('except text that the host has parsed under its own limit', async () => {
    expect((await readJsonBody(browserRequest({ body: '"123456789"' }), limits(10))).bytes).toHaveLength(11);
  });
});
