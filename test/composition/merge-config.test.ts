import { describe, expect, it } from 'vitest';
import { mergeConfig } from '../../src/composition/config/resolve-config.js';

describe('a second configuration', () => {
  it.each(['serviceAccount', 'idpA', 'idpAServiceUser', 'idpBService', 'timeouts'])(
    'is merged field by field in "%s"',
    (block) => {
      const merged = mergeConfig({ [block]: { a: '1', b: '2', c: '3' } }, { [block]: { a: undefined, b: '', d: '4' } });
      expect(merged).toEqual({ [block]: { a: '1', b: '', c: '3', d: '4' } });
      expect(mergeConfig({}, { [block]: { a: '1' } })).toEqual({ [block]: { a: '1' } });
      expect(mergeConfig({ [block]: { a: '1' } }, { [block]: undefined })).toEqual({ [block]: { a: '1' } });
    },
  );

  it('replaces lists and objects that are not blocks', () => {
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

  it('is merged without modifying either configuration', () => {
    const current = Object.freeze({ serviceAccount: Object.freeze({ keyId: 'a' }) });
    const changes = Object.freeze({ serviceAccount: Object.freeze({ keyId: 'b' }) });
    mergeConfig(current, changes);
    expect([current, changes]).toEqual([{ serviceAccount: { keyId: 'a' } }, { serviceAccount: { keyId: 'b' } }]);
  });
});

describe('two forms of the same credential', () => {
  const [pem, path, other] = ['pem', '/run/a.pem', '/run/b.pem'];

  it.each<[string, string, object, object, object]>([
    [
      'a path after a PEM text',
      'serviceAccount',
      { privateKeyPem: pem },
      { privateKeyPath: path },
      { privateKeyPath: path },
    ],
    [
      'a PEM text after a path',
      'serviceAccount',
      { privateKeyPath: path },
      { privateKeyPem: pem },
      { privateKeyPem: pem },
    ],
  ])('are reduced to the later one: %s in %s', (_title, block, first, later, kept) => {
    const merged = mergeConfig({ [block]: { ...first, keyId: 'k' } }, { [block]: later });
    expect(merged).toEqual({ [block]: { ...kept, keyId: 'k' } });
  });

  it('are reduced to the earlier one when the later is empty or undefined', () => {
    const current = { serviceAccount: { privateKeyPem: pem } };
    expect(mergeConfig(current, { serviceAccount: { privateKeyPath: '' } }).serviceAccount).toMatchObject({
      privateKeyPem: pem,
    });
    expect(mergeConfig(current, { serviceAccount: { privateKeyPath: undefined } })).toEqual(current);
  });

  it('both remain when set in one call', () => {
    const both = { serviceAccount: { privateKeyPem: pem, privateKeyPath: path } };
    expect(mergeConfig({ serviceAccount: { privateKeyPem: 'old' } }, both)).toEqual(both);
  });

  it.each(['idpBService', 'onBehalfOf'])('both remain for a certificate and a secret in %s', (block) => {
    const certificate = { certificatePath: path, privateKeyPath: other };
    const both = { [block]: { ...certificate, clientSecret: 's' } };
    expect(mergeConfig({ [block]: certificate }, { [block]: { clientSecret: 's' } })).toEqual(both);
    expect(mergeConfig({ [block]: { clientSecret: 's' } }, { [block]: certificate })).toEqual(both);
    expect(mergeConfig(both, { [block]: { certificatePath: '' } })).toEqual({
      [block]: { certificatePath: '', privateKeyPath: other, clientSecret: 's' },
    });
  });

  it('leave the key path when the certificate changes, and the secret when the key path changes', () => {
    const pair = { idpBService: { certificatePath: path, privateKeyPath: other } };
    expect(mergeConfig(pair, { idpBService: { certificatePath: '/c' } }).idpBService).toEqual({
      certificatePath: '/c',
      privateKeyPath: other,
    });
    const merged = mergeConfig({ idpBService: { clientSecret: 's' } }, { idpBService: { privateKeyPath: other } });
    expect(merged.idpBService).toEqual({ clientSecret: 's', privateKeyPath: other });
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
