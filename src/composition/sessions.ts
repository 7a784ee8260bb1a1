export type { SessionTokenLike } from '../adapters/sessions/as-session-token-source.js';
export { authJsSession, type NextAuthOptions, nextAuthSession } from '../adapters/sessions/auth-js.js';
export { type Auth0Like, auth0Session } from '../adapters/sessions/auth0.js';
export { type BetterAuthOptions, betterAuthSession } from '../adapters/sessions/better-auth.js';
export { easyAuthSession } from '../adapters/sessions/easy-auth.js';
export { expressOpenidConnectSession } from '../adapters/sessions/express-openid-connect.js';
export { expressSession, passportSession } from '../adapters/sessions/express-session.js';
export {
  fromFunction,
  type SessionSourceOptions,
  type SessionTokenFunction,
  type StoredTokenOptions,
} from '../adapters/sessions/from-function.js';
export { ironSession } from '../adapters/sessions/iron-session.js';
export { type MsalClientLike, msalSession, type MsalSessionOptions } from '../adapters/sessions/msal-session.js';
