import { Router } from 'express';

import type { ConversationRecords } from './conversation-records.js';

/** The caller's own conversations; those of others are not found. */
export function createConversationsRouter(records: ConversationRecords): Router {
  const router = Router();

  router.get('/', (_request, response) => {
    response.json({ conversations: records.list(String(response.locals['subject'])) });
  });

  router.get('/:id', ({ params }, response) => {
    const conversation = records.find(String(response.locals['subject']), params.id);
    if (conversation === undefined) response.status(404).json(NOT_FOUND);
    else response.json(conversation);
  });

  router.delete('/:id', ({ params }, response) => {
    const isDeleted = records.delete(String(response.locals['subject']), params.id);
    if (isDeleted) response.sendStatus(204);
    else response.status(404).json(NOT_FOUND);
  });

  return router;
}

const NOT_FOUND = { error: { code: 'not_found', message: 'There is no such conversation.' } };
