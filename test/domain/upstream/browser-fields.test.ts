import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { browserFields, MAX_FIELDS, MAX_TOTAL, MAX_VALUE } from '../../../src/domain/upstream/browser-fields.js';
import { browserResponseHeaders } from '../../../src/domain/shared/header-policy.js';
import type { HeaderFields } from '../../../src/ports/http.js';
import { anyText } from '../../support/odd-fields.js';

const PROTECTED = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const POLICY = "sandbox; default-src 'none'";

/** The fields as sent to the browser, and the names of those omitted. */
function written(fields: HeaderFields): { readonly fields: HeaderFields; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  const rules = {
    disposition: (text: string) => (text === '' ? undefined : { value: 'inline', isWhole: text === 'inline' }),
    leftOut: (gone: readonly string[]) => {
      expect(gone).not.toEqual([]);
      leftOut.push(...gone);
    },
  };
  return { fields: browserFields(fields, rules), leftOut };
}

describe('the fields of a response', () => {
  it('are the same object when all are printable ASCII', () => {
    const fields = { 'content-type': 'application/json', etag: '"1"', vary: '', ...PROTECTED };
    expect(written(fields)).toEqual({ fields, leftOut: [] });
    expect(browserFields(fields, { disposition: () => undefined, leftOut: () => undefined })).toBe(fields);
  });

  it.each([
    ['a tab', 'a\tb', 'a b'],
    ['whitespace around it', ' \ta b\t ', 'a b'],
    ['several values', ['a', 'b, c'], 'a, b, c'],
    ['no value in a list', [], ''],
    ['a number', 7 as unknown as string, '7'],
  ])('are sent with %s', (_what, value, expected) => {
    expect(written({ vary: value, ...PROTECTED })).toEqual({ fields: { vary: expected, ...PROTECTED }, leftOut: [] });
  });

  it.each([
    ['letters in UTF-8', 'caf\xc3\xa9'],
    ['letters in Latin-1', 'caf\xe9'],
    ['letters beyond Latin-1', '文件'],
    ['line breaks', 'a\r\nx-odd: 1'],
    ['a control character', 'a\x1bb'],
    ['a control character in UTF-8', 'a\xc2\x85b'],
    ['a NUL character', 'a\0'],
    ['a letter whose low byte is a line feed', 'a\u010ab'],
  ])('are omitted with %s and reported by name only', (_what, value) => {
    const leftOut = ['etag (characters other than printable ASCII)'];
    expect(written({ etag: value, vary: 'a', ...PROTECTED })).toEqual({ fields: { vary: 'a', ...PROTECTED }, leftOut });
  });

  it('contain the first value when HTTP allows only one', () => {
    const single = ['content-disposition', 'content-length', 'content-range', 'etag', 'last-modified', 'retry-after'];
    for (const name of single) {
      const [first, second] = name === 'content-disposition' ? ['inline', 'attachment'] : ['10', '20'];
      const fields = { [name]: first, ...PROTECTED };
      expect(written({ ...fields, [name]: [first, first] })).toEqual({ fields, leftOut: [] });
      expect(written({ ...fields, [name]: [first, second] })).toEqual({
        fields,
        leftOut: [`${name} (sent several times; the first is used)`],
      });
    }
  });

  it.each(['5, 5', '+5', '0x5', '55 ', '-1', '', '1e3', '9'.repeat(16)])(
    'contain no Content-Length of "%s"',
    (length) => {
      const { fields, leftOut } = written({ 'content-length': length, ...PROTECTED });
      expect(fields['content-length']).toBe(length === '55 ' ? '55' : undefined);
      expect(leftOut).toEqual(length === '55 ' ? [] : ['content-length (could not be read)']);
    },
  );

  it.each(['set-cookie', 'cookie', 'transfer-encoding', 'connection', 'proxy-connection', 'trailer'])(
    'never contain the name %j, even from a cache store',
    (name) => {
      const leftOut = [`${name} (a name that is not allowed)`];
      expect(written({ [name]: 'a', ...PROTECTED })).toEqual({ fields: PROTECTED, leftOut });
    },
  );

  it.each(['x odd', 'x-odd\r\n', 'X-Odd', '', 'é'])('never contain the invalid name %j or report it', (name) => {
    const leftOut = ['a field without a valid name (a name that is not allowed)'];
    expect(written({ [name]: 'a', ...PROTECTED })).toEqual({ fields: PROTECTED, leftOut });
  });

  it.each(['x-upgrade', 'trailer-id', 'te-id'])('may contain the name %j', (name) => {
    expect(written({ [name]: 'a', ...PROTECTED }).leftOut).toEqual([]);
  });

  it('never contain "__proto__"', () => {
    const fields = JSON.parse('{"__proto__":["a"],"vary":"a"}') as HeaderFields;
    expect(written(fields).fields).toEqual({ vary: 'a', ...PROTECTED });
  });

  it('contain the security policy of unknown content when the type is invalid', () => {
    const upstream = browserResponseHeaders({ 'content-type': 'application/json; x="é"', etag: '"1"' });
    expect(written(upstream).fields).toEqual({ etag: '"1"', ...PROTECTED, 'content-security-policy': POLICY });
  });

  it('end with the protective ones', () => {
    const upstream = browserResponseHeaders(
      { 'content-type': 'text/html', ...many(200), etag: '"é"' },
      Object.keys(many(200)),
    );
    const names = Object.keys(written(upstream).fields);
    expect(names).toHaveLength(MAX_FIELDS - 1);
    expect(names[0]).toBe('content-type');
    expect(names.slice(-3)).toEqual(['x-content-type-options', 'cache-control', 'content-security-policy']);
  });

  it('of an event stream include those against buffering', () => {
    const { fields } = written(browserResponseHeaders({ 'content-type': 'text/event-stream', etag: 'é' }));
    expect(fields).toEqual({
      'content-type': 'text/event-stream',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, no-store, no-transform',
      'x-accel-buffering': 'no',
    });
  });

  it('that a store lost are restored', () => {
    const fields = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'é', etag: undefined };
    expect(written(fields).fields).toEqual({ ...fields, ...PROTECTED, 'x-accel-buffering': 'no' });
    for (const lost of Object.keys(PROTECTED))
      expect(written({ ...PROTECTED, [lost]: undefined }).fields).toEqual(PROTECTED);
  });

  it.each([
    [MAX_VALUE, []],
    [MAX_VALUE + 1, ['vary (too long)']],
    [1_000_000, ['vary (too long)']],
  ])('with values of %i characters are sent up to the limit of a value', (length, leftOut) => {
    for (const other of ['a', ' a'])
      expect(written({ vary: 'a'.repeat(length), 'x-odd': other, ...PROTECTED }).leftOut).toEqual(leftOut);
  });

  it('are limited in number, even if all are plain', () => {
    const { leftOut } = written({ ...many(MAX_FIELDS), ...PROTECTED });
    expect(leftOut).toHaveLength(4);
    for (const one of leftOut) expect(one).toContain('(too many or too long together)');
  });

  it('are limited by the characters of all names and values', () => {
    const fields = Array.from({ length: 49 }, (_, at) => [`x-${String(at)}`.padEnd(100, 'x'), 'a'.repeat(156)]);
    const { leftOut } = written({ ...Object.fromEntries(fields), ...PROTECTED });
    expect(leftOut).toEqual([`${fields[48]?.[0]} (too many or too long together)`]);
  });

  it('have priority when they describe the body', () => {
    const { fields, leftOut } = written({
      etag: 'a'.repeat(8_000),
      vary: 'b'.repeat(8_000),
      'content-type': `text/plain; a=${'c'.repeat(4_000)}`,
      ...PROTECTED,
    });
    expect(Object.keys(fields)).toEqual(['content-type', 'etag', 'x-content-type-options', 'cache-control']);
    expect(leftOut).toEqual(['vary (too many or too long together)']);
  });

  it('reduce Content-Disposition to its type and report an omitted file name', () => {
    const leftOut = ['content-disposition (could not be read)'];
    expect(written({ 'content-disposition': 'inline', ...PROTECTED }).leftOut).toEqual([]);
    expect(written({ 'content-disposition': 'a', ...PROTECTED })).toEqual({
      fields: { 'content-disposition': 'inline', ...PROTECTED },
      leftOut,
    });
    expect(written({ 'content-disposition': ' ', ...PROTECTED })).toEqual({ fields: PROTECTED, leftOut });
  });

  it.each([
    ['caf\xc3\xa9', 'café'],
    ['caf\xe9', 'café'],
    ['\xc3\xa9', 'é'],
    ['\u0141\xc3\xa9', '\u0141\xc3\xa9'],
  ])('have Content-Disposition read as UTF-8 if its bytes are: %j', (value, expected) => {
    const read: string[] = [];
    const disposition = (text: string): undefined => void read.push(text);
    browserFields({ 'content-disposition': value }, { disposition, leftOut: () => undefined });
    expect(read).toEqual([expected]);
  });

  it(
    'are ASCII, within the limits and contain all protective ones, whatever the upstream sends',
    { timeout: 60_000 },
    () => {
      const value = fc.oneof(
        fc.string(),
        anyText(20),
        fc.array(anyText(20), { maxLength: 5 }),
        fc.integer({ min: 1, max: 20_000 }).map((length) => 'a'.repeat(length)),
      );
      const name = fc.oneof(fc.constantFrom('etag', 'vary', 'content-type', 'cache-control', 'X-Cache'), fc.string());
      fc.assert(
        fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (pairs) => {
          const { fields } = written(Object.fromEntries(pairs));
          const all = Object.entries(fields) as [string, string][];
          expect(all.every(([one]) => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(one))).toBe(true);
          expect(all.every(([, text]) => /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text))).toBe(true);
          expect(all.length).toBeLessThanOrEqual(MAX_FIELDS);
          // Protective fields are not counted.
          expect(all.reduce((sum, [one, text]) => sum + one.length + text.length, 0)).toBeLessThan(
            MAX_TOTAL + MAX_VALUE + 200,
          );
          expect(fields['x-content-type-options']).toBe('nosniff');
          expect(fields['cache-control']).toBeTypeOf('string');
        }),
        { numRuns: 300 },
      );
    },
  );
});

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${String(at)}`, 'a']));
}
