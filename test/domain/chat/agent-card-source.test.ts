import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/ports/http.js';
import { WatchedBody } from './chat-world.js';
import { ADDRESSES, at, CARD, ConfigWorld, FAR, NEAR, NOT_FOUND, served, session } from './config-world.js';
import { errorOf } from '../../support/error-of.js';

const WRONG = { ...CARD, name: 'Wrong' };
const ELSEWHERE = { origin: 'https://cards.example', path: '/agents/7.json' };

describe('the search for the card', () => {
  it("tries the agent's address and its origin, with the new file name and the old one", async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => NOT_FOUND);
    const error = await errorOf(world.card());
    expect(error).toMatchObject({
      code: 'upstream_invalid_response',
      detail: 'No agent card found.',
      hint: 'Check "a2aUrl" in configureServer, or set "agentCardUrl" to the address of the card.',
      block: 'configureServer',
      fields: ['a2aUrl', 'agentCardUrl'],
    });
    expect(error.logDetail()).toBe(ADDRESSES.map((path) => `${path}: status 404: no`).join('; '));
    expect(world.paths).toEqual(ADDRESSES);
    expect(new Set(world.upstream.requests.map(({ origin, method }) => `${method} ${origin}`))).toEqual(
      new Set(['GET https://agent.example']),
    );
  });

  it('tries an agent at the root of its origin once', async () => {
    const world = new ConfigWorld({ agent: { origin: 'https://agent.example', path: '/' } });
    world.upstream.willAnswer(() => NOT_FOUND);
    await expect(world.card()).rejects.toThrow('No agent card found');
    expect(world.paths).toEqual([FAR, '/.well-known/agent.json']);
  });

  it("ignores trailing slashes of the agent's address", async () => {
    const world = new ConfigWorld({ agent: { origin: 'https://agent.example', path: '/v1/a2a//' } });
    world.upstream.willAnswer(at(NEAR, served()));
    expect((await world.card())?.['name']).toBe('Agent');
  });

  it('starts at the last address that worked', async () => {
    const world = new ConfigWorld();
    await world.read();
    world.clock.advance(60_000);
    await world.read('1.0');
    expect(world.paths).toEqual([...ADDRESSES, FAR]);
    expect(world.deadlines.spans).toEqual([10_000, 5_000, 10_000]);
  });

  it("starts at the address of the caller's own last card", async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer((request) =>
      at(request.headers['authorization'] === 'Bearer token-of-ada' ? FAR : NEAR, served())(request),
    );
    for (const user of ['ada', 'bob']) await world.read('', session(user));
    world.clock.advance(60_000);
    const before = world.paths.length;
    await world.read('', session('ada'));
    expect(world.paths.slice(before)).toEqual([FAR]);
  });

  it('tries all addresses when the last one fails', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served(CARD, { etag: '"1"' })));
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(at(NEAR, served({ ...CARD, name: 'Moved' })));
    expect((await world.card())?.['name']).toBe('Moved');
    expect(world.paths).toEqual([...ADDRESSES, FAR, ...ADDRESSES.filter((path) => path !== FAR)]);
    // An entity tag is sent only to the address it came from.
    const tagged = world.upstream.requests.filter(({ headers }) => headers['if-none-match'] !== undefined);
    expect(tagged.map(({ path }) => path)).toEqual([FAR]);
  });

  it.each([
    ['a web page', served('<!doctype html>')],
    ['some other JSON', served({ hello: 'world' })],
    ['a JSON array', served([WRONG])],
    ['half a card', served('{"name":')],
    ['a card over 1 MiB', served(JSON.stringify({ ...WRONG, x: 'x'.repeat(1_048_577) }))],
    ['a redirect', { status: 302, headers: { location: 'https://evil.example' }, body: null }],
    ['an unrequested compressed response', served(WRONG, { 'content-encoding': 'gzip' })],
    ['status 500', { ...NOT_FOUND, status: 500 }],
    ['a card with status 404', { ...served(WRONG), status: 404 }],
    ['an unrequested 304', { status: 304, headers: {}, body: null }],
  ])('continues after an address with %s', async (_what, answer) => {
    const world = new ConfigWorld();
    const body = typeof answer.body === 'string' ? new WatchedBody(answer.body) : null;
    world.upstream.willAnswer(at(NEAR, { ...answer, body }, served()));
    expect((await world.card())?.['name']).toBe('Agent');
    expect(world.paths).toEqual(ADDRESSES);
  });

  it('stops when the origin cannot be reached', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'unreachable', log: 'ECONNREFUSED 10.0.0.1' }));
    const failed = world.card();
    await expect(failed).rejects.toMatchObject({ code: 'upstream_unreachable', retryable: true });
    await expect(failed).rejects.not.toThrow(/10\.0\.0\.1/);
  });

  it('ends without a card when one address has none and the others cannot be reached', async () => {
    const world = new ConfigWorld();
    const failure = { kind: 'failure', reason: 'unreachable', log: 'ECONNREFUSED' } as const;
    world.upstream.willAnswer(({ path }) => (path === FAR ? NOT_FOUND : failure));
    await expect(world.card()).rejects.toMatchObject({ detail: 'No agent card found.' });
  });

  it('does not hide a mistake of ours', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => {
      throw new TypeError('a mistake');
    });
    await expect(world.card()).rejects.toThrow('a mistake');
  });

  it('is repeated on a stale connection', async () => {
    const world = new ConfigWorld();
    const stale = { kind: 'failure', reason: 'reset', log: 'closed', sent: 'on-stale-connection' } as const;
    world.upstream.willAnswer((request) => (world.paths.length === 1 ? stale : at(NEAR, served())(request)));
    expect((await world.card())?.['name']).toBe('Agent');
    expect(world.near).toHaveLength(2);
  });

  it('rejects a card without JSON-RPC', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(FAR, served({ ...CARD, preferredTransport: 'GRPC' })));
    await expect(world.card()).rejects.toMatchObject({ code: 'agent_binding_unsupported' });
  });
});

describe('the card of an agent', () => {
  const at3000 = (path: string) => ({ origin: 'https://agent.example', path });
  /** An agent at this path, with these cards on its origin. */
  function worldOf(path: string, cards: Readonly<Record<string, object>>): ConfigWorld {
    const world = new ConfigWorld({ agent: at3000(path) });
    world.upstream.willAnswer((request) => {
      const card = cards[request.path];
      return card === undefined ? NOT_FOUND : served({ ...CARD, ...card });
    });
    return world;
  }

  it.each([
    ['ADK', '/a2a/jsonrpc', '/a2a/.well-known/agent-card.json', 'http://localhost:8000/a2a/jsonrpc'],
    ['Mastra', '/api/a2a/helper', '/api/.well-known/helper/agent-card.json', 'http://10.0.0.1/api/a2a/helper'],
    ['VoltAgent', '/a2a/helper', '/.well-known/helper/agent-card.json', '/a2a/helper'],
    [
      'LangGraph',
      '/a2a/helper',
      '/.well-known/agent-card.json?assistant_id=helper',
      'https://graph.example/a2a/helper',
    ],
    ['Strands and BeeAI', '/', '/.well-known/agent-card.json', 'http://127.0.0.1:9000'],
    ['a v0.2 server', '/agents/7', '/agents/7/.well-known/agent.json', 'http://localhost/'],
    [
      'a server with several agents',
      '/x/agents/7/rpc',
      '/x/agents/.well-known/agent-card.json',
      'https://h.example/x/agents/7/rpc/',
    ],
  ])('is found where %s serves it', async (_server, path, address, url) => {
    const additionalInterfaces = [{ url: 'https://agent.example/grpc', transport: 'GRPC' }];
    const world = worldOf(path, { [address]: { url, name: 'This', additionalInterfaces } });
    expect(await world.read()).toMatchObject({ agentCard: { name: 'This' }, warnings: [] });
    expect(new Set(world.upstream.requests.map(({ origin }) => origin))).toEqual(new Set(['https://agent.example']));
  });

  it.each([
    ['/', 2],
    ['/a', 4],
    ['/a/b', 6],
    ['/a/b/c/d/e/f/g/h/a2a/helper', 8],
  ])('of an agent at %s is searched at %i addresses', async (path, count) => {
    const world = worldOf(path, {});
    await expect(world.card()).rejects.toThrow('No agent card found');
    expect(world.paths).toHaveLength(count);
    expect(new Set(world.paths).size).toBe(count);
    expect(world.paths).toContain('/.well-known/agent-card.json');
  });

  it("that names another path is used with a warning, unless there is one for the agent's path", async () => {
    const other = { url: 'https://agent.example/agents/8', name: 'Other' };
    const doubtful = worldOf('/agents/7', { '/agents/.well-known/agent-card.json': other });
    expect(await doubtful.read()).toMatchObject({ agentCard: { name: 'Other' }, warnings: ['agent_card_doubtful'] });
    const certain = worldOf('/agents/7', {
      '/agents/.well-known/agent-card.json': other,
      '/.well-known/agent-card.json': { url: 'https://agent.example/agents/7', name: 'This' },
    });
    expect(await certain.read()).toMatchObject({ agentCard: { name: 'This' }, warnings: [] });
  });

  it('that names another path is searched again once it is no longer fresh', async () => {
    const world = worldOf('/agents/7', { '/.well-known/agent-card.json': { name: 'Other' } });
    expect((await world.read()).warnings).toEqual(['agent_card_doubtful']);
    world.clock.advance(60_000);
    world.upstream.willAnswer(at('/agents/7/.well-known/agent-card.json', served(), served(WRONG)));
    expect(await world.read()).toMatchObject({ agentCard: { name: 'Agent' }, warnings: [] });
  });

  it('on the origin is used after half the time when a nearer address does not respond, or is doubtful', async () => {
    const world = new ConfigWorld();
    const cards: Record<string, HttpResponse> = {
      '/v1/.well-known/agent-card.json': served({ ...WRONG, url: 'https://agent.example/8' }),
      [FAR]: served(),
    };
    world.upstream.willAnswer(({ path }) =>
      path === NEAR ? new Promise(() => undefined) : (cards[path] ?? NOT_FOUND),
    );
    const reading = world.read();
    await expect.poll(() => world.paths).toHaveLength(ADDRESSES.length);
    await new Promise((resolve) => setTimeout(resolve));
    world.deadlines.pass(5_000);
    expect((await reading).agentCard?.['name']).toBe('Agent');
  });

  it('is null in the chat configuration when not found, with a warning in the log', async () => {
    const world = worldOf('/a2a', {});
    expect(await world.read()).toMatchObject({
      agentCard: null,
      supportsStreaming: false,
      warnings: ['agent_card_unavailable'],
    });
    expect(world.telemetry.of('warning')).toMatchObject([
      { code: 'agent_card_unavailable', block: 'configureServer', fields: ['a2aUrl', 'agentCardUrl'] },
    ]);
  });
});

describe('a configured card address', () => {
  it("is tried first, without the agent's credential", async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer(at(ELSEWHERE.path, served()));
    expect((await world.read('1.0')).warnings).toEqual([]);
    expect(world.upstream.requests).toMatchObject([{ origin: 'https://cards.example', path: '/agents/7.json' }]);
    expect(world.upstream.requests[0]?.headers).toEqual({ accept: 'application/json', 'a2a-version': '1.0' });
  });

  it("receives the credential when it is on the agent's origin", async () => {
    const world = new ConfigWorld({ cardAddress: { origin: 'https://AGENT.example', path: '/card' } });
    world.upstream.willAnswer(at('/card', served()));
    await world.read();
    expect(world.upstream.requests[0]?.headers['authorization']).toBe('Bearer account-token-1');
  });

  it("falls back to the agent's own card when it fails, with a warning", async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer((request) =>
      request.origin === ELSEWHERE.origin
        ? { kind: 'failure', reason: 'unreachable', log: '' }
        : at(FAR, served())(request),
    );
    expect((await world.read()).warnings).toEqual(['agent_card_url_unavailable']);
    expect(world.paths).toEqual([ELSEWHERE.path, ...ADDRESSES]);
  });

  it('appears in the log with the others when all fail', async () => {
    const world = new ConfigWorld({
      cardAddress: ELSEWHERE,
      agent: { origin: 'https://agent.example', path: '/' },
    });
    world.upstream.willAnswer(({ origin }) =>
      origin === ELSEWHERE.origin ? { kind: 'failure', reason: 'unreachable', log: 'ECONNREFUSED' } : NOT_FOUND,
    );
    expect((await errorOf(world.card())).logDetail()).toBe(
      '/agents/7.json: ECONNREFUSED; /.well-known/agent-card.json: status 404: no; /.well-known/agent.json: status 404: no',
    );
  });

  it('with a long response does not crowd the others out of the log', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE, agent: { origin: 'https://agent.example', path: '/' } });
    world.upstream.willAnswer(({ origin }) =>
      origin === ELSEWHERE.origin ? { ...NOT_FOUND, body: 'much '.repeat(500) } : NOT_FOUND,
    );
    const said = (await errorOf(world.card())).logDetail();
    expect(said).toMatch(
      /^\/agents\/7\.json: status 404: much much .*…; \/\.well-known\/agent-card\.json: status 404: no;/,
    );
    expect(said.length).toBeLessThan(600);
    // With its status, exactly 400 characters.
    world.clock.advance(30_000);
    world.upstream.willAnswer(() => ({ ...NOT_FOUND, body: 'x'.repeat(388) }));
    expect((await errorOf(world.card())).logDetail()).not.toContain('…');
  });

  it('is quoted in the log when its response contains no card', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => served('<!doctype html>sign in', { 'content-type': 'text/html' }));
    expect((await errorOf(world.card())).logDetail()).toMatch(/: status 200, text\/html: <!doctype html>sign in; /);
  });

  it('has the start of a response quoted that is too long for a card', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(NEAR, served(JSON.stringify({ ...CARD, x: 'x'.repeat(1_048_577) }))));
    expect((await errorOf(world.card())).logDetail()).toContain(
      `${NEAR}: status 200, application/json: {"name":"Agent"`,
    );
  });

  it("that is on the agent's origin is the only one tried when it does not respond", async () => {
    const world = new ConfigWorld({ cardAddress: { origin: 'https://agent.example', path: '/card' } });
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'unreachable', log: '' }));
    await expect(world.card()).rejects.toMatchObject({ code: 'upstream_unreachable' });
    expect(world.paths).toEqual(['/card', ...ADDRESSES, '/card']);
  });

  it('that rejects every request does not blame the credential', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer(({ origin }) => ({ ...NOT_FOUND, status: origin === ELSEWHERE.origin ? 401 : 404 }));
    await expect(world.card()).rejects.toMatchObject({ code: 'upstream_invalid_response' });
    expect(world.account.issued).toBe(1);
  });

  it('is used again as soon as it works', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(() => served());
    expect((await world.read()).warnings).toEqual([]);
  });
});
