import { createSurfaceHandler } from 'agent-bff/next';

export const { GET, POST } = createSurfaceHandler();
