import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  forwardedFields,
  isStyleSheet,
  isWithheld,
  jsonMediaType,
  RECORD_REQUEST_FIELDS,
  upstreamRequestHeaders,
} from '../../../src/domain/shared/header-policy.js';
import { isEventStream, mediaType } from '../../../src/domain/shared/body.js';

const ALLOWED = [
  'content-type',
  'accept',
  'accept-language',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'last-event-id',
  'idempotency-key',
  'traceparent',
  'tracestate',
];

const REFUSED = [
  'authorization',
  'cookie',
  'x-api-key',
  'x-project-id',
  'host',
  'x-forwarded-for',
  'origin',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'connection',
  'proxy-authorization',
  'transfer-encoding',
  'sec-fetch-site',
  'content_type',
  'Content-Type',
  '__proto__',
  'constructor',
  ':authority',
];

describe('a header field of the browser', () => {
  it.each(ALLOWED)('is forwarded when it is "%s"', (name) => {
    expect(upstreamRequestHeaders({ [name]: 'value' }, {})).toEqual({ [name]: 'value' });
  });

  it.each(REFUSED)('is not forwarded when it is "%s"', (name) => {
    const browser = Object.fromEntries([[name, 'value']]);
    expect(Object.keys(upstreamRequestHeaders(browser, {}))).toEqual([]);
  });

  it('is not forwarded under any other name, whatever "Connection" lists', () => {
    const names = fc.oneof(
      fc.constantFrom(...ALLOWED, ...REFUSED),
      fc.string({ minLength: 1 }),
      fc.constantFrom(...ALLOWED).map((name) => `x-${name}`),
      fc.constantFrom(...ALLOWED).map((name) => name.toUpperCase()),
    );
    const values = fc.oneof(
      fc.string(),
      fc.array(fc.string()),
      fc.constantFrom(...ALLOWED, 'authorization', undefined),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values)), (entries) => {
        const browser = Object.fromEntries(entries);
        const sent = upstreamRequestHeaders(browser, { authorization: 'Bearer ours', 'x-api-key': 'ours' });
        for (const name of Object.keys(sent)) expect([...ALLOWED, 'authorization', 'x-api-key']).toContain(name);
        expect([sent['authorization'], sent['x-api-key']]).toEqual(['Bearer ours', 'ours']);
        for (const name of ALLOWED) if (sent[name] !== undefined) expect(sent[name]).toBe(browser[name]);
        expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
      }),
      { numRuns: 500 },
    );
  });

  it.each(['a\x1bb', 'a\r\nb: c', 'a\0', '\x7f', 'č', ['a', 'a\nb']])('is not forwarded with the value %j', (value) => {
    const browser = { accept: value, 'x-site': value, 'a2a-version': '1.0' };
    expect(upstreamRequestHeaders(browser, {})).toEqual({ 'a2a-version': '1.0' });
    expect(forwardedFields(browser, ['x-site'])).toEqual({});
  });

  it.each(['a\tb', 'caf\xe9', 'caf\xc3\xa9', '', ['a', 'b']])(
    'is forwarded byte for byte with the value %j',
    (value) => {
      expect(upstreamRequestHeaders({ accept: value }, {})).toEqual({ accept: value });
      expect(forwardedFields({ 'x-site': value }, ['x-site'])).toEqual({ 'x-site': value });
    },
  );

  it("is overridden by the credential's", () => {
    const browser = { accept: 'theirs', 'x-api-key': 'theirs', 'a2a-version': '1.0' };
    expect(upstreamRequestHeaders(browser, { accept: 'ours', 'x-api-key': 'ours' })).toEqual({
      accept: 'ours',
      'x-api-key': 'ours',
      'a2a-version': '1.0',
    });
  });

  it.each([['accept, idempotency-key'], [' Accept ,IDEMPOTENCY-KEY'], [['accept', 'close, Idempotency-Key']]])(
    'is not forwarded when "Connection" lists it: %j',
    (connection) => {
      const browser = { connection, accept: '*/*', 'idempotency-key': 'k', 'accept-language': 'de' };
      expect(upstreamRequestHeaders(browser, {})).toEqual({ 'accept-language': 'de' });
    },
  );

  it('cannot remove the credential through "Connection"', () => {
    const sent = upstreamRequestHeaders(
      { connection: 'authorization, x-api-key' },
      { authorization: 'Bearer ours', 'x-api-key': 'k' },
    );
    expect(sent).toEqual({ authorization: 'Bearer ours', 'x-api-key': 'k' });
  });

  it('keeps all its values', () => {
    expect(upstreamRequestHeaders({ 'a2a-extensions': ['a', 'b'] }, {})).toEqual({ 'a2a-extensions': ['a', 'b'] });
  });

  it("is left unmodified, as is the credential's", () => {
    const [browser, credential] = [Object.freeze({ accept: '*/*' }), Object.freeze({ authorization: 'Bearer ours' })];
    upstreamRequestHeaders(browser, credential);
    expect([browser, credential]).toEqual([{ accept: '*/*' }, { authorization: 'Bearer ours' }]);
  });
});

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

describe('a field that a site names', () => {
  it.each([
    ...'authorization authentication-info cookie cookie2 set-cookie set-cookie2 x-api-key x-project-id'.split(' '),
    ...'proxy-authorization www-authenticate x-ms-token-aad-id-token access-control-allow-origin __proto__'.split(' '),
    ...'host connection keep-alive te trailer transfer-encoding upgrade http2-settings expect'.split(' '),
    ...'accept accept-encoding content-type content-length range if-none-match a2a-version'.split(' '),
    ...'cache-control cdn-cache-control surrogate-key x-accel-redirect x-cache x-content-type-options'.split(' '),
  ])('is never forwarded when it is "%s"', (name) => {
    expect(isWithheld(name)).toBe(true);
  });

  it.each(['x-agent-trace', 'x-range', 'accept-ranges', 'x-cache-id'])('may be forwarded when it is "%s"', (name) => {
    expect(isWithheld(name)).toBe(false);
  });
});

describe('the media type of a message', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON; charset=utf-8', 'application/json'],
    ['  text/event-stream ;x=y', 'text/event-stream'],
    [['text/html', 'text/plain'], 'text/html'],
    ['; charset=utf-8', ''],
    [[], ''],
    ['', ''],
    [undefined, ''],
  ])('%j is "%s"', (field, type) => {
    expect(mediaType({ 'content-type': field })).toBe(type);
  });

  it('distinguishes event streams from all others', () => {
    expect(isEventStream({ 'content-type': 'Text/Event-Stream; charset=utf-8' })).toBe(true);
    expect(isEventStream({ 'content-type': 'application/json' })).toBe(false);
    expect(isEventStream({})).toBe(false);
  });
});

describe('the type of a JSON body', () => {
  const TYPES = ['application/a2a+json', 'application/json'];

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; charset=utf8',
    'application/json; profile="x;y"',
    'application/json; charset="utf8" ; x=y',
    'application/json;',
  ])('%s is application/json', (type) => {
    expect(jsonMediaType({ 'content-type': type }, TYPES)).toBe('application/json');
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonx',
    'application/json, text/plain',
    'application/json; charset=utf-7',
    'application/json; charset=utf-16le',
    'application/json; charset=UTF-16',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-8; charset=utf-8',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json; charset=utf-7; charset=utf-8',
    'application/json; charset="utf-7"',
    "application/json; charset='utf-8'",
    'application/json; charset =utf-7',
    "application/json; charset*=utf-7''x",
    'application/json; charset*0=utf-7',
    'application/json; CHARSET=UTF-7',
    'application/json; x="; charset=utf-7"',
    'application/json; charset=',
    'application/json; charset=utf-8x',
    'application/json; x-charset=utf-8',
    'application/json; charset=utf-8, application/json; charset=utf-7',
    '',
    undefined,
  ])('%s is rejected', (type) => {
    expect(jsonMediaType({ 'content-type': type }, TYPES)).toBeUndefined();
  });
});

describe('a style sheet', () => {
  it.each([
    'text/css',
    'Text/CSS;',
    'text/css;charset=utf-8',
    'text/css; charset=US-ASCII',
    'text/css; charset="UTF-8"',
    'text/css  ;  charset  =  "utf-8"  ;  ',
  ])('in UTF-8 can have the type %j', (type) => {
    expect(isStyleSheet({ 'content-type': type })).toBe(true);
  });

  it.each<[string | readonly string[] | undefined]>([
    [undefined],
    [''],
    ['text/html'],
    ['x-text/css'],
    ['text/cssx'],
    ['text/css; charset=iso-8859-1'],
    ['text/css; charset=utf-16'],
    ['text/css, text/html'],
    ['text/css; charset=utf-8, text/html'],
    ['text/css; x-charset=utf-8'],
    ['text/css; charset=utf-8; charset=us-ascii'],
    [['text/css', 'text/html']],
    [['text/css']],
  ])('cannot have the type %j', (type) => {
    expect(isStyleSheet({ 'content-type': type })).toBe(false);
  });
});
