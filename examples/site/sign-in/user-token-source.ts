import { fromFunction, type SessionToken, type SessionTokenSource } from 'agent-bff';
import type { Request } from 'express';

import { isEnded, type OpenIdClient } from './open-id-client.js';
import { reloadSession, saveSession, SESSION_COOKIE } from './session.js';

/**
 * Gives agent-bff the signed-in user's access token, refreshed when it has expired.
 * Requests of one session that come together share one refresh; agent-bff sees to that, by the name of the cookie.
 */
export function userTokenSource(client: OpenIdClient | undefined): SessionTokenSource {
  return fromFunction(
    async (request: Request, { forceRefresh = false }) => {
      const { tokens } = request.session;
      if (client === undefined || tokens === undefined) return null;
      if (!forceRefresh && Date.now() < tokens.expiresAt) return found(request);
      return refreshed(request, client);
    },
    { sessionCookies: [SESSION_COOKIE] },
  );
}

async function refreshed(request: Request, client: OpenIdClient): Promise<SessionToken | null> {
  // A refresh token is good for one use, and an earlier request may have used the one this request began with.
  await reloadSession(request);
  const { tokens } = request.session;
  if (tokens === undefined) return null;
  if (tokens.refreshToken === '') return { kind: 'expired', detail: 'the provider gave no refresh token' };
  try {
    request.session.tokens = await client.refresh(tokens.refreshToken);
  } catch (error) {
    if (isEnded(error)) return { kind: 'expired', detail: 'the provider did not accept the refresh token' };
    throw error;
  }
  // At once: express-session would write it with the end of the answer, and an answer may stream for minutes.
  await saveSession(request);
  return found(request);
}

function found({ session }: Request): SessionToken | null {
  const { user, tokens } = session;
  if (user === undefined || tokens === undefined) return null;
  const { accessToken, expiresAt } = tokens;
  return { kind: 'token', accessToken, expiresAt, subject: user.id };
}
