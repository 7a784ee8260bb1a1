import { LruMap } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { Clock } from '../../ports/clock.js';
import type { RequestContext, HeaderFields } from '../../ports/http.js';
import type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../../ports/session-token-source.js';
import { cookiePairs } from '../shared/cookies.js';
import type { FoundToken } from './route-auth.js';

/** The parts of a coalescing session source. */
export interface CoalescingSessionSourceDependencies {
  readonly source: SessionTokenSource;
  readonly clock: Clock;
  /** A one-way function without collisions, so that no cookie stays in memory. */
  readonly hash: (text: string) => string;
  /** Takes every token that a request is given, so that no text about the request shows it. */
  readonly hide: (token: string) => void;
  /** Most tokens kept; the least recently used goes first. */
  readonly maxEntries: number;
}

// Requests sent before the refreshed cookie reached the browser still carry the old one, whose refresh token is spent.
const GRACE_MS = 10_000;
/** A platform that refuses every token must not cost a refresh for each request (decision 5). */
const FORCED_PAUSE_MS = 30_000;

interface CachedToken {
  readonly token: FoundToken;
  readonly until: number;
}

/**
 * Asks a session source once for all requests of a session that come together, and after a refresh for those that come shortly after.
 *
 * Without it, parallel requests each spend the session's refresh token, and with rotating tokens all but one fail.
 * The first request is the one handed to the library, which writes the new cookie on that request's response.
 * A request without a session's version or one of the source's session cookies does not share, and forces no refresh: there would be no limit to them.
 */
export class CoalescingSessionSource implements SessionTokenSource {
  readonly name?: string;
  readonly #deps: CoalescingSessionSourceDependencies;
  readonly #kept: LruMap<CachedToken>;
  readonly #flights = new SingleFlight<SessionToken>();
  readonly #forced = new SingleFlight<SessionToken>();
  /** When a refresh of this token was forced, or gave it. A cookie changes with each refresh, so it is no key. */
  readonly #forcedAt: LruMap<number>;

  constructor(dependencies: CoalescingSessionSourceDependencies) {
    if (dependencies.source.name !== undefined) this.name = dependencies.source.name;
    this.#deps = dependencies;
    this.#kept = new LruMap(dependencies);
    this.#forcedAt = new LruMap(dependencies);
  }

  async getToken(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#shared(request, query);
    // A token that is shared belongs to every request that is given it.
    if (found.kind === 'token') this.#deps.hide(found.accessToken);
    return found;
  }

  async #shared(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const session =
      this.#deps.source.sessionVersion?.(request) ??
      sessionKey(request.headers, this.#deps.source.sessionCookies ?? []);
    if (session === undefined) return this.#ask(request, unforced(query));
    // Tokens differ by audience and scope: sharing by session alone would hand out one for another API.
    const key = this.#deps.hash(JSON.stringify([session, query.audience ?? null, query.scope ?? null]));
    const running = this.#forced.running(key);
    if (running !== undefined) return adopted(await running, request);
    if (query.forceRefresh !== true) return this.#current(key, request, query);
    return this.#forced.run(key, () => this.#refreshed(key, request, query));
  }

  async #current(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const kept = this.#fresh(key);
    if (kept !== undefined) return adopted(kept, request);
    const running = this.#flights.running(key);
    if (running !== undefined) return adopted(await running, request);
    return this.#flights.run(key, () => this.#obtain(key, request, query));
  }

  /** Another token than the current one, unless that is the work of a refresh already, or was not to be had a moment ago. */
  async #refreshed(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const current = await this.#current(key, request, unforced(query));
    if (current.kind !== 'token' || this.#wasForced(current)) return current;
    this.#noteForced(current);
    const found = await this.#obtain(key, request, query);
    if (found.kind === 'token') this.#noteForced(found);
    return found;
  }

  #wasForced({ accessToken }: FoundToken): boolean {
    const at = this.#forcedAt.get(this.#deps.hash(accessToken));
    return at !== undefined && this.#deps.clock.now() - at < FORCED_PAUSE_MS;
  }

  #noteForced({ accessToken }: FoundToken): void {
    this.#forcedAt.set(this.#deps.hash(accessToken), this.#deps.clock.now());
  }

  async #obtain(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#ask(request, query);
    // A session that the server holds knows of its own refreshes, and of a sign-out, which must count immediately.
    if (found.kind === 'token' && (this.#deps.source.sessionInCookie === true || found.adopt !== undefined)) {
      this.#keep(key, found);
    }
    return found;
  }

  async #ask(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const askedAt = this.#deps.clock.now();
    const found = await this.#deps.source.getToken(request, query);
    if (!this.#hasEnded(found)) return found;
    // It ended while it was fetched, so the source took it for good: asked again, it sees the end and refreshes.
    const again = found.expiresAt < askedAt ? found : await this.#deps.source.getToken(request, unforced(query));
    return this.#hasEnded(again) ? { kind: 'expired', detail: 'the session gave a token that has expired' } : again;
  }

  #hasEnded(found: SessionToken): found is FoundToken & { readonly expiresAt: number } {
    return found.kind === 'token' && found.expiresAt !== undefined && found.expiresAt <= this.#deps.clock.now();
  }

  #fresh(key: string): FoundToken | undefined {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#deps.clock.now() < kept.until) return kept.token;
    this.#kept.delete(key);
    return undefined;
  }

  #keep(key: string, token: FoundToken): void {
    const now = this.#deps.clock.now();
    this.#kept.set(key, { token, until: Math.min(now + GRACE_MS, token.expiresAt ?? Number.POSITIVE_INFINITY) });
    // No token stays in memory for longer than it is of use.
    for (const [oldest, { until }] of this.#kept) {
      if (now < until) break;
      this.#kept.delete(oldest);
    }
  }
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
 * Names the session of a request by the cookies that hold it; absent when the request has none of them.
 * Other cookies stay out: one set by an analytics script must not split a session.
 */
export function sessionKey(headers: HeaderFields, cookieNames: readonly string[]): string | undefined {
  // In the order sent: of two cookies with one name, a library reads the first, so their order distinguishes users.
  const cookies = cookiePairs(headers['cookie']).filter((cookie) => cookieNames.some((name) => isNamed(cookie, name)));
  if (cookies.length === 0) return undefined;
  return JSON.stringify([cookies, ...FIELDS.map((name) => String(headers[name] ?? ''))]);
}

/** True if a cookie is the named one or a chunk of it: `name=`, `name.0=`, `name__0=`. */
function isNamed(cookie: string, name: string): boolean {
  return cookie.startsWith(name) && /^(?:(?:\.|__)\d+)?=/.test(cookie.slice(name.length));
}
