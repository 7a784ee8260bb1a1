import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { createToolkit } from 'agent-bff';
import { options } from '../process.mjs';

/** Loads a framework that is installed for the rivals only. */
export const peer = createRequire(new URL('../rivals/package.json', import.meta.url));

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
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
}
