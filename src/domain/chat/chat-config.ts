import type { RequestContext } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { type Credential, isVaried } from '../credentials/credential.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { isAgentBffError } from '../shared/errors.js';
import { LruMap } from '../shared/lru-map.js';
import { type CallContext, type Endpoint, requireEndpoint } from '../upstream/platform-call.js';
import { explained, type PlatformDirectory } from '../upstream/platform-directory.js';
import { type AgentCardJson, type CardPolicy, rewrittenCard } from './agent-card.js';
import {
  AgentCardSource,
  type AgentCardSourceDependencies,
  type FoundCard,
  isMissingCard,
} from './agent-card-source.js';

/**
 * The response of the config route (spec §2.2).
 *
 * @public
 */
export interface ChatConfigRecord {
  /** The agent's card, rewritten so that its reader talks to the site. Null where the agent shows none; it may be chatted with all the same. */
  readonly agentCard: Readonly<Record<string, unknown>> | null;
  /** Null when there is none. */
  readonly serviceProjectId: string | null;
  /** Custom properties for the page, checked (see `trustBrandCss`). Empty when there is none. */
  readonly brandCss: string;
  /** Origins of `mediaOrigins`, which widgets and files may be loaded from besides the site's own. */
  readonly mediaOrigins: readonly string[];
  /** True if the card says that the agent streams its responses. */
  readonly supportsStreaming: boolean;
  /** Path of the chat route, such as `/api/a2a`. */
  readonly a2aEndpoint: string;
  /** Codes of what could not be looked up. */
  readonly warnings: readonly string[];
}

/** The parts of the chat configuration. */
export interface ChatConfigDependencies extends Omit<AgentCardSourceDependencies, 'agent'> {
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  /** Origin of the platform, which cards do not show. */
  readonly platformOrigin?: string | undefined;
  readonly mediaOrigins: readonly string[];
  readonly directory: Pick<PlatformDirectory, 'project' | 'brand'>;
  readonly telemetry: Pick<Telemetry, 'emit'>;
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

/** A record for one caller, version and endpoint, with its inputs besides the card. */
interface Kept<Value> {
  readonly value: Value;
  readonly parts: readonly unknown[];
}

/** Gives the browser what it needs before its first message (spec §2.2). */
export class ChatConfig {
  readonly #deps: ChatConfigDependencies;
  readonly #kept: LruMap<Kept<object>>;
  /** For callers whose keys visitors can create at will: they evict only each other. */
  readonly #varied: LruMap<Kept<object>>;
  readonly #names = new ObjectNames();
  #cards: AgentCardSource | undefined;

  constructor(dependencies: ChatConfigDependencies) {
    this.#deps = dependencies;
    this.#kept = new LruMap(dependencies);
    this.#varied = new LruMap(dependencies);
  }

  /**
   * The record for one caller and one protocol version (`''`: the browser named none); the same object while nothing in it has changed.
   * What cannot be looked up becomes a warning, the card too if the agent responds and shows none. `admit` is asked before the agent is, and may refuse by an error.
   *
   * @throws ServiceAuthError and SessionError when there is no credential.
   * @throws UpstreamError when the agent does not respond or refuses the caller, or its card cannot be rewritten.
   */
  async record(
    version: string,
    request: RequestContext,
    auth: RouteAuth,
    entrance: ChatEndpoint,
    admit?: () => Promise<void>,
  ): Promise<ChatConfigRecord> {
    const { call, agent, cardAddress, directory, mediaOrigins } = this.#deps;
    requireEndpoint('a2aUrl', agent);
    const caller = await call.caller(auth, request);
    const search = this.#find(version, caller, admit).catch((error: unknown) => this.#noCard(error));
    // Nor does a visitor who is refused the card cost a look-up by values made up for it.
    if (isVaried(caller.credential)) await search;
    const [found, project, brand] = await Promise.all([search, directory.project(caller), directory.brand(caller)]);
    const missed =
      cardAddress !== undefined && found?.address !== cardAddress ? 'agent_card_url_unavailable' : undefined;
    const doubt = found?.isDoubtful === true ? 'agent_card_doubtful' : undefined;
    const absent = found === undefined ? 'agent_card_unavailable' : undefined;
    const warnings = [missed, doubt, absent, project.warning, brand.warning].filter((code) => code !== undefined);
    const brandCss = brand.value ?? '';
    const parts = [project.value, brandCss, warnings.join(' ')];
    const recordOf = (agentCard: ChatConfigRecord['agentCard']): ChatConfigRecord => ({
      agentCard,
      serviceProjectId: project.value,
      brandCss,
      mediaOrigins,
      supportsStreaming: agentCard !== null && streams(agentCard),
      a2aEndpoint: entrance.path,
      warnings,
    });
    if (found === undefined) return recordOf(null);
    return this.#once('record', caller.credential, found, entrance, parts, () =>
      recordOf(this.#rewritten(found, entrance)),
    );
  }

  /** Tells operators that there is no card; any other failure is thrown. */
  #noCard(error: unknown): undefined {
    if (!isAgentBffError(error) || !isMissingCard(error)) throw error;
    this.#deps.telemetry.emit({ type: 'warning', code: 'agent_card_unavailable', ...explained(error) });
  }

  /**
   * The rewritten card alone, as `record` has it; the same object while it has not changed.
   *
   * @throws ServiceAuthError, SessionError and UpstreamError as `record` does.
   */
  async agentCard(
    version: string,
    request: RequestContext,
    auth: RouteAuth,
    entrance: ChatEndpoint,
    admit?: () => Promise<void>,
  ): Promise<AgentCardJson> {
    const { call, agent } = this.#deps;
    requireEndpoint('a2aUrl', agent);
    const caller = await call.caller(auth, request);
    const found = await this.#find(version, caller, admit);
    return this.#once('card', caller.credential, found, entrance, [], () => this.#rewritten(found, entrance));
  }

  /**
   * The agent's own card, for one caller and one protocol version.
   *
   * @throws UpstreamError when there is none.
   */
  async card(version: string, caller: CallContext): Promise<AgentCardJson> {
    return (await this.#find(version, caller)).card;
  }

  /**
   * The address at which that card was found.
   *
   * @throws as `card` does.
   */
  async cardAddress(version: string, request: RequestContext, auth: RouteAuth): Promise<string> {
    const { address } = await this.#find(version, await this.#deps.call.caller(auth, request));
    return address.origin + address.path;
  }

  /** The record of the same parts, cached or new. A card is another object for each caller and version, and after each new response of the agent. */
  #once<Value extends object>(
    what: string,
    credential: Credential,
    found: FoundCard,
    entrance: ChatEndpoint,
    parts: readonly (string | null)[],
    make: () => Value,
  ): Value {
    const kept = isVaried(credential) ? this.#varied : this.#kept;
    const { url, policy, bindings } = entrance;
    const key = [what, this.#names.of(found.card), this.#names.of(policy), ...bindings, url].join(' ');
    const known = kept.get(key);
    if (known !== undefined && parts.every((part, index) => part === known.parts[index])) return known.value as Value;
    const value = make();
    // Twice: as the object, and as the text it is sent as.
    kept.set(key, { value, parts }, 2 * (found.bytes + parts.join('').length));
    return value;
  }

  #rewritten({ card }: FoundCard, entrance: ChatEndpoint): Record<string, unknown> {
    const { origin: agentOrigin } = requireEndpoint('a2aUrl', this.#deps.agent);
    return rewrittenCard(card, { ...entrance, agentOrigin, platformOrigin: this.#deps.platformOrigin });
  }

  #find(version: string, caller: CallContext, admit?: () => Promise<void>): Promise<FoundCard> {
    this.#cards ??= new AgentCardSource({ ...this.#deps, agent: requireEndpoint('a2aUrl', this.#deps.agent) });
    return this.#cards.find(version, caller, admit);
  }
}

/** Short names for objects, each its own for as long as it lives. */
class ObjectNames {
  readonly #names = new WeakMap<object, number>();
  #last = 0;

  of(object: object): number {
    const known = this.#names.get(object);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#names.set(object, this.#last);
    return this.#last;
  }
}

function streams({ capabilities }: Readonly<Record<string, unknown>>): boolean {
  return (capabilities as { streaming?: unknown } | null | undefined)?.streaming === true;
}
