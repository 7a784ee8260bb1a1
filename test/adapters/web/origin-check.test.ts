import { describe, expect, it } from 'vitest';
import { checkOrigin, type OriginPolicy } from '../../../src/adapters/web/origin-check.js';
import type { HeaderFields } from '../../../src/ports/http.js';

const OWN: OriginPolicy = { publicHost: '', allowedOrigins: new Set() };
const SHOP: OriginPolicy = { publicHost: '', allowedOrigins: new Set(['https://shop.example']) };
const PUBLIC: OriginPolicy = { publicHost: 'www.site.example', allowedOrigins: new Set() };

function passes(method: string, headers: HeaderFields, policy: OriginPolicy = OWN, session = false): boolean {
  try {
    checkOrigin({ method, headers: { host: 'site.example', ...headers } }, policy, session);
  } catch (error) {
    expect(error).toMatchObject({
      name: 'RequestError',
      code: 'origin_refused',
      detail: 'The request comes from a page of another site.',
      fields: ['allowedOrigins'],
    });
    return false;
  }
  return true;
}

describe('a request that changes something', () => {
  it.each<[string, HeaderFields]>([
    ["the site's own page", { 'sec-fetch-site': 'same-origin', origin: 'https://site.example' }],
    [
      "the site's own page behind a proxy that changes the host",
      { 'sec-fetch-site': 'same-origin', origin: 'https://other.example' },
    ],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['no browser', {}],
    ["an older browser on the site's own page", { origin: 'https://site.example' }],
    ['an older browser over http', { origin: 'http://site.example' }],
    ['an older browser that names the default port', { origin: 'https://site.example:443' }],
    ['an older browser that names the default port over http', { origin: 'http://site.example:80' }],
    ['an older browser that shouts', { origin: 'HTTPS://SITE.EXAMPLE' }],
    ['an older browser when the host is shouted', { origin: 'https://site.example', host: 'SITE.example' }],
    ['an older browser on another port of both', { origin: 'https://site.example:8443', host: 'site.example:8443' }],
  ])('from %s passes', (_who, headers) => {
    expect(passes('POST', headers)).toBe(true);
    expect(passes('POST', headers, OWN, true)).toBe(true);
  });

  it.each<[string, HeaderFields]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another site that claims ours', { 'sec-fetch-site': 'cross-site', origin: 'https://site.example' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site', origin: 'https://blog.site.example' }],
    ['another site without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['a value nobody knows', { 'sec-fetch-site': 'same-planet', origin: 'https://site.example' }],
    ['an empty value', { 'sec-fetch-site': '', origin: 'https://site.example' }],
    ['a shouted value', { 'sec-fetch-site': 'SAME-ORIGIN' }],
    ['two values', { 'sec-fetch-site': ['same-origin', 'cross-site'] }],
    ['two equal values', { 'sec-fetch-site': ['same-origin', 'same-origin'] }],
    ['a sandboxed frame', { origin: 'null' }],
    ['an empty origin', { origin: '' }],
    ['an older browser on another site', { origin: 'https://evil.example' }],
    ['a host that starts like ours', { origin: 'https://site.example.evil.example' }],
    ['a host that ends like ours', { origin: 'https://evilsite.example' }],
    ['a host below ours', { origin: 'https://a.site.example' }],
    ['another port', { origin: 'https://site.example:8443' }],
    ['the default port of the other scheme', { origin: 'https://site.example:80' }],
    ['our host as a user name', { origin: 'https://site.example@evil.example' }],
    ['our host as a path', { origin: 'https://evil.example/site.example' }],
    ['our host with a path', { origin: 'https://site.example/' }],
    ['several origins in one field', { origin: 'https://site.example, https://evil.example' }],
    ['several origins in one field without a blank', { origin: 'https://site.example,https://evil.example' }],
    ['several origins in a list', { origin: ['https://site.example', 'https://site.example'] }],
    ['a scheme that is none of ours', { origin: 'chrome-extension://site.example' }],
    ['no scheme', { origin: 'site.example' }],
    ['nowhere, when the host is missing too', { origin: 'null', host: undefined }],
    ['no host at all', { origin: 'https://', host: '' }],
    ['the port alone', { origin: 'https://:443', host: '' }],
  ])('from %s is refused', (_who, headers) => {
    expect(passes('POST', headers)).toBe(false);
    expect(passes('POST', headers, OWN, true)).toBe(false);
  });

  it.each(['PUT', 'PATCH', 'DELETE', 'POST', 'get', 'UNKNOWN'])('is one with the method %s', (method) => {
    expect(passes(method, { 'sec-fetch-site': 'cross-site' })).toBe(false);
  });
});

describe('an origin the site allows', () => {
  it.each<[string, HeaderFields]>([
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' }],
    ['from a sibling host', { 'sec-fetch-site': 'same-site', origin: 'https://shop.example' }],
    ['from an older browser', { origin: 'https://shop.example' }],
  ])('passes %s', (_who, headers) => {
    expect(passes('POST', headers, SHOP)).toBe(true);
  });

  it.each([
    'http://shop.example',
    'https://shop.example:8443',
    'https://a.shop.example',
    'https://shop.example.evil.example',
    'null',
  ])('is not %s', (origin) => {
    expect(passes('POST', { 'sec-fetch-site': 'cross-site', origin }, SHOP)).toBe(false);
    expect(passes('POST', { origin }, SHOP)).toBe(false);
  });
});

describe('behind a proxy that changes the host', () => {
  it('an older browser on the configured public address passes', () => {
    expect(passes('POST', { origin: 'https://www.site.example', host: '10.0.0.7:3000' }, PUBLIC)).toBe(true);
    expect(passes('POST', { origin: 'https://www.site.example', host: '10.0.0.7:3000' })).toBe(false);
  });

  it('the public address says nothing about a request the browser calls cross-site', () => {
    expect(passes('POST', { 'sec-fetch-site': 'cross-site', origin: 'https://www.site.example' }, PUBLIC)).toBe(false);
  });
});

describe('a request that only reads', () => {
  it.each(['GET', 'HEAD', 'OPTIONS'])('passes with a service credential, from anywhere: %s', (method) => {
    expect(passes(method, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).toBe(true);
  });

  it.each(['GET', 'HEAD', 'OPTIONS'])('of a signed-in user is refused when another site caused it: %s', (method) => {
    expect(passes(method, { 'sec-fetch-site': 'cross-site' }, OWN, true)).toBe(false);
    expect(passes(method, { 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' }, SHOP, true)).toBe(true);
  });

  it.each<[HeaderFields]>([
    [{}],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'null' }],
  ])('of a signed-in user passes with %j', (headers) => {
    expect(passes('GET', headers, OWN, true)).toBe(true);
  });
});
