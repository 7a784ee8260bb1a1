// A chat for signed-in users: each user's token is exchanged once, and the result kept.
import { createA2ARouter } from 'agent-bff/express';
import express from 'express';
import { options, serve } from '../rival-process.mjs';
import { benchToolkit } from './site.mjs';

const HOUR_MS = 3_600_000;

const tokenExchange = {
  identity: () => ({ principal: 'bench', proof: '' }),
  exchange: ({ assertion }, now) =>
    Promise.resolve({ kind: 'token', token: { value: `${assertion}${'x'.repeat(590)}`, expiresAt: now + HOUR_MS } }),
};
const toolkit = benchToolkit({ a2aUrl: options.upstream, onBehalfOf: {} }, { tokenExchange });
const app = express();
app.use(express.json({ limit: '2mb' }));
app.use('/api/a2a', createA2ARouter(express, { getSessionToken: (request) => request.headers['x-user'], toolkit }));
serve(app);
