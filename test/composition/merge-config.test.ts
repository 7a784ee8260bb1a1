import { describe, expect, it } from 'vitest';
import { mergeConfig } from '../../src/composition/config/merge.js';

describe('a second configuration', () => {
  it('adds fields and replaces those it names', () => {
    expect(mergeConfig({ a2aUrl: 'a', serviceApiKey: 'k' }, { a2aUrl: 'b', publicUrl: 'p' })).toEqual({
      a2aUrl: 'b',
      serviceApiKey: 'k',
      publicUrl: 'p',
    });
  });

  it('leaves a value where it says undefined', () => {
    expect(mergeConfig({ a2aUrl: 'a' }, { a2aUrl: undefined })).toEqual({ a2aUrl: 'a' });
  });

  it('clears a value where it says an empty text', () => {
    expect(mergeConfig({ a2aUrl: 'a' }, { a2aUrl: '' })).toEqual({ a2aUrl: '' });
  });

  it.each(['serviceAccount', 'idpA', 'idpAServiceUser', 'idpBService', 'timeouts'])(
    'is merged field by field inside the block "%s"',
    (block) => {
      const merged = mergeConfig({ [block]: { a: '1', b: '2', c: '3' } }, { [block]: { a: undefined, b: '', d: '4' } });
      expect(merged).toEqual({ [block]: { a: '1', b: '', c: '3', d: '4' } });
      expect(mergeConfig({}, { [block]: { a: '1' } })).toEqual({ [block]: { a: '1' } });
      expect(mergeConfig({ [block]: { a: '1' } }, { [block]: undefined })).toEqual({ [block]: { a: '1' } });
    },
  );

  it('replaces lists and objects that are no blocks', () => {
    const [store, telemetry] = [{ get: 1 }, { emit: 1 }];
    const merged = mergeConfig(
      {
        allowedOrigins: ['https://a.example'],
        a2aMethods: ['x'],
        cacheStore: store as never,
        telemetry: telemetry as never,
      },
      { allowedOrigins: ['https://b.example'], a2aMethods: 'all', cacheStore: telemetry as never },
    );
    expect(merged.allowedOrigins).toEqual(['https://b.example']);
    expect(merged.a2aMethods).toBe('all');
    expect(merged.cacheStore).toBe(telemetry);
    expect(merged.telemetry).toBe(telemetry);
  });

  it('changes neither of the two', () => {
    const current = Object.freeze({ serviceAccount: Object.freeze({ keyId: 'a' }) });
    const changes = Object.freeze({ serviceAccount: Object.freeze({ keyId: 'b' }) });
    mergeConfig(current, changes);
    expect([current, changes]).toEqual([{ serviceAccount: { keyId: 'a' } }, { serviceAccount: { keyId: 'b' } }]);
  });
});

describe('the upstream block', () => {
  it('merges its paths and headers one by one', () => {
    const first = mergeConfig({}, { upstream: { paths: { render: '/a/{id}' }, headers: { apiKey: 'key' } } });
    expect(mergeConfig(first, { upstream: { paths: { brand: '/b.css' } } })).toEqual({
      upstream: { paths: { render: '/a/{id}', brand: '/b.css' }, headers: { apiKey: 'key' } },
    });
  });
});
