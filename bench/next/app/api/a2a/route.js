import { generateKeyPairSync } from 'node:crypto';
import { configureServer } from 'agent-bff';
import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';
import { UPSTREAM } from '../../answer.js';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
configureServer({
  a2aUrl: UPSTREAM,
  serviceApiUrl: 'https://platform.example/api',
  serviceAccount: { serviceAccountId: 'site', keyId: 'key', privateKeyPem: privateKey },
});

export const { GET, POST } = createA2AProxyHandlerWithServiceAuth({ strategy: 'service_account' });
