import { createHash } from 'node:crypto';

import { type RequestHandler, type Response, Router } from 'express';

import { ActionRefused, type Fields, type Surface } from './surface.js';

/** The widgets, each at `/{id}` and at `/by-name/{name}`. Expects the verified caller in `response.locals.subject`. */
export function createSurfacesRouter(surfaces: readonly Surface[]): Router {
  const router = Router();
  const routes = surfaceRoutes();
  router.use(
    '/by-name/:word',
    select((word) => surfaces.find(({ name }) => name === word)),
    routes,
  );
  router.use(
    '/:word',
    select((word) => surfaces.find(({ id }) => id === word)),
    routes,
  );
  return router;
}

function select(find: (word: string) => Surface | undefined): RequestHandler<{ word: string }> {
  return ({ params }, response, next) => {
    const surface = find(params.word);
    response.locals['surface'] = surface;
    if (surface === undefined) refuse(response, 404, 'not_found', 'There is no such widget.');
    else next();
  };
}

function surfaceRoutes(): Router {
  const router = Router();

  // Called to revalidate a render: Express responds with 304 to its entity tag.
  router.get('/', (_request, response) => {
    const { id, name, title, version, etag } = look(response);
    response.set('etag', etag).json({ id, name, title, version });
  });

  router.post('/render', (_request, response) => {
    const { id, name, title, version, html, etag } = look(response);
    response.set('etag', etag).json({ id, title, version, html, surface: { id, name } });
  });

  router.post('/actions/:action', ({ params, body }, response) => {
    const { id, name, actions } = surfaceOf(response);
    const act = actions.get(params.action);
    if (act === undefined) {
      refuse(response, 404, 'not_found', 'There is no such action.');
      return;
    }
    try {
      const message = act(callerOf(response), fieldsOf(body));
      response.json({ message, surface: { id, name } });
    } catch (error) {
      if (!(error instanceof ActionRefused)) throw error;
      refuse(response, 422, 'action_refused', error.message);
    }
  });

  router.get('/theme.css', (_request, response) => {
    response.type('css').send(surfaceOf(response).theme);
  });

  return router;
}

function look(response: Response) {
  const surface = surfaceOf(response);
  const { id, name, title } = surface;
  const { version, html } = surface.view(callerOf(response));
  // The tag depends on the content, since two callers may see different content in one version.
  const etag = `"${createHash('sha256').update(`${version} ${html}`).digest('base64url')}"`;
  return { id, name, title, version, html, etag };
}

function surfaceOf({ locals }: Response): Surface {
  return locals['surface'] as Surface;
}

function callerOf({ locals }: Response): string {
  return String(locals['subject']);
}

/** The text fields of `{ "fields": { … } }`; all others are ignored. */
function fieldsOf(body: unknown): Fields {
  const { fields } = Object(body) as { fields?: unknown };
  return Object.fromEntries(Object.entries(Object(fields) as object).filter(([, value]) => typeof value === 'string'));
}

function refuse(response: Response, status: number, code: string, message: string): void {
  response.status(status).json({ error: { code, message } });
}
