// Without Next: its server passes a request through the middleware, and then to the route with the cookies that it set.
import { createServer } from 'node:http';
import { Auth0Client } from '@auth0/nextjs-auth0/server';
import { auth0Session, createToolkit, endSession } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { NextRequest } from 'next/server.js';
import { CLIENT_ID, CLIENT_SECRET, deleteCookies, ISSUER, PORT, SCOPE, SECRET, SITE } from './site.mjs';

const auth0 = new Auth0Client({
  domain: ISSUER,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  appBaseUrl: SITE,
  secret: SECRET,
  allowInsecureRequests: true,
  authorizationParameters: { scope: SCOPE },
});
const toolkit = createToolkit({ a2aUrl: process.env.A2A_URL });
const auth = auth0Session(auth0);
const chat = createNodeHandler({ toolkit, a2a: { auth } });

/** The cookies of a request after those of a response. */
function updated(header = '', lines) {
  const cookies = new Map(
    header
      .split('; ')
      .filter(Boolean)
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair]),
  );
  for (const [pair] of lines.map((line) => line.split(';'))) cookies.set(pair.slice(0, pair.indexOf('=')), pair);
  return [...cookies.values()].join('; ');
}

createServer(async (request, response) => {
  const { url, method, headers } = request;
  const isBroad = url.includes('broad');
  if (url.startsWith('/auth/') || isBroad) {
    const fields = Object.entries(headers).filter(([name]) => !['content-length', 'connection'].includes(name));
    const reply = await auth0.middleware(new NextRequest(SITE + url, { method, headers: fields }));
    const lines = reply.headers.getSetCookie();
    if (!isBroad)
      return response
        .writeHead(reply.status, Object.entries({ ...Object.fromEntries(reply.headers), 'set-cookie': lines }).flat())
        .end(await reply.text());
    for (const line of lines) response.appendHeader('set-cookie', line);
    headers.cookie = updated(headers.cookie, lines);
  }
  if (url.startsWith('/api/a2a')) return chat(request, response);
  if (url === '/sign-out') {
    await endSession({ auth, toolkit }, request);
    deleteCookies(request, response);
  }
  if (!url.startsWith('/control')) return response.end('welcome');
  // The control: the library's own function, as a route of the site would call it.
  try {
    const { token } = await auth0.getAccessToken({ headers, url }, response);
    response.end(token);
  } catch (error) {
    response.writeHead(401).end(String(error.code));
  }
}).listen(PORT, () => console.log(`ready ${SITE}`));
