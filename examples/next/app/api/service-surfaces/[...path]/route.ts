import { createSurfaceHandlerWithServiceAuth } from 'agent-bff/next';

/** Widgets; a render is kept, and checked again after three seconds. */
export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = createSurfaceHandlerWithServiceAuth({
  cache: { enabled: true },
});
