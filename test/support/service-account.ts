import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/** A service account's new key: one half for the site, one for the platform. */
export async function newServiceAccountKey(): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}
