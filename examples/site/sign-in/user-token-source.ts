import { fromFunction, type SessionToken, type SessionTokenSource } from 'agent-bff';
import type { Request } from 'express';

import { isEnded, type OpenIdClient } from './open-id-client.js';
import { reloadSession, saveSession, SESSION_COOKIE } from './session.js';

/**
 * Provides agent-bff with the signed-in user's access token, refreshed if it has expired. Concurrent requests of one
 * session share one refresh; agent-bff recognises them by the cookie's name.
 */
export function userTokenSource(client: OpenIdClient | undefined): SessionTokenSource {
  return fromFunction(
    async (request: Request, { forceRefresh = false }) => {
      const { tokens } = request.session;
      if (client === undefined || tokens === undefined) return null;
      if (!forceRefresh && Date.now() < tokens.expiresAt) return found(request);
      return refreshed(request, client);
    },
    { name: 'demo', sessionCookies: [SESSION_COOKIE] },
  );
}

async function refreshed(request: Request, client: OpenIdClient): Promise<SessionToken | null> {
  // A refresh token works once, and an earlier request may have used the one this request began with.
  await reloadSession(request);
  const { tokens } = request.session;
  if (tokens === undefined) return null;
  if (tokens.refreshToken === '') return { kind: 'expired', log: 'the provider did not return a refresh token' };
  try {
    request.session.tokens = await client.refresh(tokens.refreshToken);
  } catch (error) {
    if (isEnded(error)) return { kind: 'expired', log: 'the provider rejected the refresh token' };
    throw error;
  }
  // Immediately: express-session would write it at the end of the response, which may stream for minutes.
  await saveSession(request);
  return found(request);
}

function found({ session }: Request): SessionToken | null {
  const { user, tokens } = session;
  if (user === undefined || tokens === undefined) return null;
  const { accessToken, expiresAt } = tokens;
  return { kind: 'token', accessToken, expiresAt, subject: user.id };
}
