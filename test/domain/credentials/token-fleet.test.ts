import { describe, expect, it } from 'vitest';
import { FakeCacheStore, FakeIdentityProvider, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { type Issuer, type IssueToken, TokenCache } from '../../../src/domain/credentials/token-cache.js';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import type { IssueOutcome } from '../../../src/ports/identity-provider.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { failure } from './token-fixture.js';
import { memoryOf } from '../../support/memory.js';

/** Wrong passwords lock its account. */
const ISSUER: Issuer = { block: 'someBlock', takesTurns: true };

/** Processes that share tokens, and a provider that takes 100 ms for each request. */
class TokenFleet {
  readonly clock = new VirtualTime();
  readonly store = new FakeCacheStore(this.clock);
  readonly provider = new FakeIdentityProvider('site', 'someBlock');
  readonly caches: readonly TokenCache[];
  issueMs = 100;

  constructor(count = 20, store: CacheStore = this.store) {
    this.caches = Array.from({ length: count }, () => this.started(store));
  }

  /** A process whose clock is this far ahead. */
  started(shared: CacheStore = this.store, aheadMs = 0): TokenCache {
    const { sleep } = this.clock;
    const clock = { now: () => this.clock.now() + aheadMs };
    const telemetry = new RecordingTelemetry();
    const newId = (): string => crypto.randomUUID();
    return new TokenCache({ clock, telemetry, random: () => 0, sleep, newId, shared, memory: memoryOf(clock) });
  }

  readonly issue: IssueToken = async (now) => {
    const outcome = this.provider.issue(now);
    await this.clock.sleep(this.issueMs);
    return outcome;
  };

  ask(caches: readonly TokenCache[] = this.caches): Promise<readonly IssueOutcome[]> {
    return this.clock.result(Promise.all(caches.map((cache) => cache.get('key', ISSUER, this.issue))));
  }
}

/** The tokens, or the reasons for their absence. */
function kinds(outcomes: readonly IssueOutcome[]): readonly string[] {
  return [...new Set(outcomes.map((outcome) => (outcome.kind === 'token' ? outcome.token.value : outcome.reason)))];
}

describe('twenty processes that share the tokens of a password', () => {
  it('send one token request when they start', async () => {
    const fleet = new TokenFleet();
    expect([kinds(await fleet.ask()), fleet.provider.issued]).toEqual([['site-token-1'], 1]);
  });

  it('do not wait for the token of another identity', async () => {
    const fleet = new TokenFleet(2);
    const startedAt = fleet.clock.now();
    const asked = fleet.caches.map((cache, index) => cache.get(`key ${String(index)}`, ISSUER, fleet.issue));
    await fleet.clock.result(Promise.all(asked));
    expect(fleet.clock.now() - startedAt).toBe(200);
  });

  it('send one request when the token is due', async () => {
    const fleet = new TokenFleet();
    await fleet.ask();
    fleet.clock.advance(299_000);
    expect([kinds(await fleet.ask()), fleet.provider.issued]).toEqual([['site-token-2'], 2]);
  });

  it('send one request when the platform rejects the token, and leave a renewed one in the store', async () => {
    const fleet = new TokenFleet();
    await fleet.ask();
    const [first, ...others] = fleet.caches;
    await first?.reject('key', 'site-token-1');
    await fleet.ask();
    for (const cache of others) await cache.reject('key', 'site-token-1');
    expect([kinds(await fleet.ask()), fleet.provider.issued]).toEqual([['site-token-2'], 2]);
  });

  it('have no token in the keys of the store', async () => {
    const keys: string[] = [];
    const fleet = new TokenFleet(2);
    const set = fleet.store.set.bind(fleet.store);
    fleet.store.set = (key, value, expiresAt) => {
      keys.push(key);
      return set(key, value, expiresAt);
    };
    await fleet.ask();
    await fleet.caches[0]?.reject('key', 'site-token-1');
    await fleet.ask();
    fleet.clock.advance(299_000);
    await fleet.ask();
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.join()).not.toContain('site-token');
  });

  it('send one request that is refused, and none until the back-off of the fleet ends', async () => {
    const fleet = new TokenFleet();
    fleet.provider.answer = () => failure('refused');
    expect([kinds(await fleet.ask()), fleet.provider.issued]).toEqual([['refused'], 1]);
    // Processes that start later know of it too.
    const late = [fleet.started(), fleet.started()];
    await fleet.clock.pass(29_000);
    expect([kinds(await fleet.ask([...fleet.caches, ...late])), fleet.provider.issued]).toEqual([['refused'], 1]);
    await fleet.clock.pass(2_000);
    await fleet.ask([...fleet.caches, ...late]);
    expect(fleet.provider.issued).toBe(2);
    // The second back-off is twice as long.
    await fleet.clock.pass(58_000);
    await fleet.ask([...late, fleet.started()]);
    expect(fleet.provider.issued).toBe(2);
  });

  it('do not back off longer after a refusal from a process whose clock is ten minutes ahead', async () => {
    const fleet = new TokenFleet(2);
    // A store gets the lifetime of an entry.
    const { store } = fleet;
    const set: CacheStore['set'] = (key, value, expiresAt) => store.set(key, value, expiresAt - 600_000);
    const shifted: CacheStore = { get: (key) => store.get(key), set, delete: (key) => store.delete(key) };
    fleet.provider.answer = () => failure('refused');
    await fleet.ask([fleet.started(shifted, 600_000)]);
    expect(await fleet.ask()).toMatchObject(Array(2).fill({ reason: 'refused', retryAfterMs: 30_000 }));
    expect(fleet.provider.issued).toBe(1);
    await fleet.clock.pass(31_000);
    fleet.provider.answer = undefined;
    expect(kinds(await fleet.ask())).toEqual(['site-token-2']);
  });

  it.each([1, 2])('ask again once after a refusal whose cause may be fixed (%i of them)', async (count) => {
    const fleet = new TokenFleet(count);
    fleet.provider.answer = () => failure('refused');
    await fleet.ask();
    fleet.provider.answer = undefined;
    for (const cache of fleet.caches) cache.liftBackOffs();
    await fleet.clock.pass(1_000);
    expect([kinds(await fleet.ask()), fleet.provider.issued]).toEqual([['site-token-2'], 2]);
  });

  it('send one more request when the requesting process ends', async () => {
    const fleet = new TokenFleet(1);
    void fleet.started().get('key', ISSUER, () => new Promise(() => undefined));
    await fleet.clock.pass(1);
    expect([kinds(await fleet.ask()), fleet.provider.issued]).toEqual([['site-token-1'], 1]);
    expect(fleet.clock.now() - Date.UTC(2026, 0, 1)).toBeLessThan(1_400);
  });

  it('send one request if the provider takes almost the second for which they wait', async () => {
    const fleet = new TokenFleet();
    // The lease has expired when they look for the token the next time.
    fleet.issueMs = 980;
    expect([kinds(await fleet.ask()), fleet.provider.issued]).toEqual([['site-token-1'], 1]);
  });

  it('wait for about a second for the only one that has asked', async () => {
    const fleet = new TokenFleet(2);
    fleet.issueMs = 5_000;
    const startedAt = fleet.clock.now();
    const waiting = fleet.caches.map((cache) => cache.get('key', ISSUER, fleet.issue));
    await fleet.clock.pass(1_300);
    expect(fleet.provider.issued).toBe(2);
    await fleet.clock.result(Promise.all(waiting));
    expect(fleet.clock.now() - startedAt).toBeLessThan(6_400);
  });

  it('send one request a second until the first token arrives', async () => {
    const fleet = new TokenFleet();
    fleet.issueMs = 3_000;
    const startedAt = fleet.clock.now();
    const arrivals = fleet.caches.map(async (cache) => {
      await cache.get('key', ISSUER, fleet.issue);
      return fleet.clock.now() - startedAt;
    });
    const times = await fleet.clock.result(Promise.all(arrivals));
    expect(fleet.provider.issued).toBe(3);
    // The other two wait for their own requests.
    expect(times.filter((ms) => ms < 3_400)).toHaveLength(18);
  });

  it('send one request after the other when requesting processes end', async () => {
    const fleet = new TokenFleet();
    const ended = fleet.caches.slice(0, 3);
    for (const cache of ended) void cache.get('key', ISSUER, () => new Promise(() => undefined));
    const others = fleet.caches.slice(3);
    const startedAt = fleet.clock.now();
    expect([kinds(await fleet.ask(others)), fleet.provider.issued]).toEqual([['site-token-1'], 1]);
    expect(fleet.clock.now() - startedAt).toBeLessThan(3_400);
  });

  it('wait at most five seconds, then call the provider themselves', async () => {
    const fleet = new TokenFleet();
    fleet.issueMs = 60_000;
    const waiting = fleet.caches.map((cache) => cache.get('key', ISSUER, fleet.issue));
    await fleet.clock.pass(4_900);
    expect(fleet.provider.issued).toBe(5);
    await fleet.clock.pass(200);
    expect(fleet.provider.issued).toBe(20);
    expect(fleet.store.calls.get, 'reads of the store').toBeLessThan(4_000);
    await fleet.clock.result(Promise.all(waiting));
  });

  it.each([
    ['get', ''],
    ['set', ''],
  ] as const)('get their tokens after a second when "%s" of the store fails (%j)', async (operation, part) => {
    const fleet = new TokenFleet(5);
    const { store } = fleet;
    const works = store[operation].bind(store) as CacheStore['set'];
    const call: CacheStore['set'] = (key, value, expiresAt) =>
      String(value).includes(part) ? Promise.reject(new Error('down')) : works(key, value, expiresAt);
    Object.assign(store, { [operation]: call });
    const startedAt = fleet.clock.now();
    expect(kinds(await fleet.ask()).every((kind) => kind.startsWith('site-token'))).toBe(true);
    expect(fleet.clock.now() - startedAt).toBeLessThan(1_600);
    await fleet.caches[0]?.reject('key', 'site-token-1');
  });

  it('get a refusal that the store rejects', async () => {
    const fleet = new TokenFleet(1);
    fleet.provider.answer = () => failure('refused');
    fleet.store.set = () => Promise.reject(new Error('down'));
    expect(kinds(await fleet.ask())).toEqual(['refused']);
  });

  it('do not remove a token from the store that another process has renewed', async () => {
    const fleet = new TokenFleet(2);
    await fleet.ask();
    const [first, second] = fleet.caches;
    await first?.reject('key', 'site-token-1');
    if (first !== undefined) await fleet.ask([first]);
    await second?.reject('key', 'site-token-1');
    expect(JSON.parse((await fleet.store.get('key')) ?? '{}')).toMatchObject({ value: 'site-token-2' });
  });

  it.each([
    'null',
    '7',
    '{}',
    '{"failure":7,"retryAt":9e15}',
    '{"failure":{},"retryAt":"9"}',
    '{"failure":{},"retryAt":9e15}',
    `{"failure":{},"failures":1,"refusedAt":1,"retryAt":${String(Date.UTC(2026, 0, 1))}}`,
  ])('ignore a damaged refusal, or one that is over (%s)', async (text) => {
    const fleet = new TokenFleet(1);
    await fleet.store.set('key refused', text, fleet.clock.now() + 60_000);
    expect(kinds(await fleet.ask())).toEqual(['site-token-1']);
  });
});
