import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { CoalescingSessionSource } from '../../../src/domain/credentials/coalescing-session-source.js';
import type { HeaderFields, RequestContext } from '../../../src/ports/http.js';
import type { SessionToken, SessionTokenQuery } from '../../../src/ports/session-token-source.js';
import { memoryOf } from '../../support/memory.js';

/** A request with these header fields. */
export const request = (headers: HeaderFields): RequestContext => ({ headers, native: { request: {} } });

/** A request whose response a test sends, or whose visitor leaves. */
export class Visit implements RequestContext {
  readonly native = { request: {} };
  readonly headers: HeaderFields;
  readonly #listeners: ((isSent: boolean) => void)[] = [];

  constructor(cookie: string) {
    this.headers = { cookie };
  }

  onSent(listener: (isSent: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /** Ends the response: sent, or not because the visitor has left. */
  end(isSent = true): void {
    for (const listener of this.#listeners.splice(0)) listener(isSent);
  }
}

/** A source that returns numbered tokens at the moment a test chooses. */
export class SessionWorld {
  readonly clock = new FakeClock();
  readonly asked: { readonly request: RequestContext; readonly query: SessionTokenQuery }[] = [];
  answer: (number: number) => Promise<SessionToken> | SessionToken = (number) => this.token(number);
  sessionVersion: (request: RequestContext) => string | undefined = () => undefined;
  readonly hidden: string[] = [];
  /** Throws without a text, as the real one does. */
  hash = (text: string): string => text.concat('#');
  readonly tokens: CoalescingSessionSource;
  readonly memory: ReturnType<typeof memoryOf>;

  constructor(sessionCookies: readonly string[] = ['sid'], limitBytes = 67_108_864, sessionInCookie = true) {
    this.memory = memoryOf(this.clock, limitBytes);
    this.tokens = new CoalescingSessionSource({
      source: {
        name: 'staff',
        ...(sessionCookies.length > 0 && { sessionCookies }),
        sessionInCookie,
        sessionVersion: (asking) => this.sessionVersion(asking),
        getToken: async (asking, query) => this.answer(this.asked.push({ request: asking, query })),
      },
      clock: this.clock,
      hash: (text) => this.hash(text),
      hide: (token) => this.hidden.push(token),
      memory: this.memory,
    });
  }

  token(number: number, lifeMs = 300_000): SessionToken {
    return { kind: 'token', accessToken: `token-${String(number)}`, expiresAt: this.clock.now() + lifeMs };
  }

  async get(headers: HeaderFields | string, query: SessionTokenQuery = {}): Promise<string> {
    if (typeof headers !== 'string') return this.visit(request(headers), query);
    // The response is sent at once.
    const visit = new Visit(headers);
    const found = await this.visit(visit, query);
    visit.end();
    return found;
  }

  /** The token for a request, or the reason for its absence. */
  async visit(visit: RequestContext, query: SessionTokenQuery = {}): Promise<string> {
    const found = await this.tokens.getToken(visit, query);
    return found.kind === 'token' ? found.accessToken : found.kind;
  }
}
