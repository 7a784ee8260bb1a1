import { type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler } from '@a2a-js/sdk/server/express';
import type { RequestHandler } from 'express';

import { createAgentCard } from './agent-card.js';

/** The agent endpoint. Expects the verified caller in `response.locals.subject`; tasks belong to their caller. */
export function createA2ARouter(agent: AgentExecutor, a2aUrl: string): RequestHandler {
  return jsonRpcHandler({
    requestHandler: new DefaultRequestHandler(createAgentCard(a2aUrl), new InMemoryTaskStore(), agent),
    userBuilder: async (request) => ({
      isAuthenticated: true,
      userName: String(request.res?.locals['subject']),
    }),
    legacyCompat: { enabled: true },
  });
}
