import { expressSession } from 'agent-bff';
import session from 'express-session';
import { codeFlow, SECRET, serve } from './site.mjs';

await serve(expressSession(), (app) => {
  app.use(session({ secret: SECRET, resave: false, saveUninitialized: false }));
  codeFlow(app, (request, _response, tokens) => {
    request.session.accessToken = tokens.access_token;
  });
});
