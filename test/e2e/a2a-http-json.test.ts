import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClientFactory, ClientFactoryOptions, RestTransportFactory } from '@a2a-js/sdk/client';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openListener } from '../../examples/http-listener.js';
import { createAgentCard } from '../../examples/platform/agent-card.js';
import { DemoAgent } from '../../examples/platform/demo-agent.js';
import { nodeListener } from '../../src/adapters/node/node-listener.js';
import { sha256 } from '../../src/adapters/system/sha256.js';
import { systemClock } from '../../src/adapters/system/system-clock.js';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import { chatRoutes } from '../../src/adapters/web/chat-routes.js';
import { agentCardRoute } from '../../src/adapters/web/config-route.js';
import { httpJsonRoutes } from '../../src/adapters/web/http-json-routes.js';
import { noSuchRoute } from '../../src/composition/routes/current-handler.js';
import { ChatConfig } from '../../src/domain/chat/chat-config.js';
import { ChatForwarder } from '../../src/domain/chat/chat-forwarder.js';
import { HttpJsonBinding } from '../../src/domain/chat/http-json-binding.js';
import { MethodPolicy } from '../../src/domain/chat/method-policy.js';
import { endpoint } from '../../src/domain/upstream/upstream-request.js';
import { site } from '../adapters/web/browser-request.js';
import { BrokerWorld, SERVICE } from '../domain/credentials/broker-fixture.js';
import { spoken } from '../support/a2a-message.js';

let siteUrl: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const agentUrl = await startAgent();
  const upstream = new UndiciUpstream({ connectMs: 5_000 });
  const { broker: credentials, excerpts, telemetry } = new BrokerWorld();
  const shared = {
    upstream,
    credentials,
    excerpts,
    telemetry,
    agent: endpoint('a2aUrl', `${agentUrl}/a2a`),
    headersMs: 10_000,
    bodyIdleMs: 10_000,
  };
  const directory = { project: () => Promise.resolve({ value: null }), brand: () => Promise.resolve({ value: null }) };
  const config = new ChatConfig({
    ...shared,
    lookupMs: 10_000,
    deadline: (ms) => AbortSignal.timeout(ms),
    clock: systemClock,
    cardAddress: undefined,
    directory,
    hash: sha256,
    maxEntries: 9,
    maxBytes: 1_000_000,
  });
  const routes = {
    site: { ...site(), bodyLimitBytes: 2_097_152 },
    auth: SERVICE,
    policy: new MethodPolicy('chat'),
    bindings: ['JSONRPC', 'HTTP+JSON'],
    publicUrl: '',
  };
  const binding = new HttpJsonBinding({ ...shared, card: (version, caller) => config.card(version, caller) });
  const card = agentCardRoute({ ...routes, config, hash: sha256 });
  const handler = chatRoutes({
    ...routes,
    forwarder: new ChatForwarder(shared),
    card,
    httpJson: httpJsonRoutes({ ...routes, binding }),
  });
  const server = createServer(nodeListener([{ mount: '/api/a2a', handler }], noSuchRoute)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  siteUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  closing.push(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    await upstream.close();
  });
});

afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** An agent whose HTTP+JSON interface lies beside its JSON-RPC one. */
async function startAgent(): Promise<string> {
  const listener = await openListener(0, '127.0.0.1');
  const url = `http://127.0.0.1:${String(listener.port)}`;
  const agent = new DemoAgent({ wordMs: 1, slowStepMs: 10 });
  const card = createAgentCard(`${url}/a2a`);
  card.supportedInterfaces.push({
    url: `${url}/rest`,
    protocolBinding: 'HTTP+JSON',
    tenant: '',
    protocolVersion: '1.0',
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
  const app = express();
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: () => Promise.resolve(card) }));
  app.use(
    '/rest',
    restHandler({ requestHandler, userBuilder: () => Promise.resolve({ isAuthenticated: true, userName: 'site' }) }),
  );
  listener.server.on('request', app);
  closing.push(() => {
    agent.stop();
    return listener.close();
  });
  return url;
}

describe('a visitor whose client speaks only HTTP+JSON', () => {
  const connect = () => {
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new RestTransportFactory()],
      preferredTransports: ['HTTP+JSON'],
    });
    return new ClientFactory(options).createFromUrl(`${siteUrl}/api/a2a/.well-known/agent-card.json`, '');
  };

  it('finds the agent at the site, asks, watches, looks again, and is told what is unknown', async () => {
    const client = await connect();
    const answer = JSON.stringify(await client.sendMessage(spoken('Hello there')));
    expect(answer).toContain('Hello');
    const taskId = /"id":"([0-9a-f-]{36})"/.exec(answer)?.[1] ?? '';
    expect((await client.getTask({ tenant: '', id: taskId })).id).toBe(taskId);
    let count = 0;
    for await (const { payload } of client.sendMessageStream(spoken('Hello there'))) {
      count += payload === undefined ? 0 : 1;
    }
    expect(count).toBeGreaterThan(20);
    await expect(client.getTask({ tenant: '', id: 'nobody' })).rejects.toThrow(/not found/i);
  });

  it('leaves a long task, subscribes again and cancels it', async () => {
    const client = await connect();
    let taskId = '';
    for await (const { payload } of client.sendMessageStream(spoken('slow'))) {
      if (payload?.$case === 'task') taskId = payload.value.id;
      if (payload?.$case === 'artifactUpdate') break;
    }
    let last = '';
    for await (const { payload } of client.resubscribeTask({ tenant: '', id: taskId })) {
      if (last === '') await client.cancelTask({ tenant: '', id: taskId, metadata: undefined });
      last = payload?.$case ?? '';
    }
    expect(last).toBe('statusUpdate');
  });

  it('cannot list what other visitors asked', async () => {
    const client = await connect();
    const listing = client.listTasks({ tenant: '' } as Parameters<typeof client.listTasks>[0]);
    await expect(listing).rejects.toThrow('This method is not available here.');
  });
});
