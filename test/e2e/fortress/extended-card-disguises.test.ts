import { createToolkit, type Toolkit } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Site } from '../../site/framework.js';
import { expressSite } from '../../site/frameworks/express.js';
import { koaSite } from '../../site/frameworks/koa.js';
import { nodeHttpSite } from '../../site/frameworks/node-http.js';
import { RecordingUpstream } from '../../support/recording-upstream.js';
import { nextStyleSite, webSite } from './abuse-corpus/abuse-hosts.js';

const HOSTS = [
  nodeHttpSite('node:http'),
  expressSite('Express', express),
  expressSite('Express after express.json()', express, { json: true }),
  expressSite('Express after an express.json() that keeps the raw body', express, { json: 'rawBody' }),
  koaSite('Koa'),
  webSite,
  nextStyleSite,
];

const ASKS = '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}';
const CARD = { name: 'Agent', url: 'http://agent.internal/a2a', supportedInterfaces: [], capabilities: {} };

/** Requests that some agent reads as one for its extended card. */
const DISGUISES: readonly (readonly [what: string, type: string, body: string | Buffer])[] = [
  ['UTF-16', 'application/json; charset=utf-16le', Buffer.from(ASKS, 'utf16le')],
  ['UTF-16 that is declared as nothing', 'application/json', Buffer.from(ASKS, 'utf16le')],
  ['UTF-16 with a byte order mark', 'application/json', Buffer.from(`\uFEFF${ASKS}`, 'utf16le')],
  ['UTF-7', 'application/json; charset=utf-7', ASKS.replaceAll('"', '+ACI-')],
  [
    'UTF-7 behind a harmless method',
    'application/json; charset=utf-7',
    '{"id":1,"method":"GetTask","x":"+ACI-,+ACI-method+ACI-:+ACI-GetExtendedAgentCard"}',
  ],
  ['a batch', 'application/json', `[${ASKS}]`],
  ['a name in another case', 'application/json', '{"id":1,"method":"GetTask","Method":"GetExtendedAgentCard"}'],
  ['a name that folds', 'application/json', '{"id":1,"method":"GetTask","METHO\uFF24":"GetExtendedAgentCard"}'],
];

describe.each(HOSTS)('under a policy that denies nothing, $name', (host) => {
  let upstream: RecordingUpstream;
  let toolkit: Toolkit;
  let site: Site;
  beforeAll(async () => {
    upstream = await RecordingUpstream.start();
    toolkit = createToolkit(
      { a2aUrl: `${upstream.origin}/agent`, serviceAuthStrategy: 'demo', a2aMethods: 'all' },
      { identityProviders: { demo: new FakeIdentityProvider('visitor-service') } },
    );
    site = await host.start({ toolkit });
    upstream.willAnswer((exchange) => exchange.json(200, { jsonrpc: '2.0', id: 1, result: CARD }));
  });
  afterAll(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });

  const ask = (type: string, body: string | Buffer): Promise<Response> =>
    fetch(`${site.url}/api/a2a`, { method: 'POST', headers: { 'content-type': type }, body: body as BodyInit });

  it.each(DISGUISES)(
    'never shows the extended card of the agent to a request in disguise: %s',
    async (_what, type, body) => {
      const before = upstream.requests.length;
      const response = await ask(type, body);
      expect([400, 415]).toContain(response.status);
      expect(await response.text()).not.toContain('agent.internal');
      expect(upstream.requests.length).toBe(before);
    },
  );

  it('shows it rewritten to one that asks for it', async () => {
    const response = await ask('application/json; charset=utf-8', ASKS);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('"name":"Agent"');
    expect(text).not.toContain('agent.internal');
  });
});
