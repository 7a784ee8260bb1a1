import { generateKeyPairSync } from 'node:crypto';

import { startPlatform } from './platform/start-platform.js';
import { startSite } from './site/start-site.js';
import { onStopRequest } from './stop-request.js';

const DEFAULT_PORT = 3000;
const SERVICE_ACCOUNT_ID = 'demo-site';
const KEY_ID = 'demo-key';

async function main(): Promise<void> {
  const port = readPort(process.env['PORT']);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });

  const platform = await startPlatform();
  // What the platform's administrator does once: register the public half of the site's key.
  platform.registerKey(KEY_ID, publicKey, SERVICE_ACCOUNT_ID);

  const site = await startSite({
    port,
    a2aUrl: platform.a2aUrl,
    serviceApiUrl: platform.serviceApiUrl,
    serviceAccount: { serviceAccountId: SERVICE_ACCOUNT_ID, keyId: KEY_ID, privateKeyPem: privateKey },
  }).catch((error: unknown): never => giveUp(explainListenError(error, port)));

  onStopRequest(async () => {
    await site.close();
    await platform.close();
    process.exit(0);
  });
  console.log(`agent-bff demo: ${site.url}`);
}

function readPort(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_PORT;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    giveUp(`PORT must be a whole number from 0 to 65535, not ${JSON.stringify(text)}.`);
  }
  return port;
}

function explainListenError(error: unknown, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const another = 'Choose another one: PORT=3001 npm start';
  if (code === 'EADDRINUSE') return `Port ${port} is already in use. ${another}`;
  if (code === 'EACCES') return `Port ${port} may not be opened by this user. ${another}`;
  return `The demo could not start: ${message}`;
}

function giveUp(reason: string): never {
  console.error(reason);
  process.exit(1);
}

await main();
