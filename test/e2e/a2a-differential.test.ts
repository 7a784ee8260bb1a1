import { createToolkit, type Toolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Platform, startPlatform } from '../../examples/platform/start-platform.js';
import type { Site } from '../site/framework.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { type Connect, GENERATIONS } from '../support/a2a-generations.js';
import { type Front, transcript, type Transcript } from '../support/a2a-transcript.js';
import { Forwarder } from '../support/forwarder.js';
import { newServiceAccountKey } from '../support/service-account.js';

const realFetch = fetch;

let platform: Platform;
let agent: Forwarder;
let toolkit: Toolkit;
let site: Site;

const configured = (privateKeyPem: string): Toolkit =>
  createToolkit({
    a2aUrl: `${agent.origin}/a2a`,
    serviceApiUrl: platform.serviceApiUrl,
    serviceAuthStrategy: 'service_account',
    serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem },
  });

beforeAll(async () => {
  platform = await startPlatform({ wordMs: 2, slowStepMs: 20 });
  agent = await Forwarder.start(platform.url);
  const { privateKey, publicKey } = await newServiceAccountKey();
  platform.registerKey('key-1', publicKey, 'site-1');
  toolkit = configured(privateKey);
  site = await listeningSite(createNodeHandler({ toolkit }));
});

afterAll(async () => {
  await site?.close();
  await toolkit?.close();
  await agent?.close();
  await platform?.close();
});

async function fetched(address: string, version: string | null): Promise<string> {
  const response = await realFetch(address, { headers: version === null ? {} : { 'a2a-version': version } });
  expect(response.status).toBe(200);
  return response.text();
}

/** Forwards to the agent under another origin, with the site's token. */
async function around(origin: string): Promise<Front> {
  return {
    card: async (version) => {
      const card = await fetched(`${platform.url}/.well-known/agent-card.json`, version);
      return JSON.parse(card.replaceAll(platform.url, origin)) as unknown;
    },
    headers: { authorization: String((await toolkit.authHeaders())['authorization']) },
  };
}

/** The site, found by the client through the card of the config route only. */
const throughTheSite = (): Front => ({
  card: async (version) =>
    (JSON.parse(await fetched(`${site.url}/api/a2a/config`, version)) as { agentCard: unknown }).agentCard,
  headers: {},
});

async function conversation(connect: Connect, front: Front): Promise<Transcript> {
  const seen = await transcript({
    connect,
    front,
    agent,
    openStreams: () => platform.openStreams,
    replaceFetch: (replacement) => vi.stubGlobal('fetch', replacement),
  });
  await vi.waitFor(() => expect(platform.openStreams).toBe(0), 10_000);
  return seen;
}

describe.each(GENERATIONS)('a visitor with %s', (name, connect) => {
  let direct: Transcript;

  beforeAll(async () => {
    direct = await conversation(connect, await around(agent.origin));
    vi.unstubAllGlobals();
  });

  it('completes nine scenes directly with the agent', () => {
    expect(Object.keys(direct.answers)).toHaveLength(9);
    for (const [scene, answer] of Object.entries(direct.answers)) {
      if (scene === 'unknown task') expect(answer).toMatch(/not found/i);
      else expect(answer).not.toContain('"thrown"');
    }
    expect(direct.answers['stream']).toContain('"openAtFirst":1');
    expect(direct.heard.length).toBeGreaterThan(9);
  });

  it('receives the same bytes through the site, and the agent receives the same requests', async () => {
    const seen = await conversation(connect, throughTheSite());
    expect(seen.answers).toEqual(direct.answers);
    expect(seen.wire).toEqual(direct.wire);
    expect(seen.heard).toEqual(direct.heard);
  });

  it('sees the hint of a site with a wrong credential', async () => {
    const stranger = configured((await newServiceAccountKey()).privateKey);
    const broken = await listeningSite(createNodeHandler({ toolkit: stranger }));
    onTestFinished(async () => {
      await broken.close();
      await stranger.close();
    });
    const card = JSON.stringify(await throughTheSite().card(null)).replaceAll(site.url, broken.url);
    vi.stubGlobal('fetch', ((input, init) => {
      const request = new Request(input, init);
      return request.url.includes('/.well-known/') ? Promise.resolve(new Response(card)) : realFetch(request);
    }) satisfies typeof fetch);
    const visitor = await connect('http://agent.example');
    const hint = 'Check the "serviceAccount" configuration block';
    const first = visitor.stream({ text: 'Hello' })[Symbol.asyncIterator]().next();
    await expect(first).rejects.toThrow(hint);
    // Version 0.2 of the client reads the body of a non-2xx response twice.
    if (!name.includes('0.2')) await expect(visitor.send({ text: 'Hello' })).rejects.toThrow(hint);
  });
});

describe('a request written by hand', () => {
  const GET_TASK = '{"jsonrpc":"2.0","id":"by-hand","method":"GetTask","params":{"id":"nobody"}}';
  const OLD_GET_TASK = '{"jsonrpc":"2.0","id":"by-hand","method":"tasks/get","params":{"id":"nobody"}}';

  async function answers(query: string, headers: Record<string, string>, body: string) {
    const { authorization = '' } = await toolkit.authHeaders();
    const post = (address: string, credential: Record<string, string>) =>
      realFetch(address + query, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers, ...credential },
        body,
      });
    const direct = await post(`${agent.origin}/a2a`, { authorization });
    const passed = await post(`${site.url}/api/a2a`, {});
    return { direct, passed, texts: [await direct.text(), await passed.text()] };
  }
  const codeIn = (text: string | undefined): number =>
    (JSON.parse(text ?? '') as { error: { code: number } }).error.code;

  it.each([
    ['in version 1.0', '', { 'a2a-version': '1.0' }, GET_TASK, -32001],
    ['in version 0.3', '', { 'a2a-version': '0.3' }, OLD_GET_TASK, -32001],
    ['without a version, which means 0.3', '', {}, OLD_GET_TASK, -32001],
    ['in version 1.0 without its header field', '', {}, GET_TASK, -32601],
    // The agent's SDK reads only the field, but the query is forwarded too.
    ['with its version in the query', '?A2A-Version=1.0', {}, GET_TASK, -32601],
    ['in a version unknown to the agent', '', { 'a2a-version': '9.9' }, GET_TASK, -32009],
    [
      'whose media type has parameters',
      '',
      { 'content-type': 'Application/JSON; charset=utf-8' },
      OLD_GET_TASK,
      -32001,
    ],
  ])('%s gets the same response through the site as from the agent', async (_how, query, headers, body, code) => {
    const { direct, passed, texts } = await answers(query, headers, body);
    expect(passed.status).toBe(direct.status);
    expect(passed.headers.get('content-type')).toBe(direct.headers.get('content-type'));
    expect(texts[1]).toBe(texts[0]);
    expect(codeIn(texts[1])).toBe(code);
    expect(new Set(agent.heard.slice(-2).map(({ target }) => target))).toEqual(new Set([`/a2a${query}`]));
  });

  it.each([
    ['is not JSON', {}, '{"jsonrpc":', -32700],
    ['is declared as text', { 'content-type': 'text/plain' }, GET_TASK, -32005],
  ])('that %s gets the error code of the agent', async (_what, headers, body, code) => {
    const { texts } = await answers('', headers, body);
    expect(texts.map(codeIn)).toEqual([code, code]);
  });
});
