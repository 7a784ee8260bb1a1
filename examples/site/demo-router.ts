import { resolveServiceBrand } from 'agent-bff';
import { Router } from 'express';

import { createCredentialSwitch } from './credential-switch.js';
import type { PlatformView } from './platform-view.js';

/** The demo's own routes: what the platform receives, and what happens when something changes. */
export function createDemoRouter(privateKeyPem: string, platform: PlatformView | undefined): Router {
  const router = Router();
  router.use('/credential', createCredentialSwitch(privateKeyPem));
  // The page works without its brand.
  router.get('/brand.css', async (_request, response) => {
    const brand = await resolveServiceBrand().catch(() => '');
    response.type('css').set('cache-control', 'no-cache').send(brand);
  });
  if (platform === undefined) return router;

  router.get('/hits', (_request, response) => {
    const { requestCounts: hits, requestTotal: total } = platform;
    response.set('cache-control', 'no-store').json({ hits, total });
  });

  router.post('/widgets/poll/question', (request, response) => {
    const { text } = Object(request.body) as { text?: unknown };
    try {
      platform.setPollQuestion(typeof text === 'string' ? text : '');
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      response.status(400).json({ error: { message: error.message } });
      return;
    }
    response.sendStatus(204);
  });

  return router;
}
