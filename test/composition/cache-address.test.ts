import { inspect } from 'node:util';
import { createToolkit } from 'agent-bff';
import { describe, expect, it } from 'vitest';
import { cacheAddress } from '../../src/composition/config/addresses.js';
import { configuredSecrets, resolveConfig } from '../../src/composition/config/resolve-config.js';

const PASSWORD = 'p%40ss-of-the-cache';

describe('the address in "cacheStore"', () => {
  it.each([
    ['redis://cache.example', 'redis://cache.example'],
    ['rediss://cache.example:6380/2', 'rediss://cache.example:6380/2'],
    ['valkey://cache.example:6379/', 'redis://cache.example:6379/'],
    ['valkeys://cache.example', 'rediss://cache.example'],
    [' redis://user:pass@[::1]:6379 ', 'redis://user:pass@[::1]:6379'],
  ])('%s connects to %s', (address, called) => {
    expect(cacheAddress(address).url.reveal()).toBe(called);
  });

  it.each([
    'cache.example:6379',
    'http://cache.example',
    'memcached://cache.example',
    'redis:',
    'redis:///1',
    'redis://cache.example/one',
    'redis://cache.example?timeout=1',
    'redis://cache.example#1',
    `redis://:%zz${PASSWORD}@cache.example`,
    `redis://:${PASSWORD}/#@cache.example`,
  ])('%s is rejected without being quoted', (address) => {
    const error = refusal(() => createToolkit({ cacheStore: address }));
    expect(error).toMatchObject({ code: 'configuration_invalid', block: 'configureServer', fields: ['cacheStore'] });
    expect(inspect(error) + JSON.stringify(error)).not.toContain(PASSWORD);
    expect(inspect(error)).not.toContain('memcached');
  });

  it('is undefined for an empty string', () => {
    expect(resolveConfig({ cacheStore: '' }).cacheAddress).toBeUndefined();
  });

  it('is never printed, nor its password, raw or encoded', () => {
    const resolved = resolveConfig({ cacheStore: `valkey://site:${PASSWORD}@cache.example` });
    expect(inspect(resolved, { depth: 9 }) + JSON.stringify(resolved)).not.toContain('ss-of-the-cache');
    const address = `redis://site:${PASSWORD}@cache.example`;
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
