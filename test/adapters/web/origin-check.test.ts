import { describe, expect, it } from 'vitest';
import { checkOrigin, type OriginPolicy } from '../../../src/adapters/web/admission.js';
import type { HeaderFields } from '../../../src/ports/http.js';

const OWN: OriginPolicy = { publicOrigin: '', allowedOrigins: new Set() };
const SHOP: OriginPolicy = { publicOrigin: '', allowedOrigins: new Set(['https://shop.example']) };
const PUBLIC: OriginPolicy = { publicOrigin: 'https://site.example', allowedOrigins: new Set() };
const PUBLIC_AND_WWW: OriginPolicy = { ...PUBLIC, allowedOrigins: new Set(['https://www.site.example']) };
const ON_A_PORT: OriginPolicy = { publicOrigin: 'http://[::1]:8443', allowedOrigins: new Set() };

const PUBLIC_URL = 'https://site.example/api/a2a';
const UPSTREAM_NAME = { host: '10.0.0.7:3000' };
const REBOUND = { host: 'evil.example' };

function passes(method: string, headers: HeaderFields, policy: OriginPolicy = OWN, session = false): boolean {
  const isMarked = policy.publicOrigin === '' && headers['sec-fetch-site'] !== undefined;
  try {
    checkOrigin({ method, headers: { host: 'site.example', ...headers }, publicUrl: PUBLIC_URL }, policy, session);
  } catch (error) {
    expect(error).toMatchObject({
      name: 'RequestError',
      code: 'origin_refused',
      detail: 'The request comes from a page of another site.',
      fields: isMarked ? ['allowedOrigins'] : ['publicUrl', 'allowedOrigins'],
    });
    return false;
  }
  return true;
}

const APPS = [
  'capacitor://localhost',
  'ionic://localhost',
  'tauri://localhost',
  'app://-',
  'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb',
  'moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc',
];

describe('an app or extension', () => {
  it.each(APPS)('with the origin %s passes if exactly this origin is listed', (origin) => {
    const listed = (...origins: readonly string[]) => ({ ...PUBLIC, allowedOrigins: new Set(origins) });
    for (const site of [{ 'sec-fetch-site': 'cross-site' }, {}]) {
      const headers = { ...site, origin };
      expect(passes('POST', headers, listed(origin))).toBe(true);
      expect(passes('POST', headers, listed(...APPS.filter((one) => one !== origin)))).toBe(false);
      for (const other of [`${origin}x`, `${origin}:80`, `x${origin}`, 'null'])
        expect(passes('POST', { ...site, origin: other }, listed(origin))).toBe(false);
    }
  });
});

describe('a request that changes something', () => {
  it.each<[string, HeaderFields]>([
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['no browser', {}],
    [
      'our page, when a proxy has renamed the host',
      { 'sec-fetch-site': 'same-origin', origin: 'https://site.example', ...UPSTREAM_NAME },
    ],
    ['an older browser on the last port', { origin: 'https://site.example:65535', host: 'site.example:65535' }],
    ['an older browser over http', { origin: 'http://site.example' }],
    ['an older browser that names the default port', { origin: 'https://site.example:443' }],
    ['an older browser that names the default port over http', { origin: 'http://site.example:80' }],
    ['an older browser in upper case', { origin: 'HTTPS://SITE.EXAMPLE' }],
    ['an older browser when the host is in upper case', { origin: 'https://site.example', host: 'SITE.example' }],
    ['an older browser on another port of both', { origin: 'https://site.example:8443', host: 'site.example:8443' }],
    [
      'an older browser when the host names the default port',
      { origin: 'https://site.example', host: 'site.example:443' },
    ],
    ['an older browser on an IPv6 address', { origin: 'http://[::1]:3000', host: '[0:0::1]:3000' }],
  ])('from %s passes', (_who, headers) => {
    expect(passes('POST', headers)).toBe(true);
    expect(passes('POST', headers, OWN, true)).toBe(true);
  });

  it.each<[string, HeaderFields]>([
    ['another site that claims ours', { 'sec-fetch-site': 'cross-site', origin: 'https://site.example' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site', origin: 'https://blog.site.example' }],
    ['another site without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['an unknown value', { 'sec-fetch-site': 'same-planet', origin: 'https://site.example' }],
    ['an empty value', { 'sec-fetch-site': '', origin: 'https://site.example' }],
    ['a value in upper case', { 'sec-fetch-site': 'SAME-ORIGIN' }],
    ['two values', { 'sec-fetch-site': ['same-origin', 'cross-site'] }],
    ['two equal values', { 'sec-fetch-site': ['same-origin', 'same-origin'] }],
    ['a sandboxed frame', { origin: 'null' }],
    ['an empty origin', { origin: '' }],
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
    ['two fields, one of them empty', { origin: ['https://site.example', ''] }],
    ['an unsupported scheme', { origin: 'chrome-extension://site.example' }],
    ['no scheme', { origin: 'site.example' }],
    ['our name behind another scheme', { origin: 'x-https://site.example' }],
    ['nowhere, when the host is missing too', { origin: 'null', host: undefined }],
    ['no host at all', { origin: 'https://', host: '' }],
    ['the port alone', { origin: 'https://:443', host: '' }],
    ['a port no host has', { origin: 'https://site.example:65536', host: 'site.example:65536' }],
    ['a port with a zero before it', { origin: 'https://site.example:0443' }],
    ['the absolute form of our name', { origin: 'https://site.example.' }],
    ['our name with an escape', { origin: 'https://site%2eexample' }],
    ['a number that is an address', { origin: 'http://2130706433', host: '127.0.0.1' }],
    ['half an address', { origin: 'http://127.1', host: '127.0.0.1' }],
    ['half an address, and so is the host', { origin: 'http://127.1', host: '127.1' }],
    ['our name, when two hosts are named', { origin: 'https://site.example', host: ['site.example', 'evil.example'] }],
    ['our name, when a host has a user', { origin: 'https://site.example', host: 'evil@site.example' }],
  ])('from %s is rejected', (_who, headers) => {
    expect(passes('POST', headers)).toBe(false);
    expect(passes('POST', headers, OWN, true)).toBe(false);
  });

  it.each(['PUT', 'PATCH', 'DELETE', 'POST', 'get', 'UNKNOWN'])('has the method %s', (method) => {
    expect(passes(method, { 'sec-fetch-site': 'cross-site' })).toBe(false);
  });
});

describe('an allowed origin', () => {
  it.each<[string, HeaderFields]>([
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' }],
    ['from a sibling host', { 'sec-fetch-site': 'same-site', origin: 'https://shop.example' }],
    ['from an older browser', { origin: 'https://shop.example' }],
    ['with its default port', { 'sec-fetch-site': 'cross-site', origin: 'https://SHOP.example:443' }],
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

describe('with a public address, a request that changes something', () => {
  it.each<[string, HeaderFields]>([
    ['an older browser in upper case with the default port', { origin: 'HTTPS://SITE.example:443' }],
    ['a proxy that names nothing', { host: undefined, origin: 'https://site.example' }],
    [
      'a browser that leaves the origin out, with the default port',
      { 'sec-fetch-site': 'same-origin', host: 'SITE.example:443' },
    ],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['no browser, by the name of the upstream', UPSTREAM_NAME],
  ])('from %s passes', (_who, headers) => {
    expect(passes('POST', headers, PUBLIC)).toBe(true);
    expect(passes('POST', headers, PUBLIC, true)).toBe(true);
  });

  it.each<[string, HeaderFields]>([
    ['a page whose name leads here, in the address bar', { ...REBOUND, 'sec-fetch-site': 'none' }],
    ['a foreign page, by our name', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }],
    ['our name over http', { origin: 'http://site.example' }],
    [
      'our name over http, which the browser calls same-origin',
      { 'sec-fetch-site': 'same-origin', origin: 'http://site.example' },
    ],
    ['www. beside our name', { 'sec-fetch-site': 'same-site', origin: 'https://www.site.example' }],
    ['another port', { 'sec-fetch-site': 'same-site', origin: 'https://site.example:8443' }],
    ['the default port of the other scheme', { origin: 'https://site.example:80' }],
    [
      'the absolute form of our name',
      { host: 'site.example.', 'sec-fetch-site': 'same-origin', origin: 'https://site.example.' },
    ],
    ['the absolute form of our name without an origin', { host: 'site.example.', 'sec-fetch-site': 'same-origin' }],
    ['an empty origin', { 'sec-fetch-site': 'same-origin', origin: '' }],
    ['several origins', { 'sec-fetch-site': 'same-origin', origin: ['https://site.example', 'https://site.example'] }],
    ['a user at our name', { origin: 'https://evil@site.example' }],
    [
      'our own page, which the browser calls a sibling',
      { 'sec-fetch-site': 'same-site', origin: 'https://site.example' },
    ],
    ['a sibling without an origin', { 'sec-fetch-site': 'same-site' }],
    ['another port of ours without an origin', { host: 'site.example:8443', 'sec-fetch-site': 'same-origin' }],
    ['no host, without an origin', { host: undefined, 'sec-fetch-site': 'same-origin' }],
    ['two hosts, without an origin', { host: ['site.example', 'site.example'], 'sec-fetch-site': 'same-origin' }],
    ['a host with a path, without an origin', { host: 'site.example/x', 'sec-fetch-site': 'same-origin' }],
    ['a host with a user, without an origin', { host: 'x@site.example', 'sec-fetch-site': 'same-origin' }],
  ])('from %s is rejected', (_who, headers) => {
    expect(passes('POST', headers, PUBLIC)).toBe(false);
    expect(passes('POST', headers, PUBLIC, true)).toBe(false);
  });

  it('passes from an allowed www. name', () => {
    const www = { origin: 'https://www.site.example' };
    for (const site of ['same-origin', 'same-site', undefined]) {
      expect(passes('POST', { ...www, 'sec-fetch-site': site }, PUBLIC_AND_WWW)).toBe(true);
      expect(passes('POST', { ...www, 'sec-fetch-site': site, host: 'www.site.example' }, PUBLIC_AND_WWW)).toBe(true);
    }
    // An allowed host name alone does not prove the page.
    const nameless = { host: 'www.site.example', 'sec-fetch-site': 'same-origin' };
    expect(passes('POST', nameless, PUBLIC_AND_WWW)).toBe(false);
  });

  it('compares scheme, port and every spelling of an IPv6 address', () => {
    expect(passes('POST', { origin: 'http://[::1]:8443' }, ON_A_PORT)).toBe(true);
    expect(passes('POST', { origin: 'http://[0:0:0:0:0:0:0:1]:8443' }, ON_A_PORT)).toBe(true);
    expect(passes('POST', { host: '[0::1]:8443', 'sec-fetch-site': 'same-origin' }, ON_A_PORT)).toBe(true);
    expect(passes('POST', { origin: 'https://[::1]:8443' }, ON_A_PORT)).toBe(false);
    expect(passes('POST', { origin: 'http://[::1]' }, ON_A_PORT)).toBe(false);
    expect(passes('POST', { host: '[::1]', 'sec-fetch-site': 'same-origin' }, ON_A_PORT)).toBe(false);
  });

  it('has a hint about www. in its rejection', () => {
    const request = { method: 'POST', headers: { origin: 'https://www.site.example' }, publicUrl: PUBLIC_URL };
    expect(() => checkOrigin(request, PUBLIC, false)).toThrow(/"publicUrl".*"allowedOrigins".*www\./);
  });
});

describe('with a public address, a request that only reads', () => {
  it.each<[string, HeaderFields]>([
    ['the address bar behind a proxy that names its upstream', { ...UPSTREAM_NAME, 'sec-fetch-site': 'none' }],
    ['a sibling', { 'sec-fetch-site': 'same-site' }],
    ['no browser', UPSTREAM_NAME],
  ])('of a signed-in user passes from %s', (_who, headers) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(passes(method, headers, PUBLIC, true)).toBe(true);
  });

  it('of a signed-in user is rejected from another site, even one that claims the own address', () => {
    expect(passes('GET', { 'sec-fetch-site': 'cross-site' }, PUBLIC, true)).toBe(false);
    const claim = { 'sec-fetch-site': 'cross-site', origin: 'https://site.example' };
    expect(passes('GET', claim, PUBLIC, true)).toBe(false);
    const allowed = { 'sec-fetch-site': 'cross-site', origin: 'https://www.site.example' };
    expect(passes('GET', allowed, PUBLIC_AND_WWW, true)).toBe(true);
  });
});

describe('a request that only reads', () => {
  it.each(['GET', 'HEAD', 'OPTIONS'])('passes with a service credential from anywhere: %s', (method) => {
    expect(passes(method, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).toBe(true);
  });

  it.each(['GET', 'HEAD', 'OPTIONS'])('of a signed-in user is rejected from another site: %s', (method) => {
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

describe('the hint of a refused page without a public address', () => {
  const hintOf = (headers: HeaderFields, publicUrl = 'http://app:3000/api/a2a'): string | undefined => {
    try {
      checkOrigin({ method: 'POST', headers: { host: 'app:3000', ...headers }, publicUrl }, OWN, false);
      return undefined;
    } catch (error) {
      return (error as { hint?: string }).hint;
    }
  };
  const page = { origin: 'https://site.example' };

  it('names the proxy when a plain request comes under another host', () => {
    expect(hintOf(page)).toMatch(/publicUrl/);
    expect(hintOf({ ...page, 'x-forwarded-host': 'site.example' })).toMatch(/publicUrl/);
  });

  it('names the list of origins when the browser says that the page is on another site', () => {
    expect(hintOf({ ...page, 'sec-fetch-site': 'cross-site' })).toMatch(/allowedOrigins/);
    expect(hintOf({ ...page, 'sec-fetch-site': 'cross-site' })).not.toMatch(/publicUrl/);
  });

  it('is absent behind a proxy that the framework trusts, by the first of its hosts', () => {
    for (const host of ['site.example', ' site.example , app:3000'])
      expect(hintOf({ ...page, 'x-forwarded-host': host }, 'https://site.example/api/a2a')).toBeUndefined();
    expect(hintOf({ ...page, 'x-forwarded-host': 'app:3000, site.example' }, 'https://site.example/a')).toBeDefined();
    expect(hintOf(page, '')).toBeDefined();
    expect(hintOf({ origin: 'https://', 'x-forwarded-host': '' }, '')).toBeDefined();
  });

  it('has an origin that is no address in its log as that', () => {
    const request = { method: 'POST', headers: { host: 'site.example', origin: 'null' }, publicUrl: PUBLIC_URL };
    try {
      checkOrigin(request, PUBLIC, false);
      expect.unreachable();
    } catch (error) {
      expect((error as { logDetail(): string }).logDetail()).toContain('Its origin is not an address.');
    }
  });
});
