import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpResponse, HttpUpstream, RequestContext, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import type {
  ExchangeOutcome,
  Identity,
  IdentityProvider,
  IssueOutcome,
  TokenExchange,
  TokenExchangeRequest,
} from '../../ports/identity-provider.js';
import type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../../ports/session-token-source.js';
import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import type { LimitVerdict, VisitorLimit } from '../../ports/visitor-limit.js';

/**
 * A clock that moves only when the test moves it.
 *
 * @public
 */
export class FakeClock implements Clock {
  #now: number;

  /** Starts at `now`, in milliseconds since the epoch. Default: 1 January 2026, 00:00 UTC. */
  constructor(now: number = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  /** The time it was moved to. */
  now(): number {
    return this.#now;
  }

  /** Moves the time forward by a span in milliseconds. */
  advance(ms: number): void {
    this.#now += ms;
  }
}

/**
 * Responds to one upstream request.
 *
 * @public
 */
export type FakeResponder = (
  request: UpstreamRequest,
) => HttpResponse | UpstreamOutcome | Promise<HttpResponse | UpstreamOutcome>;

/**
 * A platform that records requests and sends the responses it is set to.
 *
 * @public
 */
export class FakeUpstream implements HttpUpstream {
  /** Every request so far, oldest first. */
  readonly requests: UpstreamRequest[] = [];
  /** True once `close` was called. */
  closed = false;
  #respond: FakeResponder;

  /** Responds to each request with the result of `respond`. Default: 200 with an empty JSON object. */
  constructor(
    respond: FakeResponder = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
  ) {
    this.#respond = respond;
  }

  /** Replaces the response to later requests. */
  willAnswer(respond: FakeResponder): void {
    this.#respond = respond;
  }

  /** Records the request and responds to it. */
  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    this.requests.push(request);
    const given = await this.#respond(request);
    return 'kind' in given ? given : { kind: 'response', response: given };
  }

  /** Records the call. */
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

/**
 * An identity provider that issues numbered tokens; its result can be replaced.
 *
 * @public
 */
export class FakeIdentityProvider implements IdentityProvider {
  /** The configuration block its failures name. */
  readonly block: string;
  /** Number of tokens requested. */
  issued = 0;
  /** Lifetime of each token in milliseconds. */
  lifeMs = 300_000;
  /** Replaces the token while it is set. */
  answer: ((now: number) => IssueOutcome | Promise<IssueOutcome>) | undefined;
  /** Its principal, together with `block`. */
  name: string;
  /** Its proof. */
  proof = '';

  constructor(name = 'fake', block = 'fakeProvider') {
    this.name = name;
    this.block = block;
  }

  /** Built from block, name and proof, so that tests can change them. */
  identity(): Identity | Promise<Identity> {
    return { principal: JSON.stringify([this.block, this.name]), proof: this.proof };
  }

  /** A numbered token, or `answer`. */
  async issue(now: number): Promise<IssueOutcome> {
    this.issued += 1;
    const number = this.issued;
    if (this.answer !== undefined) return this.answer(now);
    return { kind: 'token', token: { value: `${this.name}-token-${String(number)}`, expiresAt: now + this.lifeMs } };
  }
}

/**
 * An exchange that issues tokens named after their assertion.
 *
 * @public
 */
export class FakeTokenExchange implements TokenExchange {
  /** Every exchange so far, oldest first. */
  readonly requests: TokenExchangeRequest[] = [];
  /** Lifetime of each token in milliseconds. */
  lifeMs = 300_000;
  /** Replaces the token while it is set. */
  answer: ((request: TokenExchangeRequest, now: number) => ExchangeOutcome) | undefined;

  /** Its principal. */
  name = 'fakeExchange';
  /** Its proof. */
  proof = '';

  /** Built from name and proof, so that tests can change them. */
  identity(): Identity | Promise<Identity> {
    return { principal: this.name, proof: this.proof };
  }

  /** A token named after its assertion, or `answer`. */
  exchange(request: TokenExchangeRequest, now: number): Promise<ExchangeOutcome> {
    this.requests.push(request);
    const value = `exchanged-${request.assertion}-${String(this.requests.length)}`;
    return Promise.resolve(
      this.answer?.(request, now) ?? { kind: 'token', token: { value, expiresAt: now + this.lifeMs } },
    );
  }
}

/**
 * A session that can be set, and records its queries.
 *
 * @public
 */
export class FakeSessionTokenSource implements SessionTokenSource {
  /** Every query so far, oldest first. */
  readonly queries: SessionTokenQuery[] = [];
  /** The session that the next request finds. */
  session: SessionToken;

  constructor(session: SessionToken = { kind: 'no-session' }) {
    this.session = session;
  }

  /** The session it is set to. */
  getToken(_request: RequestContext, query: SessionTokenQuery): Promise<SessionToken> {
    this.queries.push(query);
    return Promise.resolve(this.session);
  }
}

/**
 * A limit that admits every message, until it is set to something else.
 *
 * @public
 */
export class FakeVisitorLimit implements VisitorLimit {
  /** Every request it counted, oldest first, as the framework passed it. */
  readonly requests: unknown[] = [];
  /** The decision about the next message. */
  verdict: LimitVerdict = { kind: 'admitted' };

  /** The decision it is set to. */
  admit(request: unknown): Promise<LimitVerdict> {
    this.requests.push(request);
    return Promise.resolve(this.verdict);
  }
}

/**
 * An in-memory cache store that counts its calls.
 *
 * @public
 */
export class FakeCacheStore implements CacheStore {
  /** Number of calls of each operation. */
  readonly calls: { get: number; set: number; delete: number } = { get: 0, set: 0, delete: 0 };
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: string; readonly expiresAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The entry, unless it has expired. */
  get(key: string): Promise<string | undefined> {
    this.calls.get += 1;
    const entry = this.#entries.get(key);
    return Promise.resolve(entry !== undefined && this.#clock.now() < entry.expiresAt ? entry.value : undefined);
  }

  /** Stores an entry. */
  set(key: string, value: string, expiresAt: number): Promise<void> {
    this.calls.set += 1;
    this.#entries.set(key, { value, expiresAt });
    return Promise.resolve();
  }

  /** Removes an entry. */
  delete(key: string): Promise<void> {
    this.calls.delete += 1;
    this.#entries.delete(key);
    return Promise.resolve();
  }
}

/**
 * Records every event.
 *
 * @public
 */
export class RecordingTelemetry implements Telemetry {
  /** Asks for every kind of event. */
  readonly chatEvents: boolean = true;
  /** Every event so far, oldest first. */
  readonly events: TelemetryEvent[] = [];

  /** Records the event. */
  emit(event: TelemetryEvent): void {
    this.events.push(event);
  }

  /** The events of one type, oldest first. */
  of<Type extends TelemetryEvent['type']>(type: Type): Extract<TelemetryEvent, { type: Type }>[] {
    return this.events.filter((event): event is Extract<TelemetryEvent, { type: Type }> => event.type === type);
  }
}
