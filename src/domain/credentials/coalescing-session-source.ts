import { LruMap } from '../shared/lru-map.js';
import type { MemoryShare } from '../shared/memory-budget.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { Clock } from '../../ports/clock.js';
import type { RequestContext, HeaderFields } from '../../ports/http.js';
import type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../../ports/session-token-source.js';
import { cookiePairs } from '../shared/message-fields.js';
import type { FoundToken } from './route-auth.js';

export interface CoalescingSessionSourceDependencies {
  readonly source: SessionTokenSource;
  readonly clock: Clock;
  /** A collision-resistant one-way hash, so that no cookie stays in memory. */
  readonly hash: (text: string) => string;
  /** Registers every token passed to a request, so that it is redacted from all texts about the request. */
  readonly hide: (token: string) => void;
  /** Counts the tokens kept. */
  readonly memory: MemoryShare;
}

// Requests sent before the refreshed cookie reached the browser still carry the old one, whose refresh token is already used.
const GRACE_MS = 10_000;
/** A platform that rejects every token must not cause a refresh per request (decision 5). */
const FORCED_PAUSE_MS = 30_000;

/** Bytes of an entry besides its token. */
const ENTRY_BYTES = 512;

/**
 * Calls a session source once for all concurrent requests of a session, and after a refresh for those that follow
 * shortly.
 *
 * Without it, parallel requests each use the session's refresh token, and with rotating tokens all but one fail. The
 * library receives the first request and writes the new cookie to that request's response. A request without a
 * session's version or one of the source's session cookies does not share, and cannot force a refresh: otherwise
 * refreshes would be unlimited.
 */
export class CoalescingSessionSource implements SessionTokenSource {
  readonly name?: string;
  readonly #deps: CoalescingSessionSourceDependencies;
  readonly #kept: LruMap<FoundToken>;
  readonly #flights = new SingleFlight<SessionToken>();
  readonly #forced = new SingleFlight<SessionToken>();
  /** Digests of the tokens, old and new, of recent forced refreshes. The cookie is no key, since it changes with each refresh. */
  readonly #recentlyForced: LruMap<true>;

  constructor(dependencies: CoalescingSessionSourceDependencies) {
    if (dependencies.source.name !== undefined) this.name = dependencies.source.name;
    this.#deps = dependencies;
    const share = dependencies.memory;
    this.#kept = new LruMap({ share });
    this.#recentlyForced = new LruMap({ share });
  }

  async getToken(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#shared(request, query);
    // A shared token must be redacted from every request that receives it.
    if (found.kind === 'token') this.#deps.hide(found.accessToken);
    return found;
  }

  async #shared(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const { source } = this.#deps;
    const version: unknown = source.sessionVersion?.(request);
    // An empty version, or one that is no text, would be the same for all users.
    const isVersion = typeof version === 'string' && version !== '';
    const session = isVersion ? version : sessionKey(request.headers, source.sessionCookies ?? []);
    if (session === undefined) return this.#ask(request, unforced(query));
    // Tokens differ by audience and scope: sharing by session alone could return a token for another API.
    const key = this.#deps.hash(JSON.stringify([session, query.audience ?? null, query.scope ?? null]));
    const running = this.#forced.running(key);
    if (running !== undefined) return adopted(await running, request);
    if (query.forceRefresh !== true) return this.#current(key, request, query);
    return this.#forced.run(key, () => this.#refreshed(key, request, query));
  }

  async #current(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const kept = this.#kept.get(key, this.#deps.clock.now());
    if (kept !== undefined) return adopted(kept, request);
    const running = this.#flights.running(key);
    if (running !== undefined) return adopted(await running, request);
    return this.#flights.run(key, () => this.#obtain(key, request, query));
  }

  /** Refreshes the token, unless the current one is already the result of a refresh, or a refresh failed a moment ago. */
  async #refreshed(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const current = await this.#current(key, request, unforced(query));
    if (current.kind !== 'token' || this.#wasForced(current)) return current;
    this.#noteForced(current);
    const found = await this.#obtain(key, request, query);
    if (found.kind === 'token') this.#noteForced(found);
    return found;
  }

  #wasForced({ accessToken }: FoundToken): boolean {
    return this.#recentlyForced.get(this.#deps.hash(accessToken), this.#deps.clock.now()) === true;
  }

  #noteForced({ accessToken }: FoundToken): void {
    const until = this.#deps.clock.now() + FORCED_PAUSE_MS;
    this.#recentlyForced.set(this.#deps.hash(accessToken), true, 0, until);
  }

  async #obtain(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#ask(request, query);
    // A session held by the server knows about its own refreshes, and about a sign-out, which must take effect immediately.
    if (found.kind === 'token' && (this.#deps.source.sessionInCookie === true || found.adopt !== undefined)) {
      this.#keep(key, found);
    }
    return found;
  }

  async #ask(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const askedAt = this.#deps.clock.now();
    const asked = await this.#deps.source.getToken(request, query);
    const isOdd = asked.kind === 'token' && asked.expiresAt !== undefined && !(asked.expiresAt > 0);
    const found = isOdd ? withKnownExpiry(asked) : asked;
    if (!this.#hasEnded(found)) return found;
    // The token expired while it was fetched, so the source considered it valid. A second call sees the expiry and refreshes.
    if (found.expiresAt < askedAt) return EXPIRED;
    const again = withKnownExpiry(await this.#deps.source.getToken(request, unforced(query)));
    return this.#hasEnded(again) ? EXPIRED : again;
  }

  #hasEnded(found: SessionToken): found is FoundToken & { readonly expiresAt: number } {
    return found.kind === 'token' && found.expiresAt !== undefined && found.expiresAt <= this.#deps.clock.now();
  }

  #keep(key: string, token: FoundToken): void {
    const now = this.#deps.clock.now();
    const until = Math.min(now + GRACE_MS, token.expiresAt ?? Number.POSITIVE_INFINITY);
    this.#kept.set(key, token, 2 * token.accessToken.length + ENTRY_BYTES, until);
  }
}

const EXPIRED: SessionToken = { kind: 'expired', log: 'the session returned an expired token' };

/** The token without an expiry that is no time, such as NaN: it would never be reached, and the token cached forever. */
function withKnownExpiry(found: SessionToken): SessionToken {
  if (found.kind !== 'token' || found.expiresAt === undefined) return found;
  const { expiresAt, ...rest } = found;
  return Number.isNaN(Number(expiresAt ?? Number.NaN)) ? rest : found;
}

function unforced(query: SessionTokenQuery): SessionTokenQuery {
  const { forceRefresh: _forced, ...plain } = query;
  return plain;
}

function adopted(found: SessionToken, request: RequestContext): SessionToken {
  if (found.kind === 'token') found.adopt?.(request);
  return found;
}

/** Fields that also distinguish sessions: some libraries read a bearer token, or serve several hosts. */
const FIELDS = ['authorization', 'host', 'x-forwarded-host'];

/**
 * Identifies the session of a request by its session cookies; absent if the request has none. Other cookies are
 * ignored: one set by an analytics script must not split a session.
 */
export function sessionKey(headers: HeaderFields, cookieNames: readonly string[]): string | undefined {
  // In the order sent: if two cookies share a name, libraries read the first, so order distinguishes users.
  const cookies = cookiePairs(headers['cookie']).filter((cookie) => cookieNames.some((name) => isNamed(cookie, name)));
  if (cookies.length === 0) return undefined;
  return JSON.stringify([cookies, ...FIELDS.map((name) => String(headers[name] ?? ''))]);
}

/** True if a cookie is the named one or a chunk of it: `name=`, `name.0=`, `name__0=`. */
function isNamed(cookie: string, name: string): boolean {
  return cookie.startsWith(name) && /^(?:(?:\.|__)\d+)?=/.test(cookie.slice(name.length));
}
