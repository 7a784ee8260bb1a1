import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import {
  configureServer,
  createToolkit,
  expressOpenidConnectSession,
  expressSession,
  fromFunction,
  msalSession,
  passportSession,
} from 'agent-bff';
import { createHandlers } from 'agent-bff/express';
import { FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import express, { type Express } from 'express';
import { auth as openidConnect } from 'express-openid-connect';
import session from 'express-session';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documents, ROOT } from '../support/documents.js';
import { closeAll, listening } from '../support/listening.mjs';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { visit } from '../support/visitor.js';

async function served(app: Express): Promise<string> {
  const server = createServer(app);
  onTestFinished(() => closeAll(server));
  return listening(server);
}

/** Any request with a session; the types of a site's own are not known here. */
type Session = { readonly session: { readonly account: null; readonly accessToken: string } };
const msal = { client: () => undefined as never, scopes: ['api'] };

/** Each source, the middleware it needs, and the line that the log names. */
const SOURCES = {
  'express-openid-connect': [
    expressOpenidConnectSession(),
    openidConnect({
      authRequired: false,
      issuerBaseURL: 'https://id.example',
      baseURL: 'http://localhost',
      clientID: 'site',
      secret: 'of this run only, and long enough',
    }),
    /"oidc": "app\.use\(auth\(\{ authRequired: false \}\)\)" of express-openid-connect is not mounted before the route, or its store is not connected/,
  ],
  'express-session': [
    expressSession(),
    session({ secret: 'x', resave: false, saveUninitialized: false }),
    /"session": "app\.use\(session\(…\)\)" of express-session is not mounted before the route, or its store is not connected/,
  ],
  Passport: [
    passportSession(),
    Object.assign((request: object, _response: unknown, next: () => void) => {
      Object.assign(request, { isAuthenticated: () => false });
      next();
    }),
    /"user": "app\.use\(passport\.session\(\)\)" is not mounted before the route, or its store is not connected/,
  ],
  msal: [
    msalSession({ ...msal, account: (request: Session) => request.session.account }),
    session({ secret: 'x', resave: false, saveUninitialized: false }),
    /reading 'account'\): the middleware it needs is not mounted before the route, or its store is not connected/,
  ],
  'a function of the site': [
    fromFunction((request: Session) => request.session.accessToken),
    session({ secret: 'x', resave: false, saveUninitialized: false }),
    /reading 'accessToken'\): the middleware it needs is not mounted before the route, or its store is not connected/,
  ],
} as const;

describe.each(Object.entries(SOURCES))('a session of %s', (_name, [auth, middleware, line]) => {
  const start = async (...before: readonly (typeof middleware)[]) => {
    const telemetry = new RecordingTelemetry();
    const config = { a2aUrl: 'https://agent.example', serviceApiUrl: 'https://platform.example', telemetry };
    const toolkit = createToolkit(config, { upstream: new FakeUpstream() });
    onTestFinished(() => toolkit.close());
    const app = express();
    for (const one of before) app.use(one as express.RequestHandler);
    app.use('/api', createHandlers(express, { toolkit, a2a: { auth }, surfaces: { auth }, service: { auth } }));
    return { url: await served(app), telemetry };
  };

  it.each(['/api/a2a', '/api/service-surfaces/poll/render', '/api/service/records'])(
    'without its middleware is a 500 at %s, and only the log names the line to add',
    async (path) => {
      const { url, telemetry } = await start();
      const reply = await visit(url, { path });
      expect(reply.status).toBe(500);
      const text = await reply.text();
      expect(text).toContain('The session could not be read.');
      expect(text).not.toMatch(/identity|IDENTITY|oidc|passport|reading/);
      expect(telemetry.of('error')).toMatchObject([
        { code: 'internal_error', detail: expect.stringMatching(line) as string },
      ]);
    },
  );

  it('with its middleware and without a user is a 401', async () => {
    const { url } = await start(middleware);
    expect((await visit(url)).status).toBe(401);
  });
});

it.each([
  ['req.user', { user: undefined }],
  ['express-session', { session: {} }],
])('passportSession() behind %s without Passport: a visitor who is not signed in gets 401', async (_what, fields) => {
  const toolkit = createToolkit({ a2aUrl: 'https://agent.example' }, { upstream: new FakeUpstream() });
  onTestFinished(() => toolkit.close());
  const app = express();
  app.use((request, _response, next) => {
    Object.assign(request, fields);
    next();
  });
  app.use('/api', createHandlers(express, { toolkit, a2a: { auth: passportSession() } }));
  expect((await visit(await served(app))).status).toBe(401);
});

it('README, "All routes in one call": works as copied', async () => {
  const readme = documents().find(({ file }) => file === 'README.md')?.text ?? '';
  const section = readme.slice(readme.indexOf('### All routes in one call'));
  const block = /^```js\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '';
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp', 'readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  symlinkSync(join(ROOT, 'test/site/frameworks/node_modules'), join(folder, 'node_modules'), 'junction');
  const file = join(folder, 'server.js');
  writeFileSync(file, block.replace('app.listen(3000);', 'export { app };'));

  const platform = await RecordingUpstream.start();
  onTestFinished(() => platform.close());
  const { app } = (await import(file)) as { app: Express };
  configureServer({ a2aUrl: `${platform.origin}/a2a`, serviceApiUrl: platform.origin, serviceApiKey: 'the-key' });
  const url = await served(app);
  const paths = ['/api/a2a', '/api/service-surfaces/poll/render', '/api/service/records'];
  const statuses = paths.map(async (path) => (await visit(url, { path })).status);
  expect(await Promise.all(statuses)).toEqual([200, 200, 401]);
});
