import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  browserResponseHeaders,
  isForA2AClients,
  RECORD_RESPONSE_FIELDS,
  RENDER_RESPONSE_FIELDS,
} from '../../../src/domain/shared/header-policy.js';
import { isJson } from '../../../src/domain/shared/body.js';

const ALLOWED = [
  'content-type',
  'content-language',
  'content-encoding',
  'content-length',
  'content-disposition',
  'etag',
  'last-modified',
  'retry-after',
  'vary',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
];
const OURS = ['x-content-type-options', 'cache-control', 'x-accel-buffering', 'content-security-policy'];

describe('a JSON type of the platform', () => {
  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/problem+json', 'model/gltf+json;x=y'])(
    'is %s',
    (type) => {
      expect(isJson({ 'content-type': type })).toBe(true);
    },
  );

  it.each([
    [undefined],
    [''],
    ['json'],
    ['text/json'],
    ['application/jsonp'],
    ['application/json-seq'],
    ['text/html; application/json'],
    // A browser uses the last one.
    ['application/json, text/html'],
    ['text/html, application/problem+json'],
    [['application/json', 'text/html']],
  ])('is not %j', (type) => {
    expect(isJson({ 'content-type': type })).toBe(false);
  });
});

describe('a header field of the platform', () => {
  it.each(ALLOWED)('is forwarded when it is "%s"', (name) => {
    expect(browserResponseHeaders({ [name]: 'value' })[name]).toBe('value');
  });

  it.each([
    'set-cookie',
    'www-authenticate',
    'location',
    'server',
    'access-control-allow-origin',
    'strict-transport-security',
    'refresh',
    'service-worker-allowed',
    'connection',
    'transfer-encoding',
    'date',
    '__proto__',
  ])('is not forwarded when it is "%s"', (name) => {
    const answer = browserResponseHeaders(
      Object.fromEntries([
        ['content-type', 'application/json'],
        [name, 'value'],
      ]),
    );
    expect(Object.keys(answer).sort()).toEqual(['cache-control', 'content-type', 'x-content-type-options']);
  });

  it('is absent without a value', () => {
    expect(Object.keys(browserResponseHeaders({ 'content-type': 'text/plain', etag: undefined }))).not.toContain(
      'etag',
    );
  });

  it('is not forwarded under any other name', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.oneof(fc.string(), fc.array(fc.string())))),
        (entries) => {
          const answer = browserResponseHeaders(Object.fromEntries(entries));
          for (const name of Object.keys(answer)) expect([...ALLOWED, ...OURS]).toContain(name);
        },
      ),
    );
  });

  it('is overridden by no-store and nosniff', () => {
    const platform = {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=99',
      'x-content-type-options': 'x',
    };
    expect(browserResponseHeaders(platform)).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
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

describe('a success of the agent', () => {
  it.each([
    [200, 'application/json', true],
    [200, 'text/event-stream; charset=utf-8', true],
    [200, 'application/problem+json', true],
    [200, 'application/json , text/html', true],
    [200, 'text/html, application/json', false],
    [200, '+json/html', false],
    [200, undefined, false],
    [202, undefined, true],
    [202, 'text/html', false],
    [204, undefined, true],
    [204, 'text/html', true],
  ])('(%i) of the type %s can be read by A2A clients: %s', (status, type, isReadable) => {
    expect(isForA2AClients({ status, headers: { 'content-type': type } })).toBe(isReadable);
  });
});

describe('an event stream', () => {
  it('is sent without Content-Length, transformation and buffering', () => {
    expect(
      browserResponseHeaders({ 'content-type': 'text/event-stream; charset=utf-8', 'content-length': '9' }),
    ).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
  });
});

describe("content that a browser could run on the site's origin", () => {
  it.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'application/xhtml+xml',
    'application/html',
    'image/svg+xml',
    'text/xml',
    'application/xml',
    'application/mathml+xml',
    'application/atom+xml',
    'text/javascript',
    'application/javascript',
    'application/x-javascript',
    'text/ecmascript',
    'application/ecmascript',
    'text/x-javascript',
    'text/xjavascript',
    'application/x-ecmascript',
    'text/javascript1.5',
    'text/jscript',
    'text/livescript',
    'application/xsl',
    'multipart/x-mixed-replace; boundary=x',
    '; charset=utf-8',
    '',
    undefined,
  ])('is sandboxed: %s', (type) => {
    expect(browserResponseHeaders({ 'content-type': type })['content-security-policy']).toBe(
      "sandbox; default-src 'none'",
    );
  });

  it.each<[string | readonly string[]]>([
    ['application/json, text/html'],
    ['application/json; charset=utf-8, text/html'],
    ['text/event-stream; charset=utf-8, text/html'],
    [['application/json', 'text/html']],
  ])('is sandboxed after another type: %j', (type) => {
    expect(browserResponseHeaders({ 'content-type': type })['content-security-policy']).toBe(
      "sandbox; default-src 'none'",
    );
  });

  it.each([
    'application/json',
    'text/plain',
    'image/png',
    'application/pdf',
    'text/event-stream',
    'text/htmlx',
    'x-text/html',
    'multipart/mixed',
    'application/vnd.example+xml-like',
  ])('is not %s', (type) => {
    expect(browserResponseHeaders({ 'content-type': type })['content-security-policy']).toBeUndefined();
  });
});
