import { describe, expect, it } from 'vitest';
import {
  type CachedRender,
  isCacheable,
  readCachedRender,
  writeCachedRender,
} from '../../../src/domain/surfaces/render-cache.js';

const RENDER: CachedRender = {
  renderedAt: 1_000,
  checkedAt: 2_000,
  versionTag: 'one two',
  etag: '"1"',
  headers: { 'content-type': 'text/html', link: ['<a>', '<b>'] },
  body: '<p>\n\n</p>\n',
};

describe('a cached render', () => {
  it.each([RENDER, { ...RENDER, etag: '', headers: {}, body: '' }])('is read as it was written (%#)', (render) => {
    expect(readCachedRender(writeCachedRender(render))).toEqual(render);
  });

  const broken: readonly (readonly [what: string, text: string | undefined])[] = [
    ['nothing', undefined],
    ['an empty text', ''],
    ['a text without a second line', `${writeCachedRender({ ...RENDER, body: '' }).trimEnd()} `],
    ['a first line that is no JSON', `{"renderedAt":1\n${RENDER.body}`],
    ['a first line that is null', `null\n${RENDER.body}`],
    ['a first line that is a number', `7\n${RENDER.body}`],
    ...(['renderedAt', 'checkedAt', 'versionTag', 'etag', 'headers'] as const).flatMap((field) =>
      [undefined, null, true].map(
        (value) => [`${String(value)} as its ${field}`, writeCachedRender({ ...RENDER, [field]: value })] as const,
      ),
    ),
  ];

  it.each(broken)('is not found in %s', (_what, text) => {
    expect(readCachedRender(text)).toBeUndefined();
  });
});

describe('a response of the platform', () => {
  const HTML = { 'content-type': 'text/html' };

  it.each([
    ['is text', HTML],
    ['is JSON', { 'content-type': 'application/json; charset=utf-8' }],
    ['is XML', { 'content-type': 'application/xml' }],
    ['is of a type made of JSON', { 'content-type': 'application/vnd.widget-2.x+json' }],
    ['is of a type made of XML', { 'content-type': 'application/xhtml+xml' }],
    ['is as it was made', { ...HTML, 'content-encoding': 'identity' }],
    ['varies by what is in the key', { ...HTML, vary: 'accept, accept-language' }],
    ['varies by a field with a star in its name', { ...HTML, vary: 'x-*' }],
    ['may be cached by others', { ...HTML, 'cache-control': 'public, max-age=3600' }],
    ['has a directive that only resembles "no-store"', { ...HTML, 'cache-control': 'x-no-store, no-stores' }],
    ['may end anywhere', HTML, false],
  ])('can be cached when it %s', (_what, headers: Record<string, string>, closeDelimited?: boolean) => {
    expect(isCacheable({ status: 200, headers, ...(closeDelimited !== undefined && { closeDelimited }) })).toBe(true);
  });

  it.each([
    ['has no end that proves it whole', HTML, true],
    ['sets a cookie', { ...HTML, 'set-cookie': ['sid=1'] }],
    ['says "no-store"', { ...HTML, 'cache-control': 'no-store' }],
    ['says "no-store" first', { ...HTML, 'cache-control': 'no-store,private' }],
    ['says "no-store" last', { ...HTML, 'cache-control': 'private,NO-STORE' }],
    ['says "no-store" in a field of its own', { ...HTML, 'cache-control': ['private', 'no-store', 'max-age=1'] }],
    ['says "no-store" with a blank', { ...HTML, 'cache-control': 'private, no-store , max-age=1' }],
    ['varies by everything', { ...HTML, vary: '*' }],
    ['varies by everything, too', { ...HTML, vary: ['accept', '*'] }],
    ['is compressed', { ...HTML, 'content-encoding': 'br' }],
    ['has a coding without a name', { ...HTML, 'content-encoding': '' }],
    ['is a stream of events', { 'content-type': 'text/event-stream' }],
    ['is bytes', { 'content-type': 'application/octet-stream' }],
    ['is of a type whose name begins like JSON', { 'content-type': 'application/json-seq' }],
    ['is of a type whose name ends like JSON', { 'content-type': 'x-application/json' }],
    ['is of a type with an odd name', { 'content-type': 'application/a b+json' }],
  ])('is not cached when it %s', (_what, headers: Record<string, string | string[]>, closeDelimited = false) => {
    expect(isCacheable({ status: 200, headers, closeDelimited })).toBe(false);
  });
});
