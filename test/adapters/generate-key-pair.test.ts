import { createPrivateKey, createPublicKey } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { generateKeyPair } from '../../src/adapters/keys/pem.js';

it('a generated key pair is RSA with 2,048 bits in PKCS#8 and SPKI', async () => {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair();
  const privateKey = createPrivateKey(privateKeyPem.reveal());

  expect(privateKeyPem.reveal()).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(publicKeyPem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
  expect(privateKey).toMatchObject({ asymmetricKeyType: 'rsa', asymmetricKeyDetails: { modulusLength: 2048 } });
  expect(createPublicKey(privateKey).equals(createPublicKey(publicKeyPem))).toBe(true);
});

it('a generated private key is redacted in every print', async () => {
  const pair = await generateKeyPair();
  expect(inspect(pair, { depth: 12, showHidden: true })).toContain('privateKeyPem: [redacted]');
  expect(JSON.stringify(pair)).toContain('"privateKeyPem":"[redacted]"');
});
