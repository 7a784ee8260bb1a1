import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { CoalescingSessionSource } from '../../../src/domain/credentials/coalescing-session-source.js';
import type { HeaderFields, RequestContext } from '../../../src/ports/http.js';
import type { SessionToken, SessionTokenQuery } from '../../../src/ports/session-token-source.js';
import { memoryOf } from '../../support/memory.js';

/** A request with these header fields. */
export const request = (headers: HeaderFields): RequestContext => ({ headers, native: { request: {} } });

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

  constructor(sessionCookies: readonly string[] = ['sid'], limitBytes = Infinity, sessionInCookie = true) {
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
      memory: memoryOf(this.clock, limitBytes),
    });
  }

  token(number: number, lifeMs = 300_000): SessionToken {
    return { kind: 'token', accessToken: `token-${String(number)}`, expiresAt: this.clock.now() + lifeMs };
  }

  async get(headers: HeaderFields | string, query: SessionTokenQuery = {}): Promise<string> {
    const fields = typeof headers === 'string' ? { cookie: headers } : headers;
    const found = await this.tokens.getToken(request(fields), query);
    return found.kind === 'token' ? found.accessToken : found.kind;
  }
}
