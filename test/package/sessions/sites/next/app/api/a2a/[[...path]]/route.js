import { createA2AProxyHandler } from 'agent-bff/next';
import { source } from '../../../../auth.mjs';

export const { GET, POST } = createA2AProxyHandler({ auth: source });
