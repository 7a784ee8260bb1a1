// Auth.js on Express with a `jwt` callback that refreshes the token.
import { Auth } from '@auth/core';
import { getToken } from '@auth/core/jwt';
import { ExpressAuth, getSession } from '@auth/express';
import { fromFunction } from 'agent-bff';
import { AUTH_JS, SECRET, serve, SITE } from './site.mjs';

const settings = { ...AUTH_JS, basePath: '/auth' };
const decoded = (cookie) => getToken({ req: { headers: { cookie } }, secret: SECRET });

const own = fromFunction(
  async (request) => {
    const { cookie } = request.headers;
    const token = await decoded(cookie);
    if (token === null) return { kind: 'no-session' };
    const found = ({ accessToken, expiresAt }) => ({ kind: 'token', accessToken, expiresAt });
    if (token.expiresAt > Date.now() + 500) return found(token);
    const { headers } = await Auth(new Request(`${SITE}/auth/session`, { headers: { cookie } }), settings);
    const cookies = headers.getSetCookie();
    const refreshed = await decoded(cookies.map((line) => line.split(';')[0]).join('; '));
    if (refreshed === null || refreshed.error !== undefined) return { kind: 'expired' };
    const adopt = ({ native }) => native.response.appendHeader('set-cookie', cookies);
    const retract = ({ native }) => native.response.removeHeader('set-cookie');
    adopt({ native: { response: request.res } });
    return { ...found(refreshed), adopt, retract };
  },
  { sessionCookies: ['authjs.session-token'], sessionInCookie: true },
);
// `getSession` of @auth/express drops the cookies of a refresh.
const dropping = fromFunction(
  async (request) => {
    const session = await getSession(request, settings);
    if (session === null) return { kind: 'no-session' };
    return session.error === undefined ? { kind: 'token', accessToken: session.accessToken } : { kind: 'expired' };
  },
  { sessionCookies: ['authjs.session-token'], sessionInCookie: true },
);
await serve(process.env.VARIANT === 'getSession' ? dropping : own, (app) => app.use('/auth', ExpressAuth(settings)));
