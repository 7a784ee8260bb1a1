import { authJsSession } from 'agent-bff';
import NextAuth from 'next-auth';
import { encode, getToken } from 'next-auth/jwt';
import { AUTH_JS, refresh, SECRET } from '../tokens.mjs';

export const { handlers, auth } = NextAuth(AUTH_JS);

const COOKIE = 'authjs.session-token';
/** A source of the site. It does not use `cookies()` of Next, which writes to its caller's response: `retract` would change the sign-out's. */
const own = {
  sessionCookies: [COOKIE],
  sessionInCookie: true,
  getToken: async (request) => {
    const session = await getToken({ req: request, secret: SECRET });
    if (session === null) return { kind: 'no-session' };
    const found = ({ accessToken, expiresAt }) => ({ kind: 'token', accessToken, expiresAt });
    if (session.expiresAt > Date.now() + 500) return found(session);
    const tokens = await refresh(session.refreshToken);
    if (tokens === undefined) return { kind: 'expired' };
    const value = await encode({ token: { ...session, ...tokens }, secret: SECRET, salt: COOKIE });
    const adopt = ({ native }) => native.response?.appendHeader('set-cookie', `${COOKIE}=${value}; Path=/; HttpOnly`);
    const retract = ({ native }) => native.response.setHeader('set-cookie', []);
    adopt(request);
    return { ...found(tokens), adopt, retract };
  },
};
export const source = process.env.VARIANT === 'own source' ? own : authJsSession(auth);
