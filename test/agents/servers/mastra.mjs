import { serve } from '@hono/node-server';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraServer } from '@mastra/hono';
import { InMemoryTaskStore } from '@mastra/server/a2a/store';
import { Hono } from 'hono';
import { scriptedModel } from './ai-model.mjs';
import { announce, PORT } from './script.mjs';

const helper = new Agent({
  id: 'helper',
  name: 'Helper',
  instructions: 'Follow the script.',
  model: scriptedModel('v2'),
});
const app = new Hono();
const mastra = new Mastra({ agents: { helper }, logger: false });
await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init();
serve({ fetch: app.fetch, port: PORT, hostname: '127.0.0.1' }, ({ port }) =>
  announce(`http://127.0.0.1:${port}/api/a2a/helper`),
);
