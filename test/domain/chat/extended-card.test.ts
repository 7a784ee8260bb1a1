import { describe, expect, it } from 'vitest';
import { withExtendedCard } from '../../../src/domain/chat/agent-reply.js';
import { readRpcCall } from '../../../src/domain/chat/call.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import { SERVICE } from '../credentials/broker-fixture.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { chatRequest, ChatWorld, SITE, WatchedBody } from './chat-world.js';

const CARD = { name: 'Agent', url: 'https://agent.internal/a2a', capabilities: { streaming: true } };

const ASK = '{"jsonrpc":"2.0","id":7,"method":"GetExtendedAgentCard"}';
const { call: CALL } = chatRequest(ASK);

describe('a chat request', () => {
  const asks = (text: string): boolean => readRpcCall(new TextEncoder().encode(text), '', false).kind === 'card';

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}',
    '{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}',
    '{"jsonrpc":"2.0","id":1,"method":"agent\\/getAuthenticatedExtendedCard"}',
    '{"jsonrpc":"2.0","id":1,"method":"GetExtended\\u0041gentCard"}',
  ])('requests the extended card by %s', (text) => {
    expect(asks(text)).toBe(true);
  });

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":"GetExtendedAgentCard"}',
    '{"jsonrpc":"2.0","id":1,"method":7,"params":"GetExtendedAgentCard"}',
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"method":"GetExtendedAgentCard"}}',
  ])('does not request it by %s', (text) => {
    expect(asks(text)).toBe(false);
  });
});

describe('the extended card in a response', () => {
  const reply = { jsonrpc: '2.0', id: 7, result: CARD };
  const answer = (body: unknown, headers: HttpResponse['headers'] = {}): HttpResponse => ({
    status: 200,
    headers: { 'content-type': 'application/json', ...headers },
    body: new WatchedBody(typeof body === 'string' ? body : JSON.stringify(body)),
  });

  it("points to the site, without the agent's Content-Length and ETag", async () => {
    const headers = { 'content-length': '7', etag: '"1"', 'cache-control': 'no-store' };
    const response = await withExtendedCard(answer(reply, headers), CALL, { url: SITE });
    expect({ ...response, body: JSON.parse(response.body as string) as unknown }).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: { ...reply, result: { ...CARD, url: SITE, preferredTransport: 'JSONRPC' } },
    });
  });

  it.each([203, 299])('points to the site with status %i too', async (status) => {
    const { body } = await withExtendedCard({ ...answer(reply), status }, CALL, { url: SITE });
    expect(JSON.parse(body as string)).toMatchObject({ result: { url: SITE } });
  });

  it('has no interface on another origin, and no address of the platform', async () => {
    const world = new ChatWorld({ platformOrigin: 'https://platform.example' });
    const offers = [CARD.url, 'https://agent.example', 'https://elsewhere.example'];
    const additionalInterfaces = offers.map((url) => ({ url, transport: 'HTTP+JSON' }));
    const result = { ...CARD, additionalInterfaces, documentationUrl: 'https://platform.example/docs' };
    const rewrite = { url: SITE, bindings: ['JSONRPC', 'HTTP+JSON'] };
    world.upstream.willAnswer(() => answer({ ...reply, result }));
    const { body } = await world.forward(chatRequest(ASK), SERVICE, new MethodPolicy('all'), { rewrite });
    const served = [{ url: SITE, transport: 'HTTP+JSON' }];
    const card = { ...CARD, url: SITE, preferredTransport: 'JSONRPC', additionalInterfaces: served };
    expect(JSON.parse(body as string)).toEqual({ ...reply, result: card });
  });

  it('can be an error of the agent, forwarded unchanged', async () => {
    const text = '{ "jsonrpc": "2.0", "id": 7, "error": { "code": -32007 } }';
    expect((await withExtendedCard(answer(text, { 'content-length': '1' }), CALL, { url: SITE })).body).toBe(text);
  });

  it.each([300, 403])('is not looked for in an error response (%i)', async (status) => {
    const refusal = { ...answer('not for you'), status };
    expect(await withExtendedCard(refusal, CALL, { url: SITE })).toBe(refusal);
  });

  it.each([
    ['not JSON', '<html>', {}],
    ['null', 'null', {}],
    ['a string', '"jsonrpc"', {}],
    ['not JSON-RPC', { id: 7, result: CARD }, {}],
    ['not a card', { ...reply, result: { url: CARD.url } }, {}],
    ['empty', '', {}],
    ['compressed', reply, { 'content-encoding': 'gzip' }],
    [
      'nested 400,000 levels deep',
      `{"jsonrpc":"2.0","id":7,"result":{"name":"Agent","url":"https://agent.internal/a2a","x":${'['.repeat(400_000)}${']'.repeat(400_000)}}}`,
      {},
    ],
    ['longer than 1 MiB', { ...reply, result: { ...CARD, x: 'x'.repeat(1_048_576) } }, {}],
  ])('is not forwarded when the response is %s', async (_what, body, headers) => {
    await expect(withExtendedCard(answer(body, headers), CALL, { url: SITE })).rejects.toMatchObject({
      name: 'UpstreamError',
      code: 'upstream_invalid_response',
      detail: 'The agent did not send its extended card.',
    });
  });
});
