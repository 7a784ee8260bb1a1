import { describe, expect, it } from 'vitest';
import {
  type CachedRender,
  isCacheable,
  readCachedRender,
  writeCachedRender,
} from '../../../src/domain/surfaces/cached-render.js';

const TEXT = '<p>\n\n</p>\n';

const RENDER: CachedRender = {
  renderedAt: 1_000,
  checkedAt: 2_000,
  generation: 'one two',
  etag: '"1"',
  headers: { 'content-type': 'text/html', link: ['<a>', '<b>'] },
  body: TEXT,
};

describe('a cached render', () => {
  it.each([
    RENDER,
    { ...RENDER, etag: '', headers: {}, body: '' },
    { ...RENDER, body: new TextEncoder().encode('é'.repeat(20_000)) },
  ])('is read as it was written (%#)', (render) => {
    expect(readCachedRender(writeCachedRender(render))).toEqual(render);
  });

  const broken: readonly (readonly [what: string, text: string | undefined])[] = [
    ['an absent entry', undefined],
    ['an empty string', ''],
    ['an entry without a second line', `${writeCachedRender({ ...RENDER, body: '' }).trimEnd()} `],
    ['a first line that is not JSON', '{"renderedAt":1\n<p>'],
    ['a first line that is null', 'null\n<p>'],
    ['a first line that is a number', '7\n<p>'],
    ...(['renderedAt', 'checkedAt', 'generation', 'etag', 'headers'] as const).flatMap((field) =>
      [undefined, null, true].map(
        (value) => [`${String(value)} as its ${field}`, writeCachedRender({ ...RENDER, [field]: value })] as const,
      ),
    ),
  ];

  it.each(broken)('is not read from %s', (_what, text) => {
    expect(readCachedRender(text)).toBeUndefined();
  });
});

describe('a response of the platform', () => {
  const HTML = { 'content-type': 'text/html' };

  it.each([
    ['is text', HTML],
    ['is JSON', { 'content-type': 'application/json; charset=utf-8' }],
    ['is XML', { 'content-type': 'application/xml' }],
    ['has a type with the suffix +json', { 'content-type': 'application/vnd.widget-2.x+json' }],
    ['has a type with the suffix +xml', { 'content-type': 'application/xhtml+xml' }],
    ['has the content coding "identity"', { ...HTML, 'content-encoding': 'identity' }],
    ['varies by fields that are part of the key', { ...HTML, vary: 'accept, accept-language' }],
    ['varies by a field with a star in its name', { ...HTML, vary: 'x-*' }],
    ['may be cached publicly', { ...HTML, 'cache-control': 'public, max-age=3600' }],
    ['has a directive that only resembles "no-store"', { ...HTML, 'cache-control': 'x-no-store, no-stores' }],
    ['is not close-delimited', HTML, false],
  ])('can be cached when it %s', (_what, headers: Record<string, string>, closeDelimited?: boolean) => {
    expect(isCacheable({ status: 200, headers, ...(closeDelimited !== undefined && { closeDelimited }) })).toBe(true);
  });

  it.each([
    ['is close-delimited, so may be incomplete', HTML, true],
    ['sets a cookie', { ...HTML, 'set-cookie': ['sid=1'] }],
    ['has "no-store"', { ...HTML, 'cache-control': 'no-store' }],
    ['has "no-store" first', { ...HTML, 'cache-control': 'no-store,private' }],
    ['has "no-store" last', { ...HTML, 'cache-control': 'private,NO-STORE' }],
    ['has "no-store" in a field line of its own', { ...HTML, 'cache-control': ['private', 'no-store', 'max-age=1'] }],
    ['has "no-store" followed by a space', { ...HTML, 'cache-control': 'private, no-store , max-age=1' }],
    ['varies by everything ("*")', { ...HTML, vary: '*' }],
    ['varies by everything among others', { ...HTML, vary: ['accept', '*'] }],
    ['varies by everything after a space', { ...HTML, vary: 'accept, *' }],
    ['is compressed', { ...HTML, 'content-encoding': 'br' }],
    ['has an empty content coding', { ...HTML, 'content-encoding': '' }],
    ['is an event stream', { 'content-type': 'text/event-stream' }],
    ['is binary', { 'content-type': 'application/octet-stream' }],
    ['has a type that begins like JSON', { 'content-type': 'application/json-seq' }],
    ['has a type that ends like JSON', { 'content-type': 'x-application/json' }],
    ['has a malformed type', { 'content-type': 'application/a b+json' }],
  ])('is not cached when it %s', (_what, headers: Record<string, string | string[]>, closeDelimited = false) => {
    expect(isCacheable({ status: 200, headers, closeDelimited })).toBe(false);
  });
});
