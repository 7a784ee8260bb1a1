// Shared by the sites: the application with the chat, which listens where the provider sends visitors back to.
import { configureServer, endSession, loggerTelemetry } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import express from 'express';
import { CLIENT_ID, ISSUER, SCOPE, SITE } from './tokens.mjs';

export * from './tokens.mjs';

const quiet = () => undefined;
const log = (fields, message) => console.log(message, JSON.stringify(fields));
configureServer({
  a2aUrl: process.env.A2A_URL,
  telemetry: loggerTelemetry({ debug: quiet, info: quiet, warn: log, error: log }),
});

/** The address this process listens at: that of the site, unless a balancer is in front. */
export const PORT = Number(process.env.PORT ?? new URL(SITE).port);

/** Deletes the cookies that a visitor has. */
export function deleteCookies({ headers: { cookie = '' } }, response) {
  for (const pair of cookie.split('; ').filter((text) => !text.startsWith('process='))) {
    response.appendHeader('set-cookie', `${pair.slice(0, pair.indexOf('='))}=; Max-Age=0; Path=/`);
  }
}

/** Serves the site: `mount` adds the library's routes before the chat; `end` is the sign-out of the library. */
export async function serve(auth, mount, end = deleteCookies) {
  const app = express();
  await mount(app);
  app.use('/api/a2a', createA2ARouter(express, { auth }));
  app.get('/', (_request, response) => response.send('welcome'));
  app.get('/sign-out', async (request, response) => {
    await endSession({ auth }, request);
    await end(request, response);
    response.send('goodbye');
  });
  app.listen(PORT, () => console.log(`ready ${SITE}`));
}

/** The sign-in of a site with a library that only holds the session: sends visitors to the provider and trades the code. */
export function codeFlow(app, keep) {
  app.get('/login', (_request, response) => {
    const query = new URLSearchParams({
      client_id: CLIENT_ID,
      response_type: 'code',
      scope: SCOPE,
      redirect_uri: `${SITE}/callback`,
    });
    response.redirect(`${ISSUER}/authorize?${query}`);
  });
  app.get('/callback', async (request, response) => {
    const { code } = request.query;
    const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: `${SITE}/callback` });
    const tokens = await (await fetch(`${ISSUER}/token`, { method: 'POST', body })).json();
    await keep(request, response, tokens);
    response.redirect('/');
  });
}
