import { type ChatHandlerOptions, createToolkit, type ServerConfig, type ToolkitOption } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { createNodeHandler } from 'agent-bff/node';
import express from 'express';
import express4 from 'express4';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { visit } from '../support/visitor.js';

type Mount = (app: express.Express, options: ChatHandlerOptions & ToolkitOption, framework: typeof express) => void;

const usual: Mount = (app, options, framework) => {
  app.use('/api/a2a', createA2ARouter(framework, options));
};
const nested: Mount = (app, options, framework) => {
  const shop = framework.Router();
  shop.use('/:language/chat', createA2ARouter(framework, options));
  app.use('/shop', shop);
};
const trusting: Mount = (app, options, framework) => {
  app.set('trust proxy', true);
  usual(app, options, framework);
};

/** A toolkit whose agent shows its card. */
async function toolkitWithCard(config: ServerConfig) {
  const agent = await RecordingUpstream.start();
  agent.willAnswer((exchange) => exchange.json(200, { name: 'An agent', url: `${agent.origin}/a2a` }));
  const toolkit = createToolkit({ a2aUrl: `${agent.origin}/a2a`, serviceApiKey: 'the-api-key', ...config });
  onTestFinished(async () => {
    await toolkit.close();
    await agent.close();
  });
  return toolkit;
}

/** The address of the chat in the agent card, and its path, as the configuration record gives them. */
async function addressesAt(listener: Parameters<typeof listeningSite>[0], path: string, headers: object) {
  const site = await listeningSite(listener);
  onTestFinished(() => site.close());
  const reply = await visit(site.url, { method: 'GET', path: `${path}/config`, headers: { ...headers } });
  const record = await reply.json<{ agentCard: { url: string }; a2aEndpoint: string }>();
  return [record.agentCard.url, record.a2aEndpoint];
}

const FORWARDED = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' };

describe.each([
  ['Express 4', express4],
  ['Express 5', express],
])('the address of the chat under %s', (_name, framework) => {
  it.each<[string, Mount, ServerConfig, Record<string, string>, string, string]>([
    ['is the one the browser used', usual, {}, { host: 'shop.example:8080' }, '', 'http://shop.example:8080/api/a2a'],
    [
      'does not follow forwarding fields that anybody may send',
      usual,
      {},
      { host: 'shop.example', ...FORWARDED, 'x-forwarded-host': 'evil.example' },
      '',
      'http://shop.example/api/a2a',
    ],
    [
      'follows the proxy the application trusts',
      trusting,
      {},
      { host: 'inner:3000', ...FORWARDED },
      '',
      'https://shop.example/api/a2a',
    ],
    [
      'has the prefix a proxy cut off',
      usual,
      { publicUrl: 'https://shop.example/eu' },
      { host: 'inner:3000' },
      '',
      'https://shop.example/eu/api/a2a',
    ],
    ['has every mount path', nested, {}, { host: 'shop.example' }, '/shop/de/chat', 'http://shop.example/shop/de/chat'],
    [
      'has no prefix twice',
      nested,
      { publicUrl: 'https://shop.example/shop' },
      { host: 'inner' },
      '/shop/de/chat',
      'https://shop.example/shop/de/chat',
    ],
  ])('%s', async (_what, mount, config, headers, path, expected) => {
    const app = framework();
    mount(app, { toolkit: await toolkitWithCard(config) }, framework);
    expect(await addressesAt(app, path || '/api/a2a', headers)).toEqual([expected, new URL(expected).pathname]);
  });
});

describe('the address of the chat on node:http', () => {
  it.each([
    ['the one the browser used', '', 'http://shop.example:8080/api/a2a'],
    ['the configured one', 'https://shop.example', 'https://shop.example/api/a2a'],
  ])('is %s', async (_which, publicUrl, expected) => {
    const listener = createNodeHandler({ toolkit: await toolkitWithCard({ publicUrl }) });
    const headers = { host: 'shop.example:8080', ...FORWARDED, 'x-forwarded-host': 'evil.example' };
    expect(await addressesAt(listener, '/api/a2a', headers)).toEqual([expected, '/api/a2a']);
  });
});
