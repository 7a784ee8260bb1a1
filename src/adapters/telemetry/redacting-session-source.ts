import type { SessionRequest, SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { withoutSecrets } from '../../domain/shared/redaction.js';
import { hideToken } from './request-scope.js';
import { requestSecrets } from './request-secrets.js';

/** A session source whose refusals and failures do not quote the cookies and credentials it was given: session libraries repeat what they cannot read. */
export function redactingSessionSource(source: SessionTokenSource): SessionTokenSource {
  return {
    ...traits(source),
    ...(source.sessionVersion !== undefined && {
      sessionVersion: (request: SessionRequest) => {
        try {
          return source.sessionVersion?.(request);
        } catch (error) {
          throw quoteless(error, requestSecrets(request.headers));
        }
      },
    }),
    getToken: async (request, query) => {
      try {
        const found = await source.getToken(request, query);
        if (found.kind !== 'expired' || found.detail === undefined) return found;
        return { ...found, detail: withoutSecrets(found.detail, requestSecrets(request.headers)) };
      } catch (error) {
        throw quoteless(error, requestSecrets(request.headers));
      }
    },
  };
}

/** A session source whose tokens stay out of every text about the request they were given to. */
export function redactingTokenSource(source: SessionTokenSource): SessionTokenSource {
  return {
    ...traits(source),
    getToken: async (request, query): Promise<SessionToken> => {
      const found = await source.getToken(request, query);
      if (found.kind === 'token') hideToken(found.accessToken);
      return found;
    },
  };
}

function traits(source: SessionTokenSource): Omit<SessionTokenSource, 'getToken'> {
  const { sessionCookies, sessionInCookie } = source;
  return {
    ...(sessionCookies === undefined ? {} : { sessionCookies }),
    ...(sessionInCookie === undefined ? {} : { sessionInCookie }),
    ...(source.sessionVersion !== undefined && {
      sessionVersion: (request: SessionRequest) => source.sessionVersion?.(request),
    }),
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
