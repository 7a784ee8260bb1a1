import type { Clock } from '../../ports/clock.js';
import type { HeaderFields, HttpResponse, HttpUpstream, UpstreamOutcome } from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import { isVaried } from '../credentials/credential-scope.js';
import { parsedJson } from '../shared/json.js';
import { readAhead } from '../upstream/body-bytes.js';
import { discard } from '../shared/body.js';
import { type LookupTime, within } from '../upstream/deadline.js';
import type { ErrorExcerpts } from '../upstream/error-excerpts.js';
import { AGENT, responseOrThrow } from '../upstream/platform-call.js';
import type { Endpoint } from '../upstream/upstream-request.js';
import { LruMap, type MapBounds } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import { type AgentCardJson, CardVersions, isAgentCard, MAX_CARD_VALUES } from './agent-card.js';
import { withoutTrailingSlashes } from '../shared/paths.js';
import { type CardlessResponse, missingCard, saysMore } from './missing-card.js';

/** What the source is made of. */
export interface AgentCardSourceDependencies extends LookupTime, MapBounds {
  readonly clock: Clock;
  readonly upstream: HttpUpstream;
  readonly excerpts: ErrorExcerpts;
  readonly agent: Endpoint;
  /** Where the card is by configuration (`agentCardUrl`); asked first. */
  readonly cardAddress: Endpoint | undefined;
  /** A short name for a text that does not tell the text. */
  readonly hash: (text: string) => string;
  readonly headersMs: number;
  readonly bodyIdleMs: number;
}

/** Who asks for the card. */
export interface CardReader {
  readonly credential: Credential;
  /** Tells readers apart who may be shown different cards. */
  readonly scope: string;
  /** A fresh credential after a refusal; absent when there is nothing to renew. */
  readonly renew: (refused: Credential, platformDate: string) => Promise<Credential | undefined>;
  /** Asked before the agent is; its error is the reader's alone. Absent where everybody may ask. */
  readonly admit?: (() => Promise<void>) | undefined;
}

/** The agent's own card, and where it was. */
export interface FoundCard {
  readonly card: AgentCardJson;
  readonly address: Endpoint;
  /** Length of its text. */
  readonly bytes: number;
}

interface StoredCard extends FoundCard {
  readonly etag: string | undefined;
  readonly lifeMs: number;
  readonly staleAt: number;
}

/** The last that was asked for in one place, and what came of it; failures are known of made-up versions only. */
interface Entry {
  readonly version: string;
  readonly askedAt: number;
  readonly stored?: StoredCard;
  readonly failure?: unknown;
}

/** What all addresses together said. */
type Discovery =
  | { readonly kind: 'found'; readonly stored: StoredCard }
  /** `silence` is there when the agent did not answer at all, `best` when a response of it says more than that there is no card; a 401 most of all. */
  | {
      readonly kind: 'missing';
      readonly silence: UpstreamOutcome | undefined;
      readonly best: CardlessResponse | undefined;
      readonly log: string;
    };

const MAX_CARD = 1_048_576;
/** Characters of what one address said, so that there is room for what the others did. */
const MAX_EXCERPT = 400;
const DEFAULT_LIFE_MS = 60_000;
const MAX_LIFE_MS = 300_000;
/** Between two searches for versions nobody knows, for one caller. */
const MADE_UP_EVERY_MS = 1_000;

/**
 * Finds the agent's card and keeps it for as long as the agent allows (decisions 30 and 31).
 * Discovery asks up to five addresses once and then remembers the one that answered.
 *
 * Versions are strangers' words: those that neither a specification nor the agent's card names share one place for each caller. They are asked for
 * as they are, but once a second at most; meanwhile the last result is that of all (decision 83).
 */
export class AgentCardSource {
  readonly #deps: AgentCardSourceDependencies;
  /** All but the configured one. */
  readonly #addresses: readonly Endpoint[];
  readonly #versions = new CardVersions();
  readonly #entries: LruMap<Entry>;
  /** For readers strangers can make up by what they send along: they push out nobody else. */
  readonly #varied: LruMap<Entry>;
  readonly #searches = new SingleFlight<StoredCard>();
  #winner: Endpoint | undefined;

  constructor(dependencies: AgentCardSourceDependencies) {
    this.#deps = dependencies;
    this.#addresses = cardAddresses(dependencies.agent);
    this.#entries = new LruMap(dependencies);
    this.#varied = new LruMap(dependencies);
  }

  /**
   * The card in a version of the protocol (`''`: as the agent likes), for one caller.
   * Callers of the same version and identity share one request.
   *
   * @throws UpstreamError when no address gives a card, or none in time; and what the reader's `admit` throws.
   * @throws ServiceAuthError `service_token_rejected` when the platform refuses the credential, also a renewed one.
   */
  async find(version: string, reader: CardReader): Promise<FoundCard> {
    const isKnown = this.#versions.has(version);
    const key = this.#deps.hash(JSON.stringify([isKnown ? version : null, reader.scope]));
    const entry = this.#kept(reader).get(key);
    const kept = entry && this.#withoutSearch(entry, version, isKnown);
    if (kept !== undefined) return kept;
    // Who waits for a search that runs already costs the agent nothing.
    if (this.#searches.running(key) === undefined) await reader.admit?.();
    const stored = entry?.version === version ? entry.stored : undefined;
    return this.#searches.run(key, () => this.#search(key, version, isKnown, reader, stored));
  }

  #kept({ credential }: CardReader): LruMap<Entry> {
    return isVaried(credential) ? this.#varied : this.#entries;
  }

  /** The card that needs no search. */
  #withoutSearch(
    { version: kept, askedAt, stored, failure }: Entry,
    version: string,
    isKnown: boolean,
  ): StoredCard | undefined {
    const now = this.#deps.clock.now();
    if (stored !== undefined && kept === version && now < stored.staleAt) return stored;
    if (isKnown || now < askedAt || now >= askedAt + MADE_UP_EVERY_MS) return undefined;
    if (stored === undefined) throw failure;
    return stored;
  }

  async #search(
    key: string,
    version: string,
    isKnown: boolean,
    reader: CardReader,
    stored: StoredCard | undefined,
  ): Promise<StoredCard> {
    // The search has a deadline of its own: with its first reader's patience, everybody's would end.
    const deadline = this.#deps.deadline(this.#deps.lookupMs);
    try {
      const found = await within(deadline, AGENT, this.#look(version, reader, stored, deadline));
      this.#versions.learn(found.card);
      this.#kept(reader).set(key, { version, askedAt: this.#deps.clock.now(), stored: found }, found.bytes);
      return found;
    } catch (failure) {
      if (!isKnown) this.#kept(reader).set(key, { version, askedAt: this.#deps.clock.now(), failure }, 0);
      throw failure;
    }
  }

  async #look(
    version: string,
    reader: CardReader,
    stored: StoredCard | undefined,
    deadline: AbortSignal,
  ): Promise<StoredCard> {
    const { credential } = reader;
    let discovery = await this.#discover(version, credential, stored, deadline);
    let isOfReader = true;
    const refusal = refusalIn(discovery);
    if (refusal !== undefined) {
      const renewed = await reader.renew(credential, String(refusal.headers['date'] ?? ''));
      if (renewed !== undefined) {
        // A renewed token may be for another organization, whose card is not kept for this one.
        isOfReader = renewed.owner.reader === credential.owner.reader;
        discovery = await this.#discover(version, renewed, isOfReader ? stored : undefined, deadline);
      }
    }
    if (discovery.kind === 'found') {
      this.#winner = discovery.stored.address;
      return isOfReader ? discovery.stored : { ...discovery.stored, etag: undefined, staleAt: -Infinity };
    }
    const { silence, best, log } = discovery;
    if (silence !== undefined && refusalIn(discovery) === undefined) responseOrThrow(silence, AGENT, true);
    throw await missingCard(best, credential, log, this.#deps.cardAddress !== undefined);
  }

  /** Asks one address after the other: the configured one, the last winner, the rest. An origin that does not answer at all is not asked again. */
  async #discover(
    version: string,
    credential: Credential,
    stored: StoredCard | undefined,
    deadline: AbortSignal,
  ): Promise<Discovery> {
    const { cardAddress, lookupMs } = this.#deps;
    const first = [cardAddress, stored?.address, this.#winner].filter((address) => address !== undefined);
    const addresses = [...new Set([...first, ...this.#addresses])];
    const silent = new Map<string, UpstreamOutcome>();
    const log: Promise<string>[] = [];
    let refusal: CardlessResponse | undefined;
    let best: CardlessResponse | undefined;
    for (const address of addresses) {
      if (silent.has(address.origin)) continue;
      const known = address === stored?.address ? stored : undefined;
      // Half the time, so that the agent itself can still be asked.
      const signal = address === cardAddress ? this.#deps.deadline(Math.ceil(lookupMs / 2)) : deadline;
      const outcome = await this.#ask(address, version, credential, known?.etag, signal);
      if (outcome.kind === 'failure') {
        silent.set(address.origin, outcome);
        log.push(Promise.resolve(`${address.path}: ${outcome.detail}`));
        continue;
      }
      const { response } = outcome;
      const found = await this.#read(response, address, known);
      if ('card' in found) return { kind: 'found', stored: found };
      // The next address need not wait for it.
      const said = this.#said(found, credential);
      log.push(said.then((text) => `${address.path}: ${text}`));
      if (!this.#isAgents(address)) continue;
      if (response.status === 401) refusal ??= { response, said };
      if (saysMore(response)) best ??= { response, said };
    }
    const said = (await Promise.all(log)).join('; ');
    return { kind: 'missing', silence: silent.get(this.#deps.agent.origin), best: refusal ?? best, log: said };
  }

  async #ask(
    address: Endpoint,
    version: string,
    credential: Credential,
    etag: string | undefined,
    signal: AbortSignal,
  ): Promise<UpstreamOutcome> {
    const { upstream, headersMs, bodyIdleMs } = this.#deps;
    const headers: Record<string, string> = { accept: 'application/json' };
    if (version !== '') headers['a2a-version'] = version;
    if (etag !== undefined) headers['if-none-match'] = etag;
    const outcome = await upstream.send({
      method: 'GET',
      origin: address.origin,
      path: address.path,
      headers: this.#isAgents(address) ? { ...headers, ...credential.headers } : headers,
      body: null,
      // The card is for everybody who waits for it, so nobody's leaving ends the request.
      signal,
      headersMs,
      bodyIdleMs,
    });
    return outcome.kind === 'failure' && signal.aborted ? { ...outcome, reason: 'timeout' } : outcome;
  }

  /** `agentCardUrl` may lie with a third party, which has no business with the credential. */
  #isAgents({ origin }: Endpoint): boolean {
    return origin.toLowerCase() === this.#deps.agent.origin.toLowerCase();
  }

  async #said(response: HttpResponse, credential: Credential): Promise<string> {
    const text = await this.#deps.excerpts.of(response, credential);
    return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
  }

  /** The card in a response; the response itself, with what is left of its body, when it holds none. */
  async #read(
    response: HttpResponse,
    address: Endpoint,
    known: StoredCard | undefined,
  ): Promise<StoredCard | HttpResponse> {
    const { status, headers, body } = response;
    const now = this.#deps.clock.now();
    if (status === 304 && known !== undefined) {
      discard(body);
      const lifeMs = lifeOf(headers) ?? known.lifeMs;
      return { ...known, lifeMs, staleAt: now + lifeMs };
    }
    if (status !== 200 || headers['content-encoding'] !== undefined) return response;
    const read = await readAhead(body, MAX_CARD);
    if (!read.complete) return { ...response, body: read.body };
    const card = parsedJson(new TextDecoder().decode(read.bytes), MAX_CARD_VALUES);
    if (!isAgentCard(card)) return { ...response, body: read.bytes };
    const lifeMs = lifeOf(headers) ?? DEFAULT_LIFE_MS;
    return { card, address, etag: tagOf(headers), lifeMs, staleAt: now + lifeMs, bytes: read.bytes.length };
  }
}

function refusalIn(discovery: Discovery): HttpResponse | undefined {
  const response = discovery.kind === 'missing' ? discovery.best?.response : undefined;
  return response?.status === 401 ? response : undefined;
}

/** Where agents have their cards. */
function cardAddresses(agent: Endpoint): readonly Endpoint[] {
  const base = withoutTrailingSlashes(agent.path);
  const paths = ['agent-card.json', 'agent.json'].flatMap((name) => [
    `${base}/.well-known/${name}`,
    `/.well-known/${name}`,
  ]);
  return [...new Set(paths)].map((path) => ({ origin: agent.origin, path }));
}

/** How long a card may be used unasked, within our own bounds; `undefined` when the agent does not say (RFC 9111 §5.2.2). */
function lifeOf(headers: HeaderFields): number | undefined {
  const control = String(headers['cache-control'] ?? '').toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(control)) return 0;
  const seconds = /\bmax-age="?(\d+)/.exec(control)?.[1];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, MAX_LIFE_MS);
}

/** The tag to ask by; a card that must not be stored has none. */
function tagOf(headers: HeaderFields): string | undefined {
  const { etag } = headers;
  const stored = !/\bno-store\b/i.test(String(headers['cache-control'] ?? ''));
  return stored && typeof etag === 'string' ? etag : undefined;
}
