import { A2AServer } from '@voltagent/a2a-server';
import { Agent, VoltAgent } from '@voltagent/core';
import { honoServer } from '@voltagent/server-hono';
import { scriptedModel } from './ai-model.mjs';
import { announce, PORT } from './script.mjs';

const helper = new Agent({
  id: 'helper',
  name: 'helper',
  instructions: 'Follow the script.',
  model: scriptedModel('v3'),
});
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {}, child: () => silent };
const volt = new VoltAgent({
  agents: { helper },
  logger: silent,
  a2aServers: { helper: new A2AServer({ id: 'helper', name: 'helper', version: '1.0.0', agents: { helper } }) },
  server: honoServer({ port: PORT, hostname: '127.0.0.1', enableSwaggerUI: false }),
});
await volt.ready;
announce(`http://127.0.0.1:${PORT}/a2a/helper`);
