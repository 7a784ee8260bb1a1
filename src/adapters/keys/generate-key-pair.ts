import { generateKeyPair as generate } from 'node:crypto';
import { promisify } from 'node:util';
import { type Secret, secret } from '../../domain/shared/secret.js';

/** A new key of a service account: one half for the server, one to register with the platform. */
export interface GeneratedKeyPair {
  /** PKCS#8 PEM. */
  readonly privateKeyPem: Secret;
  /** SPKI PEM. */
  readonly publicKeyPem: string;
}

/** Generates an RSA key pair of 2,048 bits. */
export async function generateKeyPair(): Promise<GeneratedKeyPair> {
  const { privateKey, publicKey } = await promisify(generate)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: secret(privateKey), publicKeyPem: publicKey };
}
