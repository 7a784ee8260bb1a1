import { describe, expect, it } from 'vitest';
import { SecretScan } from './secret-scan.js';

describe('the scan for secrets', () => {
  it.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => `a ${secret} b`],
    ['in an address', (secret) => `?a=${encodeURIComponent(secret)}`],
    ['in a form', (secret) => new URLSearchParams({ a: secret }).toString()],
    ['in JSON', (secret) => JSON.stringify({ a: secret })],
    ['in JSON in JSON', (secret) => JSON.stringify(JSON.stringify({ a: secret }))],
    ['in base64 at its start', (secret) => Buffer.from(`${secret}:x`).toString('base64')],
    ['in base64 behind one byte', (secret) => Buffer.from(`:${secret}:x`).toString('base64')],
    ['in base64url behind two bytes', (secret) => Buffer.from(`x:${secret}`).toString('base64url')],
  ])('finds a secret %s', (_title, spelled) => {
    const scan = new SecretScan();
    const secret = 'tr0ub4dor & "three"/äö';
    scan.learn('it', secret);
    scan.text('a text', spelled(secret));
    scan.text('another text', spelled('something else'));
    expect(scan.findings()).toEqual(['it in a text']);
  });

  it('finds a secret in hidden properties and in causes', () => {
    const scan = new SecretScan();
    scan.learn('it', 'the-secret');
    scan.object(
      'an object',
      Object.defineProperty({}, 'hidden', { value: { deep: ['the-secret'] }, enumerable: false }),
    );
    scan.object('an error', new Error('nothing', { cause: new Error('the-secret') }));
    expect(scan.findings()).toEqual(['it in an object, inspected', 'it in an error, inspected']);
  });
});
