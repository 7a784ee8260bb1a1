import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createToolkit } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import express, { type Express, type Request } from 'express';

export interface InternalToolOptions {
  /** Address of the agent endpoint. */
  readonly a2aUrl: string;
  /** The token endpoint of the identity provider, to which the page sends user name and password. */
  readonly tokenEndpoint: string;
  /** A public client at the provider: it has no secret, since a page cannot keep one. */
  readonly clientId: string;
  /** The API the token is for. */
  readonly audience: string;
}

/** An internal tool whose page signs its user in, and whose server only forwards the user's token. */
export function createInternalTool({ a2aUrl, ...settings }: InternalToolOptions): Express {
  const toolkit = createToolkit({ a2aUrl });
  const app = express();
  // The agent knows each user, and keeps their conversations apart itself.
  app.use('/api/a2a', createA2ARouter(express, { toolkit, auth: bearerOf, conversations: 'open' }));
  app.get('/settings.json', (_request, response) => {
    response.json(settings);
  });
  app.use(express.static(publicDirectory));
  return app;
}

/** The token from the page's request; without one, the user is not signed in. */
function bearerOf(request: Request): string | null {
  return /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

/** The page's own files: next to this file in the sources, two folders up from the compiled one. */
const publicDirectory: string =
  ['./public', '../../internal-tool/public']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? missing();

function missing(): never {
  throw new Error('The folder "public" of the internal tool is missing.');
}
