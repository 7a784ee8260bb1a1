import { describe, expect, it } from 'vitest';
import type { FakeResponder } from '../../../src/adapters/fakes/fakes.js';
import type { HttpResponse, UpstreamOutcome, UpstreamRequest } from '../../../src/ports/http.js';
import { ADDRESSES, at, ConfigWorld, FAR, NEAR, NOT_FOUND, served, session } from './config-world.js';

const ELSEWHERE = { origin: 'https://cards.example', path: '/agents/7.json' };
const LIMIT_MS = 10_000;

/** An upstream that never responds; requests end when they are aborted. */
function silence({ signal }: UpstreamRequest): Promise<UpstreamOutcome> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'failure', reason: 'aborted', log: 'given up' }));
  });
}

async function asked(world: ConfigWorld): Promise<void> {
  await expect.poll(() => world.paths.length).toBeGreaterThan(0);
}

describe('a search for the card', () => {
  it.each<[string, FakeResponder]>([
    ['every address is silent', silence],
    ['one has responded', (request) => (request.path === NEAR ? NOT_FOUND : silence(request))],
  ])('has one time limit for all its addresses and then aborts their requests: %s', async (_what, answer) => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(answer);
    const reading = world.read();
    await asked(world);
    expect(world.deadlines.spans).toEqual([LIMIT_MS, LIMIT_MS / 2]);
    world.deadlines.pass(LIMIT_MS);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_timeout', retryable: true });
    expect(new Set(world.upstream.requests.map(({ signal }) => signal)).size).toBe(1);
    expect(world.upstream.requests.map(({ signal }) => signal.aborted)).toEqual(ADDRESSES.map(() => true));
  });

  it('ends with the nearest card, whatever farther addresses do', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer((request) => (request.path === NEAR ? served() : silence(request)));
    expect((await world.card())?.['name']).toBe('Agent');
  });

  it('continues after half the time if no address has responded', async () => {
    const world = new ConfigWorld();
    const waiting: (() => void)[] = [];
    world.upstream.willAnswer(
      (request) => new Promise((resolve) => waiting.push(() => resolve(at(FAR, served())(request)))),
    );
    const reading = world.card();
    await expect.poll(() => waiting.length).toBe(ADDRESSES.length);
    world.deadlines.pass(LIMIT_MS / 2);
    await new Promise(setImmediate);
    for (const respond of waiting) respond();
    expect((await reading)?.['name']).toBe('Agent');
  });

  it('times out on a response body that never ends', async () => {
    const world = new ConfigWorld();
    const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    world.upstream.willAnswer((): HttpResponse => ({ ...served(), body }));
    const reading = world.read();
    await asked(world);
    world.deadlines.pass(LIMIT_MS);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it("leaves half the time for the agent's own addresses when the configured one does not respond", async () => {
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

  it("times out when the configured address is on the agent's host and does not respond", async () => {
    const world = new ConfigWorld({ cardAddress: { origin: 'https://agent.example', path: '/card' } });
    world.upstream.willAnswer(silence);
    const reading = world.read();
    await asked(world);
    world.deadlines.pass(LIMIT_MS / 2);
    await expect(reading).rejects.toMatchObject({ code: 'upstream_timeout', retryable: true });
    expect(world.paths).toEqual(['/card']);
  });

  it('is repeated for the next caller after a failure', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(silence);
    const readers = [world.read(), world.read()];
    await asked(world);
    world.deadlines.pass(LIMIT_MS);
    for (const reader of readers) await expect(reader).rejects.toMatchObject({ code: 'upstream_timeout' });
    world.upstream.willAnswer(() => served());
    expect((await world.card())?.['name']).toBe('Agent');
  });

  it("of one user continues when another user's times out", async () => {
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
