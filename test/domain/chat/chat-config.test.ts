import { describe, expect, it } from 'vitest';
import { Caller } from '../../../src/domain/upstream/platform-call.js';
import { REQUEST, SERVICE } from '../credentials/broker-fixture.js';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { memoryOf } from '../../support/memory.js';
import { at, CARD, ConfigWorld, credentialOf, ENTRANCE, FAR, NOT_FOUND, served, session } from './config-world.js';

interface Found {
  readonly value: string;
  readonly warning?: string;
}

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

  it('has both warnings when neither the configured address nor the agent has a card', async () => {
    const world = new ConfigWorld({ cardAddress: { origin: 'https://cards.example', path: '/card' } });
    world.upstream.willAnswer(() => NOT_FOUND);
    expect((await world.read()).warnings).toEqual(['agent_card_url_unavailable', 'agent_card_unavailable']);
  });

  it('is the same object until something in it changes', async () => {
    let project: Found = { value: 'proj-1' };
    let brand: Found = { value: ':root{}' };
    const directory = { project: () => Promise.resolve(project), brand: () => Promise.resolve(brand) };
    const world = new ConfigWorld({ directory });
    const known = [await world.read()];
    for (const change of [
      () => (project = { value: 'proj-2' }),
      () => (brand = { value: '' }),
      () => (brand = { value: '', warning: 'brand_unavailable' }),
    ]) {
      expect(await world.read()).toBe(known.at(-1));
      change();
      known.push(await world.read());
    }
    expect(new Set(known).size).toBe(4);
    expect(known.at(-1)).toMatchObject({
      serviceProjectId: 'proj-2',
      brandCss: '',
      warnings: ['brand_unavailable'],
    });
    expect(await world.card()).toBe(await world.card());
  });

  it('is not stored when it is larger than the memory', async () => {
    const brand = () => Promise.resolve({ value: 'x'.repeat(1_000) });
    const directory = { project: () => Promise.resolve({ value: null }), brand };
    const world = new ConfigWorld({ directory, memory: memoryOf(new FakeClock(), 2_000) });
    expect(await world.read()).not.toBe(await world.read());
  });

  it('of one card and policy is never served for another', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(({ headers }) => served({ ...CARD, name: headers['a2a-version'] ?? 'any' }));
    const nameOf = async (version: string, policy: typeof ENTRANCE.policy) =>
      (await world.config.agentCard(version, REQUEST, SERVICE, { ...ENTRANCE, policy }))['name'];
    // The eleventh object is the second card, and the twelfth the last policy.
    const policies = Array.from({ length: 9 }, () => ({ allows: () => true }));
    for (const policy of policies) await nameOf('', policy);
    expect(await nameOf('1.0', policies[0] ?? ENTRANCE.policy)).toBe('1.0');
    expect(await nameOf('', ENTRANCE.policy)).toBe('any');
  });

  it('is looked up together with the card, unless visitors choose fields that the site forwards', async () => {
    const fields = { request: ['x-tenant'], response: [] };
    for (const [auth, count] of [[SERVICE, 1] as const, [{ ...SERVICE, fields }, 0] as const]) {
      const world = new ConfigWorld();
      const request = { ...REQUEST, headers: { 'x-tenant': 'made-up' } };
      const refused = world.config.record('', request, auth, ENTRANCE, () => Promise.reject(new Error('too many')));
      await expect(refused).rejects.toThrow('too many');
      expect(world.asked).toHaveLength(count);
    }
  });

  it("has its card's address and interfaces reported as the agent wrote them", async () => {
    expect(await new ConfigWorld().config.cardFacts('', REQUEST, SERVICE)).toEqual({
      address: 'https://agent.example/.well-known/agent-card.json',
      interfaces: [{ url: CARD.url, binding: 'JSONRPC' }],
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
      (async () => config.card('', new Caller(SERVICE, REQUEST, credential)))(),
    ]) {
      await expect(asked).rejects.toMatchObject({ code: 'service_auth_failed', fields: ['a2aUrl'] });
    }
  });
});
