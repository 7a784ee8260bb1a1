import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import type { Request, RequestHandler } from 'express';
import session from 'express-session';

import type { PendingSignIn, SignedInUser, UserTokens } from './open-id-client.js';

declare module 'express-session' {
  interface SessionData {
    /** Present while a user is signed in. */
    user: SignedInUser;
    /** The user's tokens, which never leave the server. */
    tokens: UserTokens;
    /** The values to compare with the provider's callback. */
    pendingSignIn: PendingSignIn;
  }
}

/** A unique name: browsers share cookies between all ports of localhost. */
export const SESSION_COOKIE = 'demo-site.sid';

const LIFETIME_MS = 8 * 3_600_000;

/**
 * Sessions of signed-in users: the browser holds an id, the server holds the tokens. They are in memory, which suits a
 * single process that may lose them. In production, use a shared store (connect-redis or similar), configure the
 * secret, and set `secure`.
 */
export function createSessions(): RequestHandler {
  return session({
    name: SESSION_COOKIE,
    secret: randomBytes(32).toString('base64url'),
    cookie: { httpOnly: true, sameSite: 'lax', maxAge: LIFETIME_MS },
    resave: false,
    saveUninitialized: false,
  });
}

/** Starts a session with a new id, so that a previous id does not become signed in (session fixation). */
export async function renewSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.regenerate.bind(current))();
}

/** Reads the session again: another request may have changed it meanwhile. */
export async function reloadSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.reload.bind(current))();
}

/** Writes the session now, instead of at the end of the response. */
export async function saveSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.save.bind(current))();
}

export async function endSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.destroy.bind(current))();
}
