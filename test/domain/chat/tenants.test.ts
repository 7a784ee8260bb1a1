import { describe, expect, it } from 'vitest';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import { SERVICE } from '../credentials/broker-fixture.js';
import { chatRequest, ChatWorld } from './chat-world.js';
import { AGENT, bodyOf, RestWorld } from './rest-world.js';

const CARD = {
  name: 'Agent',
  supportedInterfaces: [
    { url: `${AGENT}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' },
    { url: `${AGENT}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'initech' },
  ],
};
const REFUSED = {
  code: 'body_invalid',
  detail: 'The request names a tenant that this site does not serve.',
  hint: 'Leave "tenant" out, or use the one of the interface in the agent card.',
  rpcCode: -32602,
};
const params = (members: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"role":"ROLE_USER"}${members}}}`;

/** The params after the message, and true if they reach the agent. */
const MESSAGES: Readonly<Record<string, boolean>> = {
  '': true,
  ',"tenant":""': true,
  ',"tenant":null': true,
  ',"tenant":"acme"': true,
  [String.raw`,"tenant":"\u0061cme"`]: true,
  ',"tenant":"globex"': false,
  ',"tenant":"initech"': false,
  ',"tenant":"Acme"': false,
  ',"tenant":"acme "': false,
  ',"tenant":7': false,
  ',"tenant":["acme"]': false,
  ',"tenant":"acme","tenant":"globex"': false,
  ',"TENANT":"globex"': false,
  [String.raw`,"\u0074enant":"globex"`]: false,
  ',"te_nant":"globex"': false,
  '},"params":{"tenant":"globex"': false,
  '},"Params":{"tenant":"globex"': false,
};

describe.each(['chat', 'all'] as const)('under the policy "%s"', (methods) => {
  it.each(Object.entries(MESSAGES))('a JSON-RPC message with the members %j passes: %s', async (members, passes) => {
    const world = new ChatWorld();
    world.card = CARD;
    const policy = new MethodPolicy(methods);
    const request = chatRequest(params(members), {}, policy.isStrict);
    const forwarded = world.forward(request, SERVICE, policy);
    if (passes) await forwarded;
    else await expect(forwarded).rejects.toMatchObject({ code: 'body_invalid' });
    expect(world.upstream.requests).toHaveLength(passes ? 1 : 0);
  });

  it.each([
    ['POST', '/message:send', '', true],
    ['POST', '/initech/message:send', '', true],
    ['POST', '/acme/message:send', '', false],
    ['POST', '/%61cme/message:send', '', false],
    ['POST', '/initech/message:send', '{"tenant":"acme"}', false],
    ['POST', '/message:send', '{"tenant":"initech"}', true],
    ['POST', '/message:send', '{"Tenant":"acme"}', false],
    ['GET', '/initech/tasks/7', '', true],
    ['GET', '/acme/tasks/7', '', false],
    ['GET', '/tasks/7?tenant=acme', '', false],
    ['GET', '/tasks/7?Te%6Eant=acme', '', false],
    ['GET', '/tasks/7?tenant=initech', '', true],
    ['GET', '/tasks/7?tenant=', '', true],
  ] as const)('%s %s with the body "%s" passes: %s', async (method, address, body, passes) => {
    const world = new RestWorld();
    world.card = CARD;
    const [path = '', query] = address.split('?');
    const head = { query: query === undefined ? '' : `?${query}` };
    const given = body === '' ? {} : { body: bodyOf(body) };
    const asked = world.ask(method, path, { head, policy: methods, ...given });
    if (passes) await asked;
    else await expect(asked).rejects.toMatchObject({ code: 'body_invalid' });
    expect(world.upstream.requests).toHaveLength(passes ? 1 : 0);
  });
});

it('the option "tenant" replaces those of the card, which is not asked for', async () => {
  const asked: string[] = [];
  const card = (version: string) => {
    asked.push(version);
    return Promise.resolve(CARD);
  };
  const world = new ChatWorld({ card });
  const policy = new MethodPolicy('chat');
  await world.forward(chatRequest(params(',"tenant":"globex"')), SERVICE, policy, { tenant: 'globex' });
  const other = world.forward(chatRequest(params(',"tenant":"acme"')), SERVICE, policy, { tenant: 'globex' });
  await expect(other).rejects.toMatchObject(REFUSED);
  await world.forward(chatRequest(params('')), SERVICE, policy);
  expect([asked, world.upstream.requests.length]).toEqual([[], 2]);
  for (const headers of [{}, { 'a2a-version': '0.3' }]) {
    await world.forward(chatRequest(params(',"tenant":"acme"'), { headers }), SERVICE, policy);
  }
  expect(asked).toEqual(['', '0.3']);
});
