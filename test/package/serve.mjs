// Imports the package as a site would, and sends one chat message through every kind of server.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { configureServer, createToolkit, rewriteAgentCard } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { createA2ARouter as createKoaRouter } from 'agent-bff/koa';
import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';
import { createNodeHandler } from 'agent-bff/node';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import Router from '@koa/router';
import express5 from 'express';
import express4 from 'express4';
import Koa from 'koa';
import { listen, sendMessage, startAgent } from './site.mjs';

const agent = await startAgent();
const configuration = { a2aUrl: `${agent.url}/a2a`, serviceAuthStrategy: 'demo' };
const toolkit = createToolkit(configuration, { identityProviders: { demo: new FakeIdentityProvider('demo') } });
configureServer({ a2aUrl: `${agent.url}/a2a`, serviceApiKey: 'the-key' });
assert.equal(typeof rewriteAgentCard, 'function');

const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"kind":"message"}}';
const hosts = {
  'Express 5': express5().use('/api/a2a', createA2ARouter(express5, { toolkit })),
  'Express 4': express4().use('/api/a2a', createA2ARouter(express4, { toolkit })),
  'Koa 3': new Koa().use(createKoaRouter(Router, { toolkit }).prefix('/api/a2a').routes()).callback(),
  'node:http': createNodeHandler({ toolkit }),
  'node:http, configured for the whole process': createNodeHandler(),
};
/** Arguments of frameworks of the Web standard. */
const handlers = {
  'a web-standard server': createWebHandler({ toolkit }),
  Next: createA2AProxyHandlerWithServiceAuth({ toolkit }).POST,
};
for (const [name, handler] of Object.entries(handlers)) {
  assert.equal(await sendMessage('http://site.example', (url, init) => handler(new Request(url, init))), ANSWER, name);
}
for (const [name, listener] of Object.entries(hosts)) {
  const site = await listen(createServer(listener));
  const answer = await sendMessage(site.url);
  assert.equal(answer, ANSWER, name);
  await site.close();
}
const named = agent.credentials.map((value) => value.replace(/\d+$/, 'n'));
assert.deepEqual([...new Set(named)], ['Bearer demo-token-n', 'the-key']);
assert.equal(named.length, Object.keys(hosts).length + Object.keys(handlers).length);
await toolkit.close();
await agent.close();
console.log('import: ok');
