import { expressOpenidConnectSession } from 'agent-bff';
import openidConnect from 'express-openid-connect';
import { CLIENT_ID, CLIENT_SECRET, ISSUER, SCOPE, SECRET, serve, SITE } from './site.mjs';

await serve(
  expressOpenidConnectSession(),
  (app) =>
    app.use(
      openidConnect.auth({
        authRequired: false,
        issuerBaseURL: ISSUER,
        baseURL: SITE,
        clientID: CLIENT_ID,
        clientSecret: CLIENT_SECRET,
        secret: SECRET,
        authorizationParams: { response_type: 'code', scope: SCOPE },
      }),
    ),
  (request) => {
    request.appSession = undefined;
  },
);
