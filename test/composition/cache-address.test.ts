import { inspect } from 'node:util';
import { createToolkit } from 'agent-bff';
import { describe, expect, it } from 'vitest';
import { cacheAddress } from '../../src/composition/config/addresses.js';
import { besideUrl, redisServers } from '../../src/adapters/keyv/redis-address.js';
import { configuredSecrets, resolveConfig } from '../../src/composition/config/resolve-config.js';

const PASSWORD = 'p%40ss-of-the-cache';

describe('the address in "cacheStore"', () => {
  it.each<[string, readonly string[], string?]>([
    ['redis://cache.example', ['redis://cache.example']],
    ['rediss://cache.example:6380/2', ['rediss://cache.example:6380/2']],
    ['valkey://cache.example:6379/', ['redis://cache.example:6379']],
    ['redis://cache.example/2/', ['redis://cache.example/2']],
    ['redis+sentinel://a.example:26380/mymaster', ['redis://a.example:26380'], 'mymaster'],
    ['VALKEYS://cache.example', ['rediss://cache.example']],
    ['redis://user:pass@[::1]:6379', ['redis://user:pass@[::1]:6379']],
    [
      'redis://user:p%40ss@a.example:1,[::1],b.example/1',
      ['redis://user:p%40ss@a.example:1/1', 'redis://user:p%40ss@[::1]/1', 'redis://user:p%40ss@b.example/1'],
    ],
    ['redis+sentinel://a.example/mymaster', ['redis://a.example:26379'], 'mymaster'],
    [
      'valkeys+sentinel://:pass@a.example:1,b.example/the%20primary/2',
      ['rediss://:pass@a.example:1/2', 'rediss://:pass@b.example:26379/2'],
      'the primary',
    ],
  ])('%s names %s', (address, urls, primaryName = '') => {
    expect(redisServers(cacheAddress(` ${address} `, 'configureServer').url.reveal())).toEqual({ urls, primaryName });
  });

  it.each([
    ['b.example', 7_001, 'rediss://user:p%40ss@b.example:7001/1'],
    ['::1', 6_380, 'rediss://user:p%40ss@[::1]:6380/1'],
    ['', 6_380, 'rediss://user:p%40ss@a.example:6380/1'],
    ['?', 6_380, 'rediss://user:p%40ss@a.example:6380/1'],
  ])('is that of another server of the cluster, with the same login: %s:%i', (host, port, url) => {
    expect(besideUrl('rediss://user:p%40ss@a.example:1/1', host, port)).toBe(url);
  });

  it.each([
    ['redis://a.example,redis://b.example', 'Write the scheme once'],
    ['redis+sentinel://a.example,b.example', 'Add the name'],
    ['redis+sentinel://a.example?sentinelMasterId=mymaster', 'redis, rediss, valkey or valkeys'],
    ['redis+sentinel://a.example/mymaster/one', 'redis, rediss, valkey or valkeys'],
    ['redis+cluster://a.example', 'redis, rediss, valkey or valkeys'],
  ])('%s is rejected with a fix: %s …', (address, fix) => {
    expect(refusal(() => createToolkit({ cacheStore: address }))).toMatchObject({ hint: expect.stringContaining(fix) });
  });

  it.each([
    'cache.example:6379',
    'http://cache.example',
    'memcached://cache.example',
    'redis:',
    'redis:///1',
    'redis://a.example,',
    'redis://a.example,,b.example',
    'redis://a.example:70000',
    `redis+sentinel://:%zz${PASSWORD}@a.example/mymaster`,
    'redis://cache.example/one',
    'redis://cache.example/1/2',
    'x-redis://cache.example',
    'redis://cache.example?timeout=1',
    'redis://cache.example#1',
    `redis://:%zz${PASSWORD}@cache.example`,
    `redis://:${PASSWORD}/#@cache.example`,
  ])('%s is rejected without being quoted', (address) => {
    const error = refusal(() => createToolkit({ cacheStore: address }));
    expect(error).toMatchObject({ code: 'configuration_invalid', block: 'createToolkit', fields: ['cacheStore'] });
    expect(inspect(error) + JSON.stringify(error)).not.toContain(PASSWORD);
    expect(inspect(error)).not.toContain('memcached');
  });

  it('is undefined for an empty string', () => {
    expect(resolveConfig({ cacheStore: '' }).cacheAddress).toBeUndefined();
  });

  it('is never printed, nor its password, raw or encoded', () => {
    const resolved = resolveConfig({ cacheStore: `valkey://site:${PASSWORD}@cache.example` });
    expect(inspect(resolved, { depth: 9 }) + JSON.stringify(resolved)).not.toContain('ss-of-the-cache');
    const address = `valkey://site:${PASSWORD}@cache.example`;
    expect(configuredSecrets(resolved)).toEqual(expect.arrayContaining([address, PASSWORD, 'p@ss-of-the-cache']));
  });
});

function refusal(build: () => unknown): unknown {
  try {
    build();
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}
