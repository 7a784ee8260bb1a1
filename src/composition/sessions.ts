export { asSessionTokenSource, type SessionTokenLike } from '../adapters/sessions/as-session-token-source.js';
export {
  type AuthJsFunction,
  type AuthJsOptions,
  authJsSession,
  type NextAuthGetToken,
  type NextAuthOptions,
  nextAuthSession,
} from '../adapters/sessions/auth-js.js';
export { type Auth0Like, auth0Session } from '../adapters/sessions/auth0.js';
export { type BetterAuthLike, type BetterAuthOptions, betterAuthSession } from '../adapters/sessions/better-auth.js';
export { type EasyAuthOptions, easyAuthSession } from '../adapters/sessions/easy-auth.js';
export {
  type ExpressOpenidConnectOptions,
  expressOpenidConnectSession,
  type OpenidConnectContext,
  type OpenidConnectToken,
} from '../adapters/sessions/express-openid-connect.js';
export { expressSession, type ExpressSessionOptions, passportSession } from '../adapters/sessions/express-session.js';
export {
  fromFunction,
  type SessionSourceOptions,
  type SessionTokenFunction,
} from '../adapters/sessions/from-function.js';
export { ironSession, type IronSessionOptions, type OpenIronSession } from '../adapters/sessions/iron-session.js';
export {
  type MsalAccountLike,
  type MsalClientLike,
  type MsalResult,
  msalSession,
  type MsalSessionOptions,
  type OfRequest,
} from '../adapters/sessions/msal-session.js';
