import type { Task } from '@a2a-js/sdk';
import { DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import express, { type Request } from 'express';
import { openListener } from '../../examples/http-listener.js';
import { createAgentCard } from '../../examples/platform/agent-card.js';
import { DemoAgent } from '../../examples/platform/demo-agent.js';

/** An agent on the server of the A2A SDK that stores its callers' tasks. */
export interface TaskKeepingAgent {
  readonly url: string;
  readonly a2aUrl: string;
  /** Calls so far except for the card: HTTP method and path, oldest first. */
  readonly calls: readonly string[];
  /** Tasks whose updates were sent to a webhook. */
  readonly pushed: readonly string[];
  close(): Promise<void>;
}

/** Text that appears only in the extended card. */
export const EXTENDED = 'Knows more than it tells everybody.';

/**
 * Starts an agent with a task store, webhooks and an extended card, over JSON-RPC and HTTP+JSON, in v1.0 and v0.3.
 * A task belongs to the caller whose API key created it, as on real platforms.
 */
export async function startTaskKeepingAgent(): Promise<TaskKeepingAgent> {
  const listener = await openListener(0, '127.0.0.1');
  const url = `http://127.0.0.1:${String(listener.port)}`;
  const calls: string[] = [];
  const pushed: string[] = [];
  const agent = new DemoAgent({ wordMs: 1, slowStepMs: 10 });
  const basic = createAgentCard(`${url}/a2a`);
  const rest = { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '1.0' };
  const card = {
    ...basic,
    supportedInterfaces: [...basic.supportedInterfaces, ...duplicateInterfacesForLegacy([rest], ['HTTP+JSON'])],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
  };
  const webhooks = new InMemoryPushNotificationStore();
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    agent,
    undefined,
    webhooks,
    {
      send: async (_event, context, { id } = { id: '' } as Task) => {
        if ((await webhooks.load(id, context)).length > 0) pushed.push(id);
      },
    },
    { ...card, description: EXTENDED },
  );
  const options = {
    requestHandler,
    userBuilder: (request: Request) => {
      const key = String(request.headers['x-api-key'] ?? '');
      return Promise.resolve({ isAuthenticated: key !== '', userName: key });
    },
    legacyCompat: { enabled: true },
  };
  const app = express();
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: () => Promise.resolve(card), legacyCompat: { enabled: true } }),
  );
  app.use((request, _response, next) => {
    calls.push(`${request.method} ${request.path}`);
    next();
  });
  app.use('/a2a', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  listener.server.on('request', app);
  return {
    url,
    a2aUrl: `${url}/a2a`,
    calls,
    pushed,
    close: () => {
      agent.stop();
      return listener.close();
    },
  };
}
