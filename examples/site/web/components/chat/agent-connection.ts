import type { AgentCard } from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';

import { provideBuffer } from './browser-buffer';
import { readAnswer } from './read-answer';

/** What the config route tells a chat before its first message. */
export interface ChatConfiguration {
  readonly agentCard: AgentCard;
  /** Custom properties in the brand's colours; empty when there is no brand. */
  readonly brandCss: string;
}

/** The agent as the browser reaches it: at the page's own origin, with no credential. */
export interface AgentConnection {
  readonly client: Client;
  readonly brandCss: string;
  readonly agentName: string;
}

export interface AgentRoutes {
  readonly a2aEndpoint: string;
  readonly configEndpoint: string;
}

/**
 * Reads the chat's configuration and makes a client from the agent card in it.
 *
 * @throws SiteError when the site has no configuration to give, for one because its credential was refused.
 */
export async function connectAgent({ a2aEndpoint, configEndpoint }: AgentRoutes): Promise<AgentConnection> {
  provideBuffer();
  const { agentCard, brandCss } = await readAnswer<ChatConfiguration>(await fetch(configEndpoint));
  const legacyCompat = { enabled: true }; // agents that speak A2A 0.3 only
  const cardResolver = new DefaultAgentCardResolver({ legacyCompat });
  const card = cardResolver.normalizeAgentCard(agentCard);
  // The card names the site as its server sees it; behind a development server the page lives elsewhere.
  const url = new URL(a2aEndpoint, document.baseURI).href;
  const supportedInterfaces = card.supportedInterfaces.map((agentInterface) => ({ ...agentInterface, url }));
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ legacyCompat })], cardResolver });
  const client = await factory.createFromAgentCard({ ...card, supportedInterfaces });
  return { client, brandCss, agentName: card.name };
}
