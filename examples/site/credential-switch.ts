import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

import { configureServer } from 'agent-bff';
import { Router } from 'express';

/**
 * Lets the page break the site's credential and repair it: `GET` returns the state, `POST { broken }` sets it. Both are
 * one call of `configureServer`, which takes effect with the next message, without a restart.
 */
export function createCredentialSwitch(privateKeyPem: string): Router {
  const router = Router();
  let broken = false;

  router.get('/', (_request, response) => {
    response.json({ broken });
  });

  router.post('/', async (request, response) => {
    const wanted = (request.body as { broken?: unknown } | undefined)?.broken;
    if (typeof wanted !== 'boolean') {
      response.status(400).json({ error: { message: 'The body must be { "broken": true } or { "broken": false }.' } });
      return;
    }
    configureServer({ serviceAccount: { privateKeyPem: wanted ? await createStrangeKey() : privateKeyPem } });
    broken = wanted;
    response.json({ broken });
  });

  return router;
}

/** A valid key that is not registered, so the platform rejects its tokens. */
async function createStrangeKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return privateKey;
}
