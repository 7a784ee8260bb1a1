import type { RequestContext } from '../../ports/http.js';
import type { CredentialBroker } from '../credentials/credential-broker.js';
import { isVaried, readerScope } from '../credentials/credential-scope.js';
import { obtainCredential, renewCredential, type RouteAuth } from '../credentials/route-auth.js';
import type { CallContext } from '../upstream/platform-call.js';
import type { Lookup } from '../upstream/platform-directory.js';
import { type Endpoint, requireEndpoint } from '../upstream/upstream-request.js';
import { type AgentCardJson, type CardPolicy, rewrittenCard } from './agent-card.js';
import {
  AgentCardSource,
  type AgentCardSourceDependencies,
  type CardReader,
  type FoundCard,
} from './agent-card-source.js';

/**
 * The response of the config route (spec §2.2).
 *
 * @public
 */
export interface ChatConfigRecord {
  /** The agent's card, rewritten so that its reader talks to the site. */
  readonly agentCard: Readonly<Record<string, unknown>>;
  /** Null when there is none. */
  readonly serviceProjectId: string | null;
  /** Empty when there is none. */
  readonly brandCss: string;
  /** Whether the agent streams its responses. */
  readonly supportsStreaming: boolean;
  /** Path of the chat route, such as `/api/a2a`. */
  readonly a2aEndpoint: string;
  /** Codes of what could not be looked up. */
  readonly warnings: readonly string[];
}

/** What the platform knows of the site besides its agent. */
export interface ChatDirectory {
  project(caller: CallContext): Promise<Lookup>;
  brand(caller: CallContext): Promise<Lookup>;
}

/** What the chat configuration is made of. */
export interface ChatConfigDependencies extends Omit<AgentCardSourceDependencies, 'agent'> {
  readonly credentials: CredentialBroker;
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  readonly directory: ChatDirectory;
}

/** How visitors reach the chat, and what they may do there. */
export interface ChatEndpoint {
  /** Full address of the chat route. */
  readonly url: string;
  /** Its path. */
  readonly path: string;
  readonly policy: CardPolicy;
  readonly bindings: readonly string[];
}

/** Tells the browser what it needs before its first message (spec §2.2). */
export class ChatConfig {
  readonly #deps: ChatConfigDependencies;
  #cards: AgentCardSource | undefined;

  constructor(dependencies: ChatConfigDependencies) {
    this.#deps = dependencies;
  }

  /**
   * The record for one caller and one protocol version (`''`: the browser named none).
   * Only the card is indispensable: what else fails becomes a warning. `admit` is asked before the agent is, and may refuse by an error.
   *
   * @throws ServiceAuthError and SessionError when there is no credential.
   * @throws UpstreamError when there is no card, or none that can be rewritten.
   */
  async record(
    version: string,
    request: RequestContext,
    auth: RouteAuth,
    entrance: ChatEndpoint,
    admit?: () => Promise<void>,
  ): Promise<ChatConfigRecord> {
    const { credentials, cardAddress, directory } = this.#deps;
    const agent = requireEndpoint('a2aUrl', this.#deps.agent);
    const caller: CallContext = { auth, request, credential: await obtainCredential(credentials, auth, request) };
    const search = this.#find(version, caller, admit);
    // Nor does a visitor who is refused the card cost a look-up by values made up for it.
    if (isVaried(caller.credential)) await search;
    const [found, project, brand] = await Promise.all([
      search,
      looked('project_unavailable', () => directory.project(caller)),
      looked('brand_unavailable', () => directory.brand(caller)),
    ]);
    const agentCard = rewrittenCard(found.card, { ...entrance, agentOrigin: agent.origin });
    const missed =
      cardAddress !== undefined && found.address !== cardAddress ? 'agent_card_url_unavailable' : undefined;
    return {
      agentCard,
      serviceProjectId: project.value,
      brandCss: brand.value ?? '',
      supportsStreaming: streams(agentCard),
      a2aEndpoint: entrance.path,
      warnings: [missed, project.warning, brand.warning].filter((code) => code !== undefined),
    };
  }

  /**
   * The rewritten card alone, as `record` has it.
   *
   * @throws ServiceAuthError, SessionError and UpstreamError as `record` does.
   */
  async agentCard(
    version: string,
    request: RequestContext,
    auth: RouteAuth,
    entrance: ChatEndpoint,
    admit?: () => Promise<void>,
  ): Promise<ChatConfigRecord['agentCard']> {
    const agent = requireEndpoint('a2aUrl', this.#deps.agent);
    const credential = await obtainCredential(this.#deps.credentials, auth, request);
    const { card } = await this.#find(version, { auth, request, credential }, admit);
    return rewrittenCard(card, { ...entrance, agentOrigin: agent.origin });
  }

  /**
   * The agent's own card, for one caller and one protocol version.
   *
   * @throws UpstreamError when there is none.
   */
  async card(version: string, caller: CallContext): Promise<AgentCardJson> {
    return (await this.#find(version, caller)).card;
  }

  #find(version: string, caller: CallContext, admit?: () => Promise<void>): Promise<FoundCard> {
    this.#cards ??= new AgentCardSource({ ...this.#deps, agent: requireEndpoint('a2aUrl', this.#deps.agent) });
    return this.#cards.find(version, { ...this.#reader(caller), admit });
  }

  #reader({ auth, request, credential }: CallContext): CardReader {
    const { credentials } = this.#deps;
    return {
      credential,
      scope: readerScope(credential),
      renew: (refused, date) => renewCredential(credentials, auth, refused, request, date),
    };
  }
}

function streams({ capabilities }: Readonly<Record<string, unknown>>): boolean {
  return (capabilities as { streaming?: unknown } | null | undefined)?.streaming === true;
}

async function looked(warning: string, look: () => Promise<Lookup>): Promise<Lookup> {
  try {
    return await look();
  } catch {
    return { value: null, warning };
  }
}
