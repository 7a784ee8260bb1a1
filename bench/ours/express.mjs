import { createA2ARouter } from 'agent-bff/express';
import express from 'express';
import { options, serve } from '../rival-process.mjs';
import { benchToolkit } from './site.mjs';

const toolkit = benchToolkit({ a2aUrl: options.upstream });
const app = express();
if (options.parser === 'json') app.use(express.json({ limit: '2mb' }));
if (options.parser === 'raw') {
  const keep = (request, _response, bytes) => (request.rawBody = bytes);
  app.use(express.json({ limit: '2mb', verify: keep }));
}
app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account', toolkit }));
serve(app);
