import { createHandlers } from 'agent-bff/next';

// The chat at /api/a2a and widgets at /api/service-surfaces.
export const { GET, POST, PUT, PATCH, DELETE } = createHandlers();
