import type { RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../../ports/session-token-source.js';

/**
 * A session that is whatever it is set to, and records what it is asked.
 *
 * @public
 */
export class FakeSessionTokenSource implements SessionTokenSource {
  /** Every query so far, oldest first. */
  readonly queries: SessionTokenQuery[] = [];
  /** What the next request finds. */
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
