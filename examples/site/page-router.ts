import express, { Router } from 'express';

import { peopleDirectory } from './static-directories.js';

/** Serves the built page in `directory`: its files, and its index document for every other address. */
export function createPageRouter(directory: string): Router {
  const router = Router();
  router.use('/people', express.static(peopleDirectory), (_request, response) => {
    response.sendStatus(404);
  });
  router.use(express.static(directory));
  router.get(/^(?!\/(?:api|auth|demo)(?:\/|$))/, (_request, response, next) => {
    response.sendFile('index.html', { root: directory }, (error: NodeJS.ErrnoException | undefined) => {
      if (error === undefined || response.headersSent) return;
      if (error.code === 'ENOENT') response.status(503).type('text').send(NOT_BUILT);
      else next(error);
    });
  });
  return router;
}

const NOT_BUILT = 'The page is not built yet. "npm start" builds it, and then starts the site.\n';
