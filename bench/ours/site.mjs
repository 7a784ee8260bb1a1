import { generateKeyPairSync } from 'node:crypto';
import { createToolkit } from 'agent-bff';
import { options } from '../process.mjs';

/** A site with a service account, as most sites have it. */
export function benchToolkit(config, ports = {}) {
  return createToolkit(
    {
      serviceApiUrl: 'https://platform.example/api',
      serviceAccount: { serviceAccountId: 'site', keyId: 'key', privateKeyPem: options.privateKeyPem ?? newKey() },
      ...config,
    },
    ports,
  );
}

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return privateKey;
}
