import { Router } from 'express';

import { BRAND_CSS } from './brand.js';
import type { ConversationRecords } from './conversations/conversation-records.js';
import { createConversationsRouter } from './conversations/conversations-router.js';
import type { Surface } from './surfaces/surface.js';
import { createSurfacesRouter } from './surfaces/surfaces-router.js';

/** The platform's API besides its agent. Expects the verified caller in `response.locals.subject`. */
export function createApiRouter(surfaces: readonly Surface[], records: ConversationRecords): Router {
  const router = Router();
  router.get('/project', (_request, response) => {
    response.json({ id: 'demo-project', name: 'Demo project' });
  });
  router.get('/brand.css', (_request, response) => {
    response.type('css').send(BRAND_CSS);
  });
  router.use('/surfaces', createSurfacesRouter(surfaces));
  router.use('/conversations', createConversationsRouter(records));
  router.use((_request, response) => {
    response.status(404).json({ error: { code: 'not_found', message: 'There is no such address.' } });
  });
  return router;
}
