import { describe, expect, it } from 'vitest';
import {
  ipv6Groups,
  isBelow,
  isLoopback,
  providerUrl,
  withoutTrailingSlashes,
} from '../../../src/domain/shared/paths.js';

describe('a path', () => {
  it.each([
    ['/api/a2a', true],
    ['/api/a2a/config', true],
    ['/api/a2a?version=1.0', true],
    ['/api/a2abc', false],
    ['/api', false],
  ])('%s belongs to a route mounted at /api/a2a: %s', (path, belongs) => {
    expect(isBelow(path, '/api/a2a')).toBe(belongs);
  });

  it('loses its trailing slashes and no others', () => {
    expect(['/a/b///', '/a', '///'].map(withoutTrailingSlashes)).toEqual(['/a/b', '/a', '']);
  });
});

describe('a host', () => {
  it.each(['localhost', '[::1]', '127.0.0.1', '127.255.0.9'])('%s is the local machine', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['', '::1', '[::2]', '127.0.0', '127.0.0.1.example', '1127.0.0.1', 'a.localhost', 'localhost.example'])(
    '%s is not the local machine',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

describe('an IPv6 address', () => {
  it.each([
    ['1:2:3:4:5:6:7:8', '1 2 3 4 5 6 7 8'],
    ['2001:db8::7:8', '2001 db8 0 0 0 0 7 8'],
    ['fe80::', 'fe80 0 0 0 0 0 0 0'],
    ['::1', '0 0 0 0 0 0 0 1'],
  ])('%s has the groups %s', (address, groups) => {
    expect(ipv6Groups(address).join(' ')).toBe(groups);
  });
});

describe('the address of a provider', () => {
  it.each([
    ['idp.example', 'https://idp.example/'],
    ['idp.example:8443/tenant', 'https://idp.example:8443/tenant'],
    ['idp.example/a://b', 'https://idp.example/a://b'],
    ['https://idp.example', 'https://idp.example/'],
    ['HTTPS://idp.example', 'https://idp.example/'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['http://[::1]', 'http://[::1]/'],
  ])('may be %s', (text, href) => {
    expect(String(providerUrl(text))).toBe(href);
    expect(providerUrl(text)).toBeInstanceOf(URL);
  });

  it.each([
    '',
    'my idp',
    'https://user@idp.example',
    'https://:word@idp.example',
    'idp.example?a=b',
    'idp.example#a',
    'http://idp.example',
    'git+ssh-2.0://localhost',
  ])('cannot be "%s"', (text) => {
    expect(providerUrl(text)).toBeUndefined();
  });
});
