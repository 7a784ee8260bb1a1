// The function of docs/authentication/sessions.md over iron-session.
import { fromFunction } from 'agent-bff';
import { getIronSession } from 'iron-session';
import { codeFlow, refresh, SECRET, serve, stored } from './site.mjs';

const open = (request) =>
  getIronSession(request, request.res, { cookieName: 'site', password: SECRET, cookieOptions: { secure: false } });
const auth = fromFunction(
  async (request) => {
    const session = await open(request);
    if (session.tokens === undefined) return { kind: 'no-session' };
    if (session.tokens.expiresAt > Date.now() + 500) return { kind: 'token', ...session.tokens };
    const tokens = await refresh(session.tokens.refreshToken);
    if (tokens === undefined) return { kind: 'expired' };
    const keep = async ({ native }) => {
      const kept = await open(native.request);
      kept.tokens = tokens;
      await kept.save();
    };
    await keep({ native: { request } });
    const retract = async ({ native }) => (await open(native.request)).destroy();
    return { kind: 'token', ...tokens, adopt: keep, retract };
  },
  { sessionCookies: ['site'], sessionInCookie: true },
);
await serve(auth, (app) =>
  codeFlow(app, async (request, _response, tokens) => {
    const session = await open(request);
    session.tokens = stored(tokens);
    await session.save();
  }),
);
