import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import { discard } from '../shared/body.js';
import { withTimeout } from '../shared/deadline.js';
import { type AgentBffError, isAgentBffError, UpstreamError } from '../shared/errors.js';
import { parsedJson } from '../shared/json.js';
import { withoutTrailingSlashes } from '../shared/paths.js';
import { readAhead } from '../upstream/body-bytes.js';
import { type Found, Lookups, type LookupsDependencies, type LookupTask } from '../upstream/lookups.js';
import type { Caller, CallTimeouts, Endpoint, PlatformCall } from '../upstream/platform-call.js';
import {
  addressFacts,
  AGENT,
  type Counterpart,
  isPage,
  noResponse,
  platformError,
  sentence,
} from '../upstream/platform-error.js';
import {
  type AgentCardJson,
  cardInterfaces,
  interfacePath,
  CardVersions,
  isAgentCard,
  MAX_CARD_BYTES,
  MAX_CARD_VALUES,
} from './agent-card.js';

export interface AgentCardSourceDependencies extends LookupsDependencies {
  readonly call: PlatformCall;
  readonly timeouts: CallTimeouts;
  readonly agent: Endpoint;
  /** The configured address of the card (`agentCardUrl`), which is tried first. */
  readonly cardAddress: Endpoint | undefined;
}

/** The agent's own card, and the address it was found at. */
export interface FoundCard {
  readonly card: AgentCardJson;
  readonly address: Endpoint;
  /** True if it was found in a parent folder and no interface has the agent's path: it may describe another agent. */
  readonly isDoubtful: boolean;
  /** Length of its text. */
  readonly bytes: number;
}

interface StoredCard extends FoundCard {
  readonly etag: string | undefined;
  readonly lifeMs: number;
}

/** The last search stored under one cache key; failures are stored for unknown versions, and if no address has a card. */
interface Search {
  readonly version: string;
  readonly askedAt: number;
  readonly stored?: StoredCard;
  readonly failure?: unknown;
}

/** A response without a card, and its text for the log. */
interface CardlessResponse {
  readonly response: HttpResponse;
  readonly said: Promise<string>;
}

/** The outcome at one address: a card, a response without one, or no response. */
type Visit = { readonly address: Endpoint } & (
  | { readonly kind: 'card'; readonly stored: StoredCard }
  | ({ readonly kind: 'cardless' } & CardlessResponse)
  | { readonly kind: 'silent'; readonly silence: AgentBffError }
);

/** The combined result of all addresses. */
type Discovery =
  | { readonly kind: 'found'; readonly stored: StoredCard }
  /**
   * `silence` is set when the agent did not respond at all; `best` when a response explains more than the absence of a
   * card, above all a 401.
   */
  | {
      readonly kind: 'missing';
      readonly silence: AgentBffError | undefined;
      readonly best: CardlessResponse | undefined;
      readonly log: string;
    };

/** Characters logged of one address's response, so that the others fit too. */
const MAX_EXCERPT = 400;
const DEFAULT_LIFE_MS = 60_000;
const MAX_LIFE_MS = 300_000;
/** Time for which the absence of a card is cached. */
const MISSING_MS = 30_000;
/** Minimum time between two searches for unknown versions, per caller. */
const MADE_UP_EVERY_MS = 1_000;

/** The addresses of the card, for errors; `agentCardUrl` may already be set. */
const CARD: Counterpart = {
  name: 'agent',
  fields: ['a2aUrl', 'agentCardUrl'],
  check: 'check "a2aUrl" in configureServer, or set "agentCardUrl" to the address of the card',
  expected: 'an agent card',
};
const CONFIGURED_CARD: Counterpart = { ...CARD, check: 'check "a2aUrl" and "agentCardUrl" in configureServer' };

/**
 * Finds the agent's card and caches it for as long as the agent allows (decision 30). Discovery tries up to eight
 * addresses at once, takes the nearest card, and then remembers the address that worked.
 *
 * Visitors choose versions. Versions that neither a specification nor the agent's card names share one cache entry per
 * caller. They are requested unchanged, but at most once a second; until then callers get the last result (decision
 * 83).
 */
export class AgentCardSource {
  readonly #deps: AgentCardSourceDependencies;
  /** All addresses except the configured one. */
  readonly #addresses: readonly Endpoint[];
  /** The addresses in parent folders, which may hold another agent's card. */
  readonly #shared: ReadonlySet<Endpoint>;
  readonly #versions = new CardVersions();
  readonly #lookups: Lookups<Search>;
  #winner: Endpoint | undefined;

  constructor(dependencies: AgentCardSourceDependencies) {
    this.#deps = dependencies;
    const { own, shared } = cardAddresses(dependencies.agent);
    this.#addresses = [...own, ...shared];
    this.#shared = new Set(shared);
    this.#lookups = new Lookups(dependencies);
  }

  /**
   * The card in a version of the protocol (`''`: the agent's choice), for one caller. Callers with the same version and
   * identity share one request.
   *
   * @throws UpstreamError when no address returns a card in time; and any error of `admit`.
   * @throws ServiceAuthError `service_token_rejected` when the platform refuses the credential, even after renewal.
   */
  async find(version: string, caller: Caller, admit?: () => Promise<void>): Promise<FoundCard> {
    const isKnown = this.#versions.has(version);
    const search = await this.#lookups.get({
      counterpart: AGENT,
      name: isKnown ? `card ${version}` : 'card',
      credential: caller.credential,
      sharedBy: caller.auth.sharesLookups,
      ask: async (deadline, last) => {
        const known = last?.version === version ? last.stored : undefined;
        const stored = await this.#look(version, caller, known, deadline);
        this.#versions.learn(stored.card);
        const { lifeMs, bytes } = stored;
        return { value: { version, askedAt: this.#deps.clock.now(), stored }, lifeMs, bytes };
      },
      ...(isKnown ? { failed: (failure) => this.#absent(version, failure) } : this.#madeUp(version)),
      admit,
    });
    if (search.stored === undefined) throw search.failure;
    return search.stored;
  }

  /** The caching rules for an unknown version. */
  #madeUp(version: string): Pick<LookupTask<Search>, 'isFresh' | 'failed'> {
    const now = (): number => this.#deps.clock.now();
    return {
      isFresh: (last, until) =>
        (last.version === version && now() < until) ||
        (last.askedAt <= now() && now() < last.askedAt + MADE_UP_EVERY_MS),
      failed: (failure) => ({ value: { version, askedAt: now(), failure }, lifeMs: 0, bytes: 0 }),
    };
  }

  /** Caches that there is no card; rethrows any other failure. */
  #absent(version: string, failure: unknown): Found<Search> {
    if (!isMissingCard(failure)) throw failure;
    return { value: { version, askedAt: this.#deps.clock.now(), failure }, lifeMs: MISSING_MS, bytes: 0 };
  }

  async #look(
    version: string,
    caller: Caller,
    stored: StoredCard | undefined,
    deadline: AbortSignal,
  ): Promise<StoredCard> {
    const { credential } = caller;
    let discovery = await this.#discover(version, credential, stored, deadline);
    let isOfReader = true;
    const refusal = refusalIn(discovery);
    const renewed = refusal && (await this.#deps.call.renew(caller, refusal));
    if (renewed !== undefined) {
      // A renewed token may be for another organization, whose card must not be cached for this one.
      isOfReader = renewed.owner.reader === credential.owner.reader;
      discovery = await this.#discover(version, renewed, isOfReader ? stored : undefined, deadline);
    }
    if (discovery.kind === 'found') {
      if (!discovery.stored.isDoubtful) this.#winner = discovery.stored.address;
      return isOfReader ? discovery.stored : { ...discovery.stored, etag: undefined, lifeMs: 0 };
    }
    const { silence, best, log } = discovery;
    if (silence !== undefined) throw silence;
    throw await missingCard(best, credential, log, this.#deps.cardAddress !== undefined);
  }

  /**
   * Tries the configured address, then the last that worked, then all others at once. An origin that does not respond
   * at all is not tried again.
   */
  async #discover(
    version: string,
    credential: Credential,
    stored: StoredCard | undefined,
    deadline: AbortSignal,
  ): Promise<Discovery> {
    const { cardAddress, lookupMs } = this.#deps;
    const last = stored?.isDoubtful === false ? stored.address : undefined;
    const first = [...new Set([cardAddress, last, this.#winner])].filter((address) => address !== undefined);
    const visit = (address: Endpoint, signal = deadline): Promise<Visit> =>
      this.#visit(address, version, credential, address === stored?.address ? stored : undefined, signal);
    const visits: Visit[] = [];
    const isSilent = ({ origin }: Endpoint): boolean =>
      visits.some(({ kind, address }) => kind === 'silent' && address.origin === origin);
    for (const address of first) {
      if (isSilent(address)) continue;
      // Half the time, which leaves the rest for the agent's own addresses.
      const half = address === cardAddress ? this.#deps.deadline(Math.ceil(lookupMs / 2)) : undefined;
      const outcome = await visit(address, half);
      if (outcome.kind === 'card') return { kind: 'found', stored: outcome.stored };
      visits.push(outcome);
    }
    if (!isSilent(this.#deps.agent)) {
      const others = this.#addresses.filter((address) => !first.includes(address)).map((address) => visit(address));
      const nearest = await nearestCard(others, this.#deps.deadline(Math.ceil(lookupMs / 2)));
      if (nearest !== undefined) return { kind: 'found', stored: nearest };
      visits.push(...(await Promise.all(others)));
    }
    return this.#missing(visits);
  }

  async #missing(visits: readonly Visit[]): Promise<Discovery> {
    const log = visits.map(async (visit) =>
      visit.kind === 'cardless'
        ? `${visit.address.path}: ${await visit.said}`
        : `${visit.address.path}: ${visit.kind === 'silent' ? visit.silence.logDetail() : 'a card'}`,
    );
    const own = visits.filter(({ address }) => this.#isAgents(address));
    const responses = own.filter((visit) => visit.kind === 'cardless');
    const silent = own.find((visit) => visit.kind === 'silent');
    const refusal = responses.find(({ response }) => response.status === 401);
    return {
      kind: 'missing',
      silence: responses.length === 0 ? silent?.silence : undefined,
      best: refusal ?? responses.find(({ response }) => saysMore(response)),
      log: (await Promise.all(log)).join('; '),
    };
  }

  async #visit(
    address: Endpoint,
    version: string,
    credential: Credential,
    known: StoredCard | undefined,
    signal: AbortSignal,
  ): Promise<Visit> {
    const response = await this.#ask(address, version, credential, known?.etag, signal);
    if (isAgentBffError(response)) return { kind: 'silent', address, silence: response };
    const found = await this.#read(response, address, known);
    if ('card' in found) return { kind: 'card', address, stored: found };
    return { kind: 'cardless', address, response: found, said: this.#said(found, credential) };
  }

  /** The response of one address, or the error if there was none. */
  async #ask(
    address: Endpoint,
    version: string,
    credential: Credential,
    etag: string | undefined,
    signal: AbortSignal,
  ): Promise<HttpResponse | AgentBffError> {
    const { call, timeouts } = this.#deps;
    const own = {
      accept: 'application/json',
      ...(version !== '' && { 'a2a-version': version }),
      ...(etag !== undefined && { 'if-none-match': etag }),
    };
    // Without the signal of a caller, because everyone waiting shares the card.
    const message = { counterpart: AGENT, timeouts, ...address, method: 'GET', browser: {}, own, body: null, signal };
    try {
      return await call.dispatch(message, this.#isAgents(address) ? credential : undefined);
    } catch (error) {
      if (!isAgentBffError(error)) throw error;
      if (!signal.aborted) return error;
      return noResponse({ kind: 'failure', reason: 'timeout', log: error.logDetail() }, AGENT, true);
    }
  }

  /** True if the address is on the agent's origin. `agentCardUrl` may belong to a third party, which must not get the credential. */
  #isAgents({ origin }: Endpoint): boolean {
    return origin.toLowerCase() === this.#deps.agent.origin.toLowerCase();
  }

  async #said(response: HttpResponse, credential: Credential): Promise<string> {
    const text = await this.#deps.call.errors.said({ response, credential });
    return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
  }

  /** The card in a response. If it has none, the response with the unread rest of its body. */
  async #read(
    response: HttpResponse,
    address: Endpoint,
    known: StoredCard | undefined,
  ): Promise<StoredCard | HttpResponse> {
    const { status, headers, body } = response;
    if (status === 304 && known !== undefined) {
      discard(body);
      return { ...known, lifeMs: lifeOf(headers) ?? known.lifeMs };
    }
    if (status !== 200 || headers['content-encoding'] !== undefined) return response;
    const read = await readAhead(body, MAX_CARD_BYTES);
    if (!read.complete) return { ...response, body: read.body };
    const card = parsedJson(new TextDecoder().decode(read.bytes), MAX_CARD_VALUES);
    if (!isAgentCard(card)) return { ...response, body: read.bytes };
    const lifeMs = lifeOf(headers) ?? DEFAULT_LIFE_MS;
    const isDoubtful = this.#shared.has(address) && !namesPath(card, this.#deps.agent);
    return { card, address, isDoubtful, etag: tagOf(headers), lifeMs, bytes: read.bytes.length };
  }
}

function refusalIn(discovery: Discovery): HttpResponse | undefined {
  const response = discovery.kind === 'missing' ? discovery.best?.response : undefined;
  return response?.status === 401 ? response : undefined;
}

const NAMES = ['agent-card.json', 'agent.json'] as const;
/** The maximum number of addresses tried. */
const MAX_ADDRESSES = 8;

/**
 * The well-known addresses of agent cards, nearest first: below the agent's path; by the agent's name, as Mastra
 * (`/api/a2a/helper`: `/api/.well-known/helper/agent-card.json`) and VoltAgent do; in each parent folder; at the root,
 * also with the query that LangGraph uses.
 */
function cardAddresses({ origin, path }: Endpoint): Readonly<Record<'own' | 'shared', readonly Endpoint[]>> {
  const base = withoutTrailingSlashes(path);
  const folders = base.split('/');
  const above = (levels: number): string => folders.slice(0, -levels).join('/');
  const name = folders.at(-1) ?? '';
  const isNamed = folders.length > 2;
  const [current, former] = NAMES;
  const own = [
    `${base}/.well-known/${current}`,
    `${base}/.well-known/${former}`,
    isNamed ? `${above(2)}/.well-known/${name}/${current}` : '',
  ];
  const shared = [
    ...[1, 2, 3].map((levels) => `${above(levels)}/.well-known/${current}`),
    `/.well-known/${current}`,
    `/.well-known/${former}`,
    folders.at(-2) === 'a2a' ? `/.well-known/${current}?assistant_id=${name}` : '',
  ];
  const endpoints = (paths: readonly string[]): readonly Endpoint[] =>
    paths.filter((one, index) => one !== '' && paths.indexOf(one) === index).map((one) => ({ origin, path: one }));
  const others = shared.filter((one) => !own.includes(one));
  return { own: endpoints(own), shared: endpoints(others).slice(0, MAX_ADDRESSES - own.length) };
}

/** True if one of the card's interfaces has the agent's path, on any host: an agent behind a gateway knows only its internal one. */
function namesPath(card: AgentCardJson, agent: Endpoint): boolean {
  const path = interfacePath(agent.path, agent);
  return cardInterfaces(card).some(({ url }) => interfacePath(url, agent) === path);
}

/** The nearest card, a doubtful one last; once `patience` is aborted, the nearest found by then. */
function nearestCard(visits: readonly Promise<Visit>[], patience: AbortSignal): Promise<StoredCard | undefined> {
  const cards: StoredCard[] = [];
  const best = (): StoredCard | undefined => cards.find((card) => card?.isDoubtful === false) ?? cards.find(Boolean);
  const inOrder = async (): Promise<StoredCard | undefined> => {
    for (const visit of visits) {
      const outcome = await visit;
      if (outcome.kind === 'card' && !outcome.stored.isDoubtful) return outcome.stored;
    }
    return best();
  };
  for (const [index, visit] of visits.entries()) {
    const note = (outcome: Visit): void => {
      if (outcome.kind === 'card') cards[index] = outcome.stored;
    };
    // The first failure is that of `inOrder`.
    void visit.then(note, () => undefined);
  }
  const nearest = inOrder();
  return withTimeout(patience, nearest).catch((error: unknown) => {
    if (error !== patience.reason) throw error;
    return best() ?? nearest;
  });
}

/** True for the error of an agent that responds without a card. */
export function isMissingCard(error: unknown): boolean {
  return isAgentBffError(error) && error.code === 'upstream_invalid_response';
}

/** The lifetime of a card in milliseconds, within our own bounds; `undefined` if the agent sets none (RFC 9111 §5.2.2). */
function lifeOf(headers: HeaderFields): number | undefined {
  const control = String(headers['cache-control'] ?? '').toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(control)) return 0;
  const seconds = /\bmax-age="?(\d+)/.exec(control)?.[1];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, MAX_LIFE_MS);
}

/** The entity tag for a conditional request; absent for a card that must not be stored. */
function tagOf(headers: HeaderFields): string | undefined {
  const { etag } = headers;
  const stored = !/\bno-store\b/i.test(String(headers['cache-control'] ?? ''));
  return stored && typeof etag === 'string' ? etag : undefined;
}

/** True if a response explains why there is no card: a page, a redirect, a rejected caller, or a broken agent. */
function saysMore({ status, headers }: HttpResponse): boolean {
  if (status < 300) return isPage(headers);
  return status < 400 ? status !== 304 : status === 403 || status === 429 || status >= 500;
}

/** The error when no agent card was found, made from the most specific response if there is one. `log` has the texts of all responses. */
async function missingCard(
  best: CardlessResponse | undefined,
  credential: Credential,
  log: string,
  isConfigured: boolean,
): Promise<AgentBffError> {
  const counterpart = isConfigured ? CONFIGURED_CARD : CARD;
  if (best !== undefined) {
    return platformError({ response: best.response, credential }, counterpart, log, [], await best.said);
  }
  const facts = addressFacts('No agent card found.', sentence(counterpart.check), counterpart.fields);
  return new UpstreamError('upstream_invalid_response', { ...facts, log });
}
