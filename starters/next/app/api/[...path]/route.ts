import { createHandlers } from 'agent-bff/next';

// Chat at /api/a2a, widgets at /api/service-surfaces. Your own route files below /api take precedence.
export const { GET, POST, PUT, PATCH, DELETE } = createHandlers();
