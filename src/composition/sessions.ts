export { authJsSession, type NextAuthOptions, nextAuthSession } from '../adapters/sessions/auth-js.js';
export { type Auth0Like, auth0Session } from '../adapters/sessions/auth0.js';
export { type BetterAuthOptions, betterAuthSession } from '../adapters/sessions/better-auth.js';
export { easyAuthSession } from '../adapters/sessions/easy-auth.js';
export { expressOpenidConnectSession } from '../adapters/sessions/express-openid-connect.js';
export { type MsalClientLike, msalSession, type MsalSessionOptions } from '../adapters/sessions/msal-session.js';
export type { SessionTokenLike } from '../adapters/sessions/session-like.js';
export {
  expressSession,
  fromFunction,
  ironSession,
  passportSession,
  type RequestWithSession,
  type SessionSourceOptions,
  type SessionTokenFunction,
  type StoredTokenOptions,
} from '../adapters/sessions/stored-token.js';
