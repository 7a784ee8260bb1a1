import { ClientFactory, ClientFactoryOptions, RestTransportFactory } from '@a2a-js/sdk/client';
import { createToolkit, type Toolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Site } from '../site/framework.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { spoken } from '../support/a2a-message.js';
import { startTaskKeepingAgent, type TaskKeepingAgent } from '../support/task-keeping-agent.js';

let agent: TaskKeepingAgent;
let toolkit: Toolkit;
let site: Site;

beforeAll(async () => {
  agent = await startTaskKeepingAgent();
  toolkit = createToolkit({ a2aUrl: agent.a2aUrl, serviceApiKey: 'the-api-key', bindings: ['JSONRPC', 'HTTP+JSON'] });
  site = await listeningSite(createNodeHandler({ toolkit }));
});
afterAll(async () => {
  await site?.close();
  await toolkit?.close();
  await agent?.close();
});

describe('a visitor whose client speaks only HTTP+JSON', () => {
  const connect = () => {
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new RestTransportFactory()],
      preferredTransports: ['HTTP+JSON'],
    });
    return new ClientFactory(options).createFromUrl(`${site.url}/api/a2a/.well-known/agent-card.json`, '');
  };

  it('discovers the agent through the site, sends, streams, reads a task and gets an error for an unknown task', async () => {
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

  it('disconnects from a long task, subscribes again and cancels it', async () => {
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

  it('cannot list the tasks of other visitors', async () => {
    const client = await connect();
    const listing = client.listTasks({ tenant: '' } as Parameters<typeof client.listTasks>[0]);
    await expect(listing).rejects.toThrow('This method is not available here.');
  });
});
