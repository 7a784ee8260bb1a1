// Uses the package as a site would, by `import`: one chat message through Express 5, Express 4 and node:http.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { configureServer, createToolkit, rewriteAgentCard } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { createNodeHandler } from 'agent-bff/node';
import { FakeIdentityProvider } from 'agent-bff/testing';
import express5 from 'express';
import express4 from 'express4';
import { listen, sendMessage, startAgent } from './site.mjs';

const agent = await startAgent();
const configuration = { a2aUrl: `${agent.url}/a2a`, serviceAuthStrategy: 'demo' };
const toolkit = createToolkit(configuration, { identityProviders: { demo: new FakeIdentityProvider('demo') } });
configureServer({ a2aUrl: `${agent.url}/a2a`, serviceApiKey: 'the-key' });
assert.equal(typeof rewriteAgentCard, 'function');

const hosts = {
  'Express 5': express5().use('/api/a2a', createA2ARouter(express5, { toolkit })),
  'Express 4': express4().use('/api/a2a', createA2ARouter(express4, { toolkit })),
  'node:http': createNodeHandler({ toolkit }),
  'node:http, configured for the whole process': createNodeHandler(),
};
for (const [name, listener] of Object.entries(hosts)) {
  const site = await listen(createServer(listener));
  const answer = await sendMessage(site.url);
  assert.equal(answer, '{"jsonrpc":"2.0","id":1,"result":{"kind":"message"}}', name);
  await site.close();
}
assert.deepEqual(
  agent.credentials.map((value) => value.replace(/\d+$/, 'n')),
  ['Bearer demo-token-n', 'Bearer demo-token-n', 'Bearer demo-token-n', 'the-key'],
);
await toolkit.close();
await agent.close();
console.log('import: ok');
