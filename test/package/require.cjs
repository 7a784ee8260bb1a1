// Uses the package from CommonJS: `require` loads every entry, and a route works.
const assert = require('node:assert/strict');
const { createServer } = require('node:http');
const { configureServer } = require('agent-bff');
const { createA2ARouter } = require('agent-bff/express');
const express = require('express');

const manifest = require('agent-bff/package.json');
for (const entry of Object.keys(manifest.exports)) {
  if (entry !== './package.json') assert.notEqual(Object.keys(require(`agent-bff${entry.slice(1)}`)).length, 0, entry);
}

async function main() {
  const { listen, sendMessage, startAgent } = await import('./site.mjs');
  const agent = await startAgent();
  configureServer({ a2aUrl: `${agent.url}/a2a`, serviceApiKey: 'the-key' });
  const site = await listen(createServer(express().use('/api/a2a', createA2ARouter(express))));
  assert.match(await sendMessage(site.url), /"result"/);
  await site.close();
  await agent.close();
  console.log('require: ok');
}

void main();
