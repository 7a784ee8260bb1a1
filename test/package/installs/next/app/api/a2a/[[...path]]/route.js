import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';

export const { GET, POST } = createA2AProxyHandlerWithServiceAuth();
