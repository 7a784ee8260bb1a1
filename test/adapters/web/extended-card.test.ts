import { describe, expect, it } from 'vitest';
import { chatRoutes } from '../../../src/adapters/web/chat-routes.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { HeaderFields } from '../../../src/ports/http.js';
import { ChatWorld } from '../../domain/chat/chat-world.js';
import { SERVICE } from '../../domain/credentials/broker-fixture.js';
import { browserRequest, site } from './browser-request.js';

const CARD = { name: 'Agent', url: 'https://agent.internal/a2a', capabilities: { streaming: true } };

describe('an extended card in a response of the chat', () => {
  const extended = (fields: object = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    result: { ...CARD, description: 'More', ...fields },
  });
  const ask = (method: string, policy: MethodPolicy, answer: object | string, headers: HeaderFields = {}) => {
    const world = new ChatWorld();
    const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
    world.upstream.willAnswer(() => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'content-length': String(body.length), ...headers },
      body,
    }));
    const handle = chatRoutes({
      site: site(),
      forwarder: world.forwarder,
      auth: SERVICE,
      policy,
      publicUrl: 'https://shop.example',
    });
    return handle(browserRequest({ body: `{"jsonrpc":"2.0","id":7,"method":"${method}"}` }));
  };
  const ALL = new MethodPolicy('all');

  it('leads to the site like the public one', async () => {
    const response = await ask('GetExtendedAgentCard', ALL, extended());
    expect(JSON.parse(response.body as string)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: { ...CARD, description: 'More', url: 'https://shop.example/api/a2a', preferredTransport: 'JSONRPC' },
    });
    expect(response.headers['content-length']).toBeUndefined();
  });

  it('shows what the policy allows', async () => {
    const policy = new MethodPolicy(['GetExtendedAgentCard']);
    const response = await ask('GetExtendedAgentCard', policy, extended({ supportsAuthenticatedExtendedCard: true }));
    expect(JSON.parse(response.body as string)).toMatchObject({
      result: { capabilities: { streaming: false }, supportsAuthenticatedExtendedCard: true },
    });
  });

  it('is not searched in other responses', async () => {
    const answer = JSON.stringify(extended());
    expect((await ask('SendMessage', ALL, answer)).body).toBe(answer);
    const message = '","params":{"message":"GetExtendedAgentCard"},"x":"';
    expect((await ask(`SendMessage${message}`, ALL, answer)).body).toBe(answer);
  });
});
