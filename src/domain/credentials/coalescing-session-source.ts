import { SingleFlight } from '../shared/single-flight.js';
import type { Clock } from '../../ports/clock.js';
import type { Memory, MemoryMap } from '../../ports/memory.js';
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
  /** Holds the tokens kept. */
  readonly memory: Memory;
}

// Requests sent before the refreshed cookie reached the browser still carry the old one, whose refresh token is already used.
const GRACE_MS = 10_000;
/** A slow agent holds back the response with the new cookie, and a visitor who leaves never receives it. */
const UNSENT_MS = 300_000;
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
  readonly #tokens: MemoryMap<FoundToken>;
  /** Sessions whose users signed out, and tokens, old and new, of recent forced refreshes: a cookie changes with each of those. */
  readonly #marks: MemoryMap<true>;
  /** Responses with a session cookie that have not been sent. Bounded, since some hosts do not report the end of a response. */
  readonly #unsent: MemoryMap<readonly [token: FoundToken, to: RequestContext]>;
  #responses = 0;
  /** Tokens whose session a response has brought to the browser. */
  readonly #sent = new WeakSet<FoundToken>();
  readonly #flights = new SingleFlight<SessionToken>();
  readonly #forced = new SingleFlight<SessionToken>();

  constructor(dependencies: CoalescingSessionSourceDependencies) {
    if (dependencies.source.name !== undefined) this.name = dependencies.source.name;
    this.#deps = dependencies;
    const { memory } = dependencies;
    this.#tokens = memory.map();
    this.#marks = memory.map();
    this.#unsent = memory.map();
  }

  async getToken(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#shared(request, query);
    // A shared token must be redacted from every request that receives it.
    if (found.kind === 'token') this.#deps.hide(found.accessToken);
    return found;
  }

  /**
   * Ends the session of a request whose user signs out: its tokens are dropped, and responses that are not sent yet do
   * not bring its cookie back. Sessions held by the server end there.
   */
  async end(request: RequestContext): Promise<void> {
    const session = this.#sessionOf(request);
    // The server may use the same cookie for its user's next session.
    if (session === undefined || !this.#isInCookie(request)) return;
    this.#mark(`ended ${session}`, UNSENT_MS);
    if ([...this.#tokens, ...this.#unsent].length === 0) return;
    const ended = new Set<string>();
    for (const [key, { accessToken }] of this.#tokens) if (key.startsWith(session)) ended.add(accessToken);
    // With the new cookie, only the token shows which cookie it replaced.
    const asked = ended.size > 0 ? undefined : this.#current(session + apiOf({}), request, {});
    const found = await asked?.catch(() => undefined);
    if (found?.kind === 'token') ended.add(found.accessToken);
    for (const [key, { accessToken }] of this.#tokens) if (ended.has(accessToken)) this.#tokens.delete(key);
    // All at once: responses may be sent meanwhile.
    const unsent = Array.from(this.#unsent, ([, carried]) => carried);
    for (const [token, to] of unsent) if (ended.has(token.accessToken)) await token.retract?.(to);
  }

  /** True if the session itself is in the cookie: the server cannot know that it was refreshed or has ended. */
  #isInCookie(request: RequestContext): boolean {
    return this.#deps.source.sessionInCookie === true || this.#versionOf(request) !== undefined;
  }

  /** A digest of the session's version or cookies; `undefined` if the request has neither. */
  #sessionOf(request: RequestContext): string | undefined {
    const { source, hash } = this.#deps;
    const session = this.#versionOf(request) ?? sessionKey(request.headers, source.sessionCookies ?? []);
    return session === undefined ? undefined : hash(session);
  }

  #versionOf(request: RequestContext): string | undefined {
    const version: unknown = this.#deps.source.sessionVersion?.(request);
    // An empty version, or one that is no text, would be the same for all users.
    return typeof version === 'string' && version !== '' ? version : undefined;
  }

  async #shared(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const session = this.#sessionOf(request);
    if (session === undefined) return this.#ask(request, { ...query, forceRefresh: false });
    if (this.#isMarked(`ended ${session}`)) return { kind: 'no-session' };
    // Tokens differ by audience and scope: sharing by session alone could return a token for another API.
    const key = session + apiOf(query);
    const found = await this.#found(key, request, query);
    // The user signed out while the token was fetched.
    if (!this.#isMarked(`ended ${session}`)) return found;
    if (found.kind === 'token') await found.retract?.(request);
    return { kind: 'no-session' };
  }

  #mark(name: string, ms: number): void {
    this.#marks.set(name, true, 0, this.#deps.clock.now() + ms);
  }

  #isMarked(name: string): boolean {
    return this.#marks.get(name) === true;
  }

  async #found(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const running = this.#forced.running(key);
    if (running !== undefined) return this.#adopted(key, await running, request);
    if (query.forceRefresh !== true) return this.#current(key, request, query);
    return this.#forced.run(key, () => this.#refreshed(key, request, query));
  }

  async #current(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const known = this.#tokens.get(key) ?? this.#flights.running(key);
    if (known !== undefined) return this.#adopted(key, await known, request);
    return this.#flights.run(key, () => this.#obtain(key, request, query));
  }

  /** Refreshes the token, unless the current one is already the result of a refresh, or a refresh failed a moment ago. */
  async #refreshed(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const current = await this.#current(key, request, { ...query, forceRefresh: false });
    if (current.kind !== 'token' || this.#isMarked(this.#forcedName(current))) return current;
    // The library would read the cookie from before that refresh, whose refresh token is spent.
    if (current.adopt !== undefined && this.#versionOf(request) === undefined) return current;
    this.#mark(this.#forcedName(current), FORCED_PAUSE_MS);
    const found = await this.#obtain(key, request, query);
    if (found.kind === 'token') this.#mark(this.#forcedName(found), FORCED_PAUSE_MS);
    return found;
  }

  #forcedName({ accessToken }: FoundToken): string {
    return `forced ${this.#deps.hash(accessToken)}`;
  }

  async #obtain(key: string, request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const found = await this.#ask(request, query);
    // A session held by the server knows about its own refreshes, and about a sign-out, which must take effect immediately.
    if (found.kind !== 'token') return found;
    const isInCookie = this.#isInCookie(request);
    if (isInCookie || found.adopt !== undefined) this.#keep(key, found, isInCookie ? UNSENT_MS : GRACE_MS);
    this.#bring(key, found, request);
    return found;
  }

  /** Gives the session to another request that shares its token. */
  async #adopted(key: string, found: SessionToken, request: RequestContext): Promise<SessionToken> {
    if (found.kind === 'token' && found.adopt !== undefined) {
      await found.adopt(request);
      this.#bring(key, found, request);
    }
    return found;
  }

  /** Notes when the response with the session's cookie has been sent: requests with the old one end soon after it. */
  #bring(key: string, token: FoundToken, request: RequestContext): void {
    if (request.onSent === undefined || !this.#isInCookie(request)) return;
    const response = String((this.#responses += 1));
    const until = this.#deps.clock.now() + UNSENT_MS;
    if (token.retract !== undefined) this.#unsent.set(response, [token, request], ENTRY_BYTES, until);
    request.onSent((isSent) => {
      this.#unsent.delete(response);
      if (!isSent || this.#sent.has(token)) return;
      this.#sent.add(token);
      if (this.#tokens.get(key) === token) this.#keep(key, token, GRACE_MS);
    });
  }

  async #ask(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    const askedAt = this.#deps.clock.now();
    const found = await this.#deps.source.getToken(request, query);
    if (!this.#hasExpired(found)) return found;
    // The token expired while it was fetched, so the source considered it valid. A second call sees the expiry and refreshes.
    if (found.expiresAt < askedAt) return EXPIRED;
    const again = await this.#deps.source.getToken(request, { ...query, forceRefresh: false });
    return this.#hasExpired(again) ? EXPIRED : again;
  }

  #hasExpired(found: SessionToken): found is FoundToken & { readonly expiresAt: number } {
    return found.kind === 'token' && found.expiresAt !== undefined && found.expiresAt <= this.#deps.clock.now();
  }

  #keep(key: string, token: FoundToken, ms: number): void {
    const until = Math.min(this.#deps.clock.now() + ms, token.expiresAt ?? Number.POSITIVE_INFINITY);
    this.#tokens.set(key, token, 2 * token.accessToken.length + ENTRY_BYTES, until);
  }
}

/** The API that a token is for, as a part of its key. */
function apiOf({ audience, scope }: SessionTokenQuery): string {
  return JSON.stringify([audience ?? null, scope ?? null]);
}

const EXPIRED: SessionToken = { kind: 'expired', log: 'the session returned an expired token' };

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
