import { createSurfaceHandlerWithServiceAuth } from 'agent-bff/next';

/** Widgets; renders are cached, and revalidated after three seconds. */
export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = createSurfaceHandlerWithServiceAuth({
  cache: { enabled: true },
});
