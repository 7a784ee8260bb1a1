import { describe, expect, it } from 'vitest';
import {
  browserResponseHeaders,
  RECORD_REQUEST_FIELDS,
  RECORD_RESPONSE_FIELDS,
  RENDER_RESPONSE_FIELDS,
  upstreamRequestHeaders,
} from '../../../src/domain/upstream/header-policy.js';

const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'];

describe('additional fields to the platform', () => {
  it.each(['content-encoding', 'content-length', ...CONDITIONS])(
    'are forwarded with conversation records: "%s"',
    (name) => {
      expect(upstreamRequestHeaders({ [name]: 'v' }, {}, RECORD_REQUEST_FIELDS)).toEqual({ [name]: 'v' });
      expect(upstreamRequestHeaders({ [name]: 'v' }, {})).toEqual({});
    },
  );

  it('are not forwarded when "Connection" names them', () => {
    const browser = { connection: 'Range', range: 'bytes=0-1', 'if-range': '"1"' };
    expect(upstreamRequestHeaders(browser, {}, RECORD_REQUEST_FIELDS)).toEqual({ 'if-range': '"1"' });
  });
});

describe('additional fields to the browser', () => {
  it.each<[string, readonly string[], string]>([
    ['conversation records', RECORD_RESPONSE_FIELDS, 'accept-ranges'],
    ['conversation records', RECORD_RESPONSE_FIELDS, 'allow'],
    ['conversation records', RECORD_RESPONSE_FIELDS, 'content-range'],
    ['a render', RENDER_RESPONSE_FIELDS, 'x-surface-version'],
  ])('are forwarded with %s', (_what, further, name) => {
    const platform = { 'content-type': 'text/plain', [name]: 'v', 'set-cookie': 'a=b' };
    const always = { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
    expect(browserResponseHeaders(platform, further)).toEqual({ ...always, [name]: 'v' });
    expect(browserResponseHeaders(platform)).toEqual(always);
  });
});
