import type { SessionRequest, SessionTokenSource } from '../../ports/session-token-source.js';
import { inTime } from './deadline.js';

/** A session source whose requests do not wait for ever; what does not come in time is a throw: the session could not be read. */
export function timedSessionSource(source: SessionTokenSource, ms: number): SessionTokenSource {
  const { sessionCookies, sessionInCookie } = source;
  return {
    ...(sessionCookies === undefined ? {} : { sessionCookies }),
    ...(sessionInCookie === undefined ? {} : { sessionInCookie }),
    ...(source.sessionVersion !== undefined && {
      sessionVersion: (request: SessionRequest) => source.sessionVersion?.(request),
    }),
    getToken: async (request, query) => inTime(source.getToken(request, query), ms, 'the session library'),
  };
}
