import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { withoutSecrets } from '../../domain/shared/redaction.js';
import { requestSecrets } from './request-scope.js';

/**
 * A session source as its site gives it, whose refusals and failures do not quote the cookies and credentials it was given:
 * session libraries repeat what they cannot read. `inTime` ends the wait for one that never settles.
 */
export function redactingSessionSource(
  source: SessionTokenSource,
  inTime: (work: Promise<SessionToken>) => Promise<SessionToken>,
): SessionTokenSource {
  const { name, sessionCookies, sessionInCookie } = source;
  return {
    ...(name === undefined ? {} : { name }),
    ...(sessionCookies === undefined ? {} : { sessionCookies }),
    ...(sessionInCookie === undefined ? {} : { sessionInCookie }),
    sessionVersion: (request) => {
      try {
        return source.sessionVersion?.(request);
      } catch (error) {
        throw quoteless(error, requestSecrets(request.headers));
      }
    },
    getToken: async (request, query) => {
      try {
        const found = await inTime(source.getToken(request, query));
        if (found.kind !== 'expired' || found.detail === undefined) return found;
        return { ...found, detail: withoutSecrets(found.detail, requestSecrets(request.headers)) };
      } catch (error) {
        throw quoteless(error, requestSecrets(request.headers));
      }
    },
  };
}

/** The error itself when it quotes nothing; else one without its stack and cause, which quote it too. */
function quoteless(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  const clean = { name: withoutSecrets(name, secrets), message: withoutSecrets(message, secrets) };
  if (clean.name === name && clean.message === message) return error;
  return Object.assign(new Error(clean.message), { name: clean.name });
}
