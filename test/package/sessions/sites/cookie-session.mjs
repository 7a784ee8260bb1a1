// The function of docs/authentication/sessions.md over cookie-session.
import cookieSession from 'cookie-session';
import { fromFunction } from 'agent-bff';
import { codeFlow, refresh, SECRET, serve, stored } from './site.mjs';

const auth = fromFunction(
  async (request) => {
    if (request.session?.tokens === undefined) return { kind: 'no-session' };
    let { tokens } = request.session;
    if (tokens.expiresAt > Date.now() + 500) return { kind: 'token', ...tokens };
    tokens = await refresh(tokens.refreshToken);
    if (tokens === undefined) return { kind: 'expired' };
    request.session.tokens = tokens;
    return {
      kind: 'token',
      ...tokens,
      adopt: ({ native }) => {
        native.request.session.tokens = tokens;
      },
      retract: ({ native }) => {
        native.request.session = null;
      },
    };
  },
  { sessionCookies: ['site'], sessionInCookie: true },
);
await serve(
  auth,
  (app) => {
    app.use(cookieSession({ name: 'site', secret: SECRET }));
    codeFlow(app, (request, _response, tokens) => {
      request.session.tokens = stored(tokens);
    });
  },
  (request) => {
    request.session = null;
  },
);
