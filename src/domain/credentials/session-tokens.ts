import type { Clock } from '../../ports/clock.js';
import type {
  SessionRequest,
  SessionToken,
  SessionTokenQuery,
  SessionTokenSource,
} from '../../ports/session-token-source.js';
import { sessionKey } from './session-key.js';

/** What the tokens of one session source are kept with. */
export interface SessionTokensDependencies {
  readonly source: SessionTokenSource;
  readonly clock: Clock;
  /** A one-way function without collisions, so that no cookie stays in memory. */
  readonly hash: (text: string) => string;
  /** Most tokens kept; the least recently used goes first. */
  readonly maxEntries: number;
}

// Requests sent before the refreshed cookie reached the browser still carry the old one, whose refresh token is spent.
const GRACE_MS = 10_000;

type FoundToken = Extract<SessionToken, { kind: 'token' }>;

interface Kept {
  readonly token: FoundToken;
  readonly until: number;
}

/**
 * Asks a session source once for all requests of a session that come together, and after a refresh for those that come shortly after.
 *
 * Without it, parallel requests each spend the session's refresh token, and with rotating tokens all but one fail.
 * The first request is the one handed to the library, which writes the new cookie on that request's response.
 * A request without one of the source's session cookies shares with nobody.
 */
export class SessionTokens implements SessionTokenSource {
  readonly #source: SessionTokenSource;
  readonly #clock: Clock;
  readonly #hash: (text: string) => string;
  readonly #maxEntries: number;
  readonly #kept = new Map<string, Kept>();
  readonly #flights = new Map<string, Promise<SessionToken>>();
  readonly #forced = new Map<string, Promise<SessionToken>>();

  constructor(dependencies: SessionTokensDependencies) {
    this.#source = dependencies.source;
    this.#clock = dependencies.clock;
    this.#hash = dependencies.hash;
    this.#maxEntries = dependencies.maxEntries;
  }

  async getToken(request: SessionRequest, query: SessionTokenQuery): Promise<SessionToken> {
    const session = sessionKey(request.headers, this.#source.sessionCookies ?? []);
    if (session === undefined) return this.#ask(request, query);
    // Tokens differ by audience and scope: sharing by session alone would hand out one for another API.
    const key = this.#hash(JSON.stringify([session, query.audience ?? null, query.scope ?? null]));
    const forced = query.forceRefresh === true;
    const kept = forced ? undefined : this.#fresh(key);
    if (kept !== undefined) return adopted(kept, request);

    const running = this.#forced.get(key) ?? (forced ? undefined : this.#flights.get(key));
    if (running !== undefined) return adopted(await running, request);
    const flights = forced ? this.#forced : this.#flights;
    // Stored before anything is awaited, so that every request of this turn joins it.
    const flight = this.#obtain(key, request, query).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  }

  async #obtain(key: string, request: SessionRequest, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#ask(request, query);
    // A session that the server holds knows of its own refreshes, and of a sign-out, which must count at once.
    const isNeeded = this.#source.sessionInCookie === true || (found.kind === 'token' && found.adopt !== undefined);
    if (found.kind === 'token' && isNeeded) this.#keep(key, found);
    return found;
  }

  async #ask(request: SessionRequest, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#source.getToken(request, query);
    if (found.kind !== 'token' || found.expiresAt === undefined || this.#clock.now() < found.expiresAt) return found;
    return { kind: 'expired', detail: 'the session gave a token that has expired' };
  }

  #fresh(key: string): FoundToken | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    if (this.#clock.now() >= kept.until) return undefined;
    this.#kept.set(key, kept);
    return kept.token;
  }

  #keep(key: string, token: FoundToken): void {
    const now = this.#clock.now();
    this.#kept.delete(key);
    this.#kept.set(key, { token, until: Math.min(now + GRACE_MS, token.expiresAt ?? Number.POSITIVE_INFINITY) });
    for (const [oldest, { until }] of this.#kept) {
      if (now < until && this.#kept.size <= this.#maxEntries) break;
      this.#kept.delete(oldest);
    }
  }
}

function adopted(found: SessionToken, request: SessionRequest): SessionToken {
  if (found.kind === 'token') found.adopt?.(request);
  return found;
}
