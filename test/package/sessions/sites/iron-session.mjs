import { ironSession } from 'agent-bff';
import { getIronSession } from 'iron-session';
import { codeFlow, SECRET, serve } from './site.mjs';

const open = (request, response) =>
  getIronSession(request, response, { cookieName: 'site', password: SECRET, cookieOptions: { secure: false } });
await serve(ironSession(open, { sessionCookies: ['site'] }), (app) =>
  codeFlow(app, async (request, response, tokens) => {
    const session = await open(request, response);
    session.accessToken = tokens.access_token;
    await session.save();
  }),
);
