import { describe, expect, it } from 'vitest';
import { REQUEST, SERVICE } from '../credentials/broker-fixture.js';
import { at, CARD, ConfigWorld, credentialOf, ENTRANCE, FAR, served, session } from './config-world.js';

describe('the chat configuration', () => {
  it('has the rewritten card, the project, the brand and the address of the chat', async () => {
    expect(await new ConfigWorld().read()).toEqual({
      agentCard: { ...CARD, url: 'https://site.example/api/a2a', preferredTransport: 'JSONRPC' },
      serviceProjectId: 'proj-1',
      brandCss: ':root{}',
      mediaOrigins: [],
      supportsStreaming: true,
      a2aEndpoint: '/api/a2a',
      warnings: [],
    });
  });

  it.each([
    ['absent', {}, false],
    ['false', { capabilities: { streaming: false } }, false],
    ['not a boolean', { capabilities: { streaming: 'true' } }, false],
    ['null', { capabilities: null }, false],
    ['true', { capabilities: { streaming: true } }, true],
  ])("contains the agent's streaming flag: %s", async (_what, fields, streams) => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served({ name: 'a', url: 'https://agent.internal', ...fields })));
    expect((await world.read()).supportsStreaming).toBe(streams);
  });

  it.each([
    ['same origin', 'https://agent.example/rest', ['JSONRPC', 'HTTP+JSON']],
    ['another origin', 'https://elsewhere.example/rest', ['JSONRPC']],
  ])("lists HTTP+JSON only when its interface is on the agent's origin: %s", async (_where, url, bindings) => {
    const world = new ConfigWorld();
    const additionalInterfaces = [
      { url: CARD.url, transport: 'JSONRPC' },
      { url, transport: 'HTTP+JSON' },
    ];
    world.upstream.willAnswer(at(FAR, served({ ...CARD, additionalInterfaces })));
    const entrance = { ...ENTRANCE, bindings: ['JSONRPC', 'HTTP+JSON'] };
    const told = bindings.map((transport) => ({ url: ENTRANCE.url, transport }));
    const { agentCard } = await world.config.record('', REQUEST, SERVICE, entrance);
    expect(agentCard?.['additionalInterfaces']).toEqual(told);
    expect(await world.config.agentCard('', REQUEST, SERVICE, entrance)).toEqual(agentCard);
  });

  it('is complete without project and brand, with a warning', async () => {
    const directory = {
      project: () => Promise.resolve({ value: null, warning: 'project_forbidden' }),
      brand: () => Promise.resolve({ value: null, warning: 'brand_unavailable' }),
    };
    expect(await new ConfigWorld({ directory }).read()).toMatchObject({
      serviceProjectId: null,
      brandCss: '',
      warnings: ['project_forbidden', 'brand_unavailable'],
    });
  });

  it("is fetched with the caller's complete credential", async () => {
    const world = new ConfigWorld();
    await world.read('', session('ada'));
    expect(world.asked[0]?.headers).toEqual({ authorization: 'Bearer token-of-ada', 'x-api-key': 'site-key' });
    expect(world.upstream.requests[0]?.headers).toEqual({
      accept: 'application/json',
      authorization: 'Bearer token-of-ada',
      'x-api-key': 'site-key',
    });
  });

  it("is fetched with only the site's own headers", async () => {
    const world = new ConfigWorld();
    const credential = credentialOf({ 'x-own': '1' });
    await world.read('', { kind: 'headers', obtain: () => Promise.resolve(credential) });
    expect(world.upstream.requests[0]?.headers).toEqual({ accept: 'application/json', 'x-own': '1' });
    expect(world.asked).toEqual([credential]);
    expect(world.account.issued).toBe(0);
  });

  it('is an error that names the field when no agent is configured', async () => {
    const { config } = new ConfigWorld({ agent: undefined });
    const credential = credentialOf({});
    for (const asked of [
      config.record('', REQUEST, SERVICE, ENTRANCE),
      config.agentCard('', REQUEST, SERVICE, ENTRANCE),
      (async () => config.card('', { auth: SERVICE, request: REQUEST, credential }))(),
    ]) {
      await expect(asked).rejects.toMatchObject({ code: 'service_auth_failed', fields: ['a2aUrl'] });
    }
  });
});
