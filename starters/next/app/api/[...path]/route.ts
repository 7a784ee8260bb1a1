import { createHandlers } from 'agent-bff/next';

// Chat at /api/a2a, widgets at /api/service-surfaces. Your own route files below /api take precedence.
// A conversation belongs to the visitor who began it, whom a cookie recognises.
export const { GET, POST, PUT, PATCH, DELETE } = createHandlers({ a2a: { conversations: 'visitor' } });
