import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyBytes } from '../../../src/domain/upstream/body-bytes.js';
import type { HeaderFields, HttpResponse } from '../../../src/ports/http.js';
import { ADA, COUNTER, request, SurfaceWorld, type Visit } from './surface-world.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const body: fc.Arbitrary<HttpResponse['body']> = fc.oneof(
  fc.json(),
  fc.json().map(utf8),
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(
    '',
    null,
    '\uFEFF{}',
    utf8('\uFEFF{}'),
    '{"surface":{"id":"counter","name":"Counter"}}',
    'x'.repeat(300),
  ),
);
const fields: fc.Arbitrary<HeaderFields> = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'text/html; charset=utf-8',
      'text/css',
      'image/png',
      'text/html, a/b',
    ),
    etag: fc.constantFrom('"1"', 'W/"2"'),
    vary: fc.constantFrom('accept-language', '*'),
    'cache-control': fc.constantFrom('no-store', 'max-age=60', 'private'),
    'content-language': fc.constantFrom('de', 'en'),
    'content-disposition': fc.constantFrom('inline', 'attachment; filename="a.txt"'),
    'content-encoding': fc.constantFrom('gzip', 'identity'),
    'set-cookie': fc.constant('a=b'),
    'retry-after': fc.constant('3'),
    'x-surface-version': fc.constantFrom('1', '2'),
    'x-other': fc.constant('internal'),
  },
  { requiredKeys: ['content-type'] },
);
const visit: fc.Arbitrary<Visit> = fc.record(
  {
    body: fc.constantFrom('{"a":1,"b":[]}', '{"b":[],"a":1}', '{"a":1,"a":2}', '"x"', `["${'x'.repeat(3_000)}"]`),
    headers: fc.constantFrom({ 'accept-language': 'de' }, { accept: 'text/html' }, {}),
    query: fc.constantFrom('', '?a=1'),
  },
  { requiredKeys: [] },
);

/** The part of a response that a browser sees. */
async function seen(response: HttpResponse): Promise<unknown> {
  const { 'x-cache': _cache, 'content-length': _length, ...headers } = response.headers;
  return { status: response.status, headers, body: await bodyBytes(response.body, 10_000) };
}

describe('a render', () => {
  it('looks the same to a browser with and without a cache', async () => {
    const platform = fc.record({ status: fc.constantFrom(200, 200, 200, 201, 404, 422), headers: fields, body });
    await fc.assert(
      fc.asyncProperty(platform, visit, fc.constantFrom(10, 10_000), async (rendered, asked, maxEntryBytes) => {
        const world = new SurfaceWorld({ maxEntryBytes });
        world.platform.rendered = () => rendered;
        const ask = async (cache?: typeof world.cache): Promise<unknown> => {
          try {
            return await seen(await world.service.render(COUNTER, request(asked), ADA, cache));
          } catch (error) {
            return { error: (error as { code: unknown }).code };
          }
        };
        const off = await ask();
        expect([await ask(world.cache), await ask(world.cache)]).toEqual([off, off]);
        world.clock.advance(3_000);
        expect(await ask(world.cache)).toEqual(off);
      }),
      { numRuns: 300 },
    );
  });
});
