import { createHandlers } from 'agent-bff/next';

// Chat at /api/a2a, widgets at /api/service-surfaces. Route files of your own below /api keep their addresses.
export const { GET, POST, PUT, PATCH, DELETE } = createHandlers();
