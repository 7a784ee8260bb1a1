import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/** A new key pair of a service account: the private key for the site, the public key for the platform. */
export async function newServiceAccountKey(): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}
