import { describe, expect, it } from 'vitest';
import type { HttpResponse, UpstreamOutcome, UpstreamRequest } from '../../../src/ports/http.js';
import { ADDRESSES, at, ConfigWorld, FAR, NEAR, NOT_FOUND, served, session } from './config-world.js';

const ELSEWHERE = { origin: 'https://cards.example', path: '/agents/7.json' };
const LIMIT_MS = 10_000;

/** An upstream that gives no answer to anybody, until the request is given up. */
function silence({ signal }: UpstreamRequest): Promise<UpstreamOutcome> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'failure', reason: 'aborted', detail: 'given up' }));
  });
}

async function asked(world: ConfigWorld): Promise<void> {
  await expect.poll(() => world.paths.length).toBeGreaterThan(0);
}

describe('a search for the card', () => {
  it('that takes too long is a timeout, and its request is given up', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(silence);
    const reading = world.read();
    await asked(world);
    expect(world.deadlines.spans).toEqual([LIMIT_MS, LIMIT_MS / 2]);
    world.deadlines.pass(LIMIT_MS);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_timeout', retryable: true });
    expect(world.upstream.requests.map(({ signal }) => signal.aborted)).toEqual(ADDRESSES.map(() => true));
  });

  it('has one limit for all its addresses together', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer((request) => (request.path === NEAR ? NOT_FOUND : silence(request)));
    const reading = world.read();
    await asked(world);
    expect(world.deadlines.spans).toEqual([LIMIT_MS, LIMIT_MS / 2]);
    world.deadlines.pass(LIMIT_MS);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(new Set(world.upstream.requests.map(({ signal }) => signal)).size).toBe(1);
  });

  it('ends in time also when a card begins to come and never ends', async () => {
    const world = new ConfigWorld();
    const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    world.upstream.willAnswer((): HttpResponse => ({ ...served(), body }));
    const reading = world.read();
    await asked(world);
    world.deadlines.pass(LIMIT_MS);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it('leaves half the time to the agent when the configured address is silent', async () => {
    const world = new ConfigWorld({ cardAddress: ELSEWHERE });
    world.upstream.willAnswer((request) =>
      request.origin === ELSEWHERE.origin ? silence(request) : at(FAR, served())(request),
    );
    const reading = world.read();
    await asked(world);
    world.deadlines.pass(LIMIT_MS / 2);
    expect(await reading).toMatchObject({
      agentCard: { name: 'Agent' },
      warnings: ['agent_card_url_unavailable'],
    });
  });

  it("is a timeout when the configured address, on the agent's own host, is silent", async () => {
    const world = new ConfigWorld({ cardAddress: { origin: 'https://agent.example', path: '/card' } });
    world.upstream.willAnswer(silence);
    const reading = world.read();
    await asked(world);
    world.deadlines.pass(LIMIT_MS / 2);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(world.paths).toEqual(['/card']);
  });

  it('that failed is made again for the next reader', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(silence);
    const readers = [world.read(), world.read()];
    await asked(world);
    world.deadlines.pass(LIMIT_MS);
    for (const reader of readers) await expect(reader).rejects.toMatchObject({ code: 'upstream_timeout' });
    world.upstream.willAnswer(() => served());
    expect((await world.card())?.['name']).toBe('Agent');
  });

  it('of one user does not end with the patience of another', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(silence);
    const ada = world.read('', session('ada'));
    await asked(world);
    world.deadlines.pass(LIMIT_MS);
    world.upstream.willAnswer(() => served());
    const bob = world.read('', session('bob'));
    await expect(ada).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect((await bob).agentCard?.['name']).toBe('Agent');
  });
});
