import type { RequestContext } from '../../ports/http.js';
import type { MemoryMap } from '../../ports/memory.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { isVaried } from '../credentials/credential.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { isAgentBffError } from '../shared/errors.js';
import { type Caller, type Endpoint, requireEndpoint } from '../upstream/platform-call.js';
import { explained, type PlatformDirectory } from '../upstream/platform-directory.js';
import {
  type AgentCardJson,
  type CardInterface,
  cardInterfaces,
  type CardPolicy,
  rewrittenCard,
} from './agent-card.js';
import {
  AgentCardSource,
  type AgentCardSourceDependencies,
  type FoundCard,
  isMissingCard,
} from './agent-card-source.js';

/**
 * The response of the config route.
 *
 * @public
 */
export interface ChatConfigRecord {
  /** The agent's card, rewritten so that its readers talk to the site. Null if the agent has none; the chat works without. */
  readonly agentCard: Readonly<Record<string, unknown>> | null;
  /** Null if there is none. */
  readonly serviceProjectId: string | null;
  /** Custom properties for the page, checked (see `trustBrandCss`). Empty if there are none. */
  readonly brandCss: string;
  /** Origins of `mediaOrigins`: besides the site's own, those that widgets and files may be loaded from. */
  readonly mediaOrigins: readonly string[];
  /** True if the card says that the agent streams its responses. */
  readonly supportsStreaming: boolean;
  /** Path of the chat route, such as `/api/a2a`. */
  readonly a2aEndpoint: string;
  /** Codes of failed look-ups. */
  readonly warnings: readonly string[];
}

export interface ChatConfigDependencies extends Omit<AgentCardSourceDependencies, 'agent'> {
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  /** Origin of the platform, removed from cards. */
  readonly platformOrigin?: string | undefined;
  readonly mediaOrigins: readonly string[];
  readonly directory: Pick<PlatformDirectory, 'project' | 'brand'>;
  readonly telemetry: Pick<Telemetry, 'emit'>;
}

/** The address of the chat route, and what visitors may do there. */
export interface ChatEndpoint {
  /** Full address of the chat route. */
  readonly url: string;
  /** Its path. */
  readonly path: string;
  readonly policy: CardPolicy;
  readonly bindings: readonly string[];
}

/** A cached record for one caller, version and endpoint, with its inputs besides the card. */
interface Kept<Value> {
  readonly value: Value;
  readonly parts: readonly unknown[];
}

/** Builds the record the browser needs before its first message. */
export class ChatConfig {
  readonly #deps: ChatConfigDependencies;
  readonly #records: MemoryMap<Kept<object>>;
  readonly #names = new ObjectNames();
  #cards: AgentCardSource | undefined;

  constructor(dependencies: ChatConfigDependencies) {
    this.#deps = dependencies;
    this.#records = dependencies.memory.map();
  }

  /**
   * The record for one caller and one protocol version (`''`: the browser named none); the same object until something
   * in it changes. Failures become warnings, a missing card too. `admit` is called before the agent is, and may reject
   * the request by throwing.
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
    // A visitor who is refused the card must not cause look-ups with made-up values either.
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
    return this.#once('record', found, entrance, parts, () => recordOf(this.#rewritten(found, entrance)));
  }

  /** Reports the missing card to operators; rethrows any other failure. */
  #noCard(error: unknown): undefined {
    if (!isAgentBffError(error) || !isMissingCard(error)) throw error;
    this.#deps.telemetry.emit({ type: 'warning', code: 'agent_card_unavailable', ...explained(error) });
  }

  /**
   * The rewritten card alone, as in `record`; the same object until it changes.
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
    return this.#once('card', found, entrance, [], () => this.#rewritten(found, entrance));
  }

  /**
   * The agent's own card, for one caller and one protocol version.
   *
   * @throws UpstreamError when there is none.
   */
  async card(version: string, caller: Caller): Promise<AgentCardJson> {
    return (await this.#find(version, caller)).card;
  }

  /**
   * The address of that card, and the interfaces in it as the agent wrote them.
   *
   * @throws as `card` does.
   */
  async cardFacts(
    version: string,
    request: RequestContext,
    auth: RouteAuth,
  ): Promise<{ readonly address: string; readonly interfaces: readonly CardInterface[] }> {
    const { address, card } = await this.#find(version, await this.#deps.call.caller(auth, request));
    return { address: address.origin + address.path, interfaces: cardInterfaces(card) };
  }

  /**
   * The record made of these parts, cached or new. Cards are compared by identity: each caller, version and new
   * response of the agent has its own object.
   */
  #once<Value extends object>(
    what: string,
    found: FoundCard,
    entrance: ChatEndpoint,
    parts: readonly (string | null)[],
    make: () => Value,
  ): Value {
    const { url, policy, bindings } = entrance;
    const key = [what, this.#names.of(found.card), this.#names.of(policy), ...bindings, url].join(' ');
    const known = this.#records.get(key);
    if (known !== undefined && parts.every((part, index) => part === known.parts[index])) return known.value as Value;
    const value = make();
    // Counted twice: as the object, and as the text it is serialised to.
    const bytes = 2 * (found.bytes + parts.join('').length);
    this.#records.set(key, { value, parts }, bytes, this.#deps.clock.now() + RECORD_MS);
    return value;
  }

  #rewritten({ card }: FoundCard, entrance: ChatEndpoint): Record<string, unknown> {
    const { origin: agentOrigin } = requireEndpoint('a2aUrl', this.#deps.agent);
    return rewrittenCard(card, { ...entrance, agentOrigin, platformOrigin: this.#deps.platformOrigin });
  }

  #find(version: string, caller: Caller, admit?: () => Promise<void>): Promise<FoundCard> {
    this.#cards ??= new AgentCardSource({ ...this.#deps, agent: requireEndpoint('a2aUrl', this.#deps.agent) });
    return this.#cards.find(version, caller, admit);
  }
}

/** Milliseconds after which a record is rebuilt, so that the record of an old card is dropped. */
const RECORD_MS = 600_000;

/** Short names for objects, unique while the object lives. */
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
