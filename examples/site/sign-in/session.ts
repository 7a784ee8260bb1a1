import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import type { Request, RequestHandler } from 'express';
import session from 'express-session';

import type { PendingSignIn, SignedInUser, UserTokens } from './open-id-client.js';

declare module 'express-session' {
  interface SessionData {
    /** Present while somebody is signed in. */
    user: SignedInUser;
    /** Of the user; they never leave the server. */
    tokens: UserTokens;
    /** What the answer of the provider is checked against. */
    pendingSignIn: PendingSignIn;
  }
}

/** A name of its own: browsers keep one set of cookies for all ports of localhost. */
export const SESSION_COOKIE = 'demo-site.sid';

const LIFETIME_MS = 8 * 3_600_000;

/**
 * Sessions of signed-in users: the browser holds an id, the server holds the tokens.
 * They are kept in memory, which is right for one process that forgets them when it ends. A site in production
 * keeps them in a shared store (connect-redis or the like), has its secret from outside, and sets `secure`.
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

/** Starts over under another id, so that nobody who knew the old one is signed in with it. */
export async function renewSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.regenerate.bind(current))();
}

/** Reads the session again: another request may have changed it since this one began. */
export async function reloadSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.reload.bind(current))();
}

/** Writes the session now, and not with the end of the answer. */
export async function saveSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.save.bind(current))();
}

export async function endSession(request: Request): Promise<void> {
  const { session: current } = request;
  await promisify(current.destroy.bind(current))();
}
