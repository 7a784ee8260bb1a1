import type { ServerConfig } from 'agent-bff';
import { FakeClock } from 'agent-bff/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  A2A,
  ACCEPTED,
  BOTH,
  CARD,
  CARD_OK,
  CHECK,
  EVENT,
  examined,
  FAILED_NO_CARD,
  json,
  LOOK,
  NO_CARD,
  NO_HTTP,
  NOT_FOUND,
  OWN_CARD,
  page,
  rpcError,
  SHARED_CARD,
  stopClock,
  streaming,
  UNTRIED,
  wantsKey,
  type World,
} from './examined-agent.js';

beforeEach(stopClock);

const OPEN: ServerConfig = { serviceAuthStrategy: 'none', serviceApiKey: '' };
const SAYS_NO_HTTP =
  'failed agent: The agent sent a response that is not valid HTTP. (HTTPParserError) | Check scheme and port of "a2aUrl" in configureServer.';
const OTHER = { ...CARD, url: 'https://agent.example/other' };

describe('the doctor tries an agent', () => {
  it.each<[string, World, readonly string[]]>([
    ['that wants the credential', {}, [CARD_OK, ACCEPTED]],
    [
      'of a site that keeps visitors apart, under its own host name',
      { config: { conversations: 'visitor', allowedHosts: ['shop.example'] } },
      [CARD_OK, ACCEPTED],
    ],
    ['without a card', { card: undefined }, [NO_CARD, ACCEPTED]],
    ['that is not there', { card: undefined, reply: () => page(404) }, [`${NOT_FOUND} | ${CHECK}`]],
    ['that is not there, but its card is', { reply: () => page(404) }, [CARD_OK, `${NOT_FOUND} | ${CHECK}`]],
    [
      'whose card is at a shared address and names another one',
      { card: OTHER, at: SHARED_CARD },
      [
        `warning agent card: "Agent", protocol 0.3.0, streams; found at https://agent.example${SHARED_CARD}; none of its interfaces has the path of the agent, so it may be the card of another one | Set "agentCardUrl" in configureServer to https://agent.example${SHARED_CARD} if it is the card of this agent.`,
        ACCEPTED,
        'warning agent address: the agent responds, but its card names https://agent.example/other | Set "a2aUrl" in configureServer to that address, unless a gateway in front of the agent changes paths.',
      ],
    ],
    [
      'that is not there, but a card names another address',
      { card: OTHER, at: SHARED_CARD, reply: () => page(404) },
      [`${NOT_FOUND} | Set "a2aUrl" in configureServer to https://agent.example/other, which the card names.`],
    ],
    [
      'at the address of another binding',
      { card: { ...OTHER, additionalInterfaces: [{ url: A2A, transport: 'HTTP+JSON' }] }, reply: () => page(404) },
      [
        CARD_OK,
        `${NOT_FOUND} Its card says HTTP+JSON for this address. | Set "a2aUrl" in configureServer to https://agent.example/other, which the card names.`,
      ],
    ],
    [
      'behind a gateway with another host',
      { card: { ...CARD, url: 'http://agent.internal:8080/team/a2a' } },
      [CARD_OK, ACCEPTED],
    ],
    [
      'whose card is not at its configured address',
      { config: { agentCardUrl: 'https://agent.example/nowhere.json' } },
      [
        `warning ${CARD_OK.slice(3)}, not at the configured address | Set "agentCardUrl" in configureServer to https://agent.example${OWN_CARD}, or remove it.`,
        ACCEPTED,
      ],
    ],
    [
      'that is not there, and whose doubtful card names no address',
      { card: { ...CARD, url: 'https://[' }, at: SHARED_CARD, reply: () => page(404) },
      [expect.stringMatching(/^warning agent card/) as string, `${NOT_FOUND} | ${CHECK}`],
    ],
    [
      'without JSON-RPC',
      { card: { ...CARD, preferredTransport: 'GRPC' } },
      [
        'failed agent card: The agent has no JSON-RPC interface, the only one this site can forward to. | Enable the JSONRPC binding on the agent, and set "a2aUrl" in configureServer to its address.',
      ],
    ],
    [
      'with a long name, and without a version',
      { card: { ...CARD, name: 'x'.repeat(61), protocolVersion: undefined, capabilities: {} } },
      [
        `ok agent card: "${'x'.repeat(60)}…", protocol without a version, does not stream; found at https://agent.example${OWN_CARD}`,
        ACCEPTED,
      ],
    ],
    [
      'of two versions',
      { card: { ...CARD, supportedInterfaces: BOTH } },
      [CARD_OK.replace('0.3.0', '0.3.0 and 1.0'), ACCEPTED],
    ],
    ['that responds the same to everyone', { reply: () => rpcError(-32_001) }, [CARD_OK, UNTRIED]],
    [
      'that responds the same to everyone, and is open',
      { reply: () => rpcError(-32_001), config: OPEN },
      [CARD_OK, 'ok agent: responds, and needs no credential'],
    ],
    [
      'that is open, and fails by itself',
      { reply: () => rpcError(-32_603, 500), config: { serviceAuthStrategy: 'none' } },
      [CARD_OK, `failed agent: responds with status 500, JSON-RPC error -32603: no: [redacted] | ${LOOK}`],
    ],
    [
      'that wants the credential, and fails by itself',
      { reply: () => rpcError(-32_000) },
      [CARD_OK, `failed agent: responds with status 200, JSON-RPC error -32000: no: [redacted] | ${LOOK}`],
    ],
    [
      'that is open, and fails by itself until it gets a message',
      {
        message: 'Hi',
        config: OPEN,
        reply: ({ method }) => (method === 'message/stream' ? streaming([1, EVENT]) : rpcError(-32_603, 500)),
      },
      [CARD_OK, 'ok agent: answers a message', 'ok streaming: first event after 1 ms, 1 event, largest gap 0 ms'],
    ],
    [
      'that refuses in JSON-RPC, and gets no credential',
      { reply: () => rpcError(-32_000, 401), config: { serviceAuthStrategy: 'none' } },
      [
        CARD_OK,
        expect.stringMatching(/^failed agent: The agent requires a credential.*"serviceAuthStrategy"/) as string,
      ],
    ],
    [
      'that refuses the credential in JSON-RPC',
      { reply: () => rpcError(-32_000, 401) },
      [
        CARD_OK,
        expect.stringMatching(/^failed agent: The platform refused the service credential.*"serviceApiKey"/) as string,
      ],
    ],
    [
      'that is open, and does not respond in JSON-RPC',
      { reply: () => json({ error: 'odd' }, 400), config: OPEN },
      [CARD_OK, `warning agent: responded with status 400 | ${UNTRIED.split(' | ')[1] ?? ''}`],
    ],
    [
      'that fails',
      { reply: () => json({}, 500) },
      [
        CARD_OK,
        UNTRIED.replace('the response is the same without it', 'the agent responds with status 500, also without it'),
      ],
    ],
    ['that does not speak HTTP', { card: NO_HTTP, reply: () => NO_HTTP }, [SAYS_NO_HTTP]],
    ['that does not speak HTTP, and is open', { card: NO_HTTP, reply: () => NO_HTTP, config: OPEN }, [SAYS_NO_HTTP]],
    ['that does not speak HTTP, but its card is there', { reply: () => NO_HTTP }, [CARD_OK, SAYS_NO_HTTP]],
    ['that responds with an error without JSON-RPC', { reply: () => json({ error: 'x' }) }, [CARD_OK, UNTRIED]],
    ['that responds with a stream', { reply: () => streaming([0, EVENT]) }, [CARD_OK, UNTRIED]],
    [
      'at the address of something else',
      { reply: () => json({}) },
      [CARD_OK, `failed agent: responds with status 200, but not in JSON-RPC | ${CHECK}`],
    ],
    [
      'at the address of a page',
      { reply: () => page(200) },
      [
        CARD_OK,
        `failed agent: The address of the agent leads to a web page. (status 200 from the agent, text/html: <h1>Shop) | ${CHECK}`,
      ],
    ],
    [
      'at the address of a page, without a card',
      { card: undefined, reply: () => page(200) },
      [FAILED_NO_CARD, UNTRIED],
    ],
    [
      'that knows no POST',
      { reply: () => json({}, 405) },
      [
        CARD_OK,
        `failed agent: The agent does not accept this method at this address. (status 405 from the agent, application/json: {}) | ${CHECK}`,
      ],
    ],
    [
      'that is gone',
      { reply: () => json({}, 410) },
      [
        CARD_OK,
        `failed agent: The agent was not found at its address. (status 410 from the agent, application/json: {}) | ${CHECK}`,
      ],
    ],
    [
      'whose clock differs',
      {
        ports: { clock: new FakeClock(Date.UTC(2026, 0, 1)) },
        reply: (call) => ({
          ...wantsKey(call),
          headers: { ...wantsKey(call).headers, date: 'Thu, 01 Jan 2026 00:01:00 GMT' },
        }),
      },
      [
        CARD_OK,
        ACCEPTED,
        "warning agent clock: the local clock is 60 s behind the agent's: tokens may be refused | Set the clock of this machine, for example by NTP.",
      ],
    ],
  ])('%s', async (_title, world, lines) => {
    expect((await examined(world)).lines).toEqual(lines);
  });

  it('with and without the credential, in its version, by a task that does not exist', async () => {
    const { calls } = await examined({ card: { ...CARD, supportedInterfaces: BOTH } });
    expect(calls).toMatchObject([
      { method: 'GetTask', version: '1.0', isKnown: true },
      { method: 'GetTask', version: '1.0', isKnown: false },
    ]);
    expect((await examined({})).calls[0]).toMatchObject({ method: 'tasks/get', version: undefined });
  });
});
