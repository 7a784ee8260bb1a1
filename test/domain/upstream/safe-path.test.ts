import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSegment, isSafePath, isSafeQuery } from '../../../src/domain/upstream/safe-path.js';
import { PATH_CORPUS } from '../../support/path-corpus.js';

/** Decodes as often as possible, like a careless server. */
function carelessly(text: string): string {
  let reading = text;
  for (let round = 0; round < 10; round += 1) {
    try {
      reading = decodeURIComponent(reading).normalize('NFKC');
    } catch {
      return reading;
    }
  }
  return reading;
}

const pieces = fc.constantFrom(
  ...'. .. / \\ % 2e 2f 5c 25 00 %2e %252e %2f %5c %25 %c0%af %ff'.split(' '),
  ...'; : @ ? # a b %EF%BC%8F %E2%80%A4 %C3%BC \u00fc ~ %00 %0a %20'.split(' '),
);
const paths = fc.array(pieces, { maxLength: 8 }).map((parts) => `/${parts.join('')}`);

describe("a path appended to the platform's address", () => {
  it.each(PATH_CORPUS)('with $what ($path) is handled as in the corpus', ({ path, record }) => {
    expect(isSafePath(path) ? path : null).toBe(record);
  });

  it('may be encoded at most four times', () => {
    expect(decodeSegment('%25252562')).toBe('%252562');
    expect(isSafePath('/%25252562')).toBe(true);
    expect(decodeSegment('%2525252562')).toBeUndefined();
    expect(isSafePath('/%2525252562')).toBe(false);
  });

  it.each(['c0%25af', 'c1%259c', 'e0%2580%25af', 'f0%2580%2580%25af', 'fc%2580%2580%2580%2580%25af', 'u002f', 'U2215'])(
    'is rejected when decoding reveals a slash in an invalid form that some parsers accept: %s',
    (form) => {
      expect(decodeSegment(`a%25${form}b`)).toBeUndefined();
      expect(isSafePath(`/a%25${form}b`)).toBe(false);
    },
  );

  it('has at most 256 characters in a segment, decoded', () => {
    for (const last of ['b', '%62']) {
      expect(decodeSegment('a'.repeat(255) + last)).toHaveLength(256);
      expect(decodeSegment('a'.repeat(256) + last)).toBeUndefined();
    }
  });

  it.each(['/a%3Fb', '/a%253Fb', '/a%23b', '/a%25%32%33b'])(
    'is rejected when decoding reveals a query or fragment: %s',
    (path) => {
      expect(isSafePath(path)).toBe(false);
    },
  );

  it('cannot leave that address however often it is decoded', () => {
    fc.assert(
      fc.property(paths, (path) => {
        if (!isSafePath(path)) return;
        for (const reading of [path, decodeURIComponent(path), carelessly(path)]) {
          const { origin, pathname, search, hash } = new URL(`https://platform.example/base${reading}`);
          expect([origin, search, hash]).toEqual(['https://platform.example', '', '']);
          expect(pathname.startsWith('/base/')).toBe(true);
          expect(reading.split('/')).toHaveLength(path.split('/').length);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it('is accepted with encoded words', () => {
    const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(words, (word) => {
        // Percent signs, separators, whitespace at an end and compatibility forms are covered by the corpus.
        // oxlint-disable-next-line no-control-regex
        fc.pre(!/[%/\\?#;\u0000-\u001f\u007f-\u009f]|^\s|\s$|^\.+$/.test(word) && word.normalize('NFKC') === word);
        expect(decodeSegment(encodeURIComponent(word))).toBe(word);
        expect(isSafePath(`/a/${encodeURIComponent(word)}`)).toBe(true);
      }),
    );
  });
});

describe('a query', () => {
  it.each(['', '?', '?a=1&a=2', '?q=%2e%2e/%00', '?q={}|^`\\"<>', '?a?b', '?//evil.example'])(
    '%j is forwarded unchanged',
    (query) => {
      expect(isSafeQuery(query)).toBe(true);
    },
  );

  it.each(['a=1', 'a?b', '?a#b', '?a b', '?a\r\nHost: x', '?\u0000', '?\u00fc', '#a'])('%j is rejected', (query) => {
    expect(isSafeQuery(query)).toBe(false);
  });
});
