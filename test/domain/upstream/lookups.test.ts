import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { Credential } from '../../../src/domain/credentials/credential.js';
import { type Found, Lookups, type LookupTask } from '../../../src/domain/upstream/lookups.js';
import { PLATFORM, AGENT } from '../../../src/domain/upstream/platform-error.js';
import { ownedBy } from '../credentials/broker-fixture.js';
import { Deferred } from '../credentials/token-fixture.js';
import { errorOf } from '../../support/error-of.js';
import { memoryOf } from '../../support/memory.js';

/** Numbered results that are fresh for a second; `asked` has the result each request got to compare with. */
class LookupsWorld {
  readonly clock = new FakeClock();
  readonly deadline = new AbortController();
  readonly asked: (string | undefined)[] = [];
  readonly #lookups: Lookups<string>;

  constructor(limitBytes = Infinity) {
    const { clock } = this;
    const deadline = (): AbortSignal => this.deadline.signal;
    const memory = memoryOf(clock, limitBytes);
    this.#lookups = new Lookups({ clock, memory, lookupMs: 10_000, deadline, hash: String });
  }

  get(who: string, task: Partial<LookupTask<string>> = {}, unit?: string): Promise<string> {
    const fields = { added: {}, forwarded: unit === undefined ? {} : { 'x-unit': unit }, response: [] };
    return this.#lookups.get({
      counterpart: PLATFORM,
      name: 'brand',
      credential: new Credential({ kind: 'session', headers: {}, owner: ownedBy(who), block: 'idpA', fields }),
      ask: (_deadline, last) => {
        this.asked.push(last);
        return Promise.resolve({ value: `brand ${String(this.asked.length)}`, lifeMs: 1_000, bytes: 7 });
      },
      ...task,
    });
  }
}

describe('a look-up', () => {
  it('that fails in time throws its own error', async () => {
    const looking = new LookupsWorld().get('ada', { ask: () => Promise.reject(new TypeError('no such thing')) });
    await expect(looking).rejects.toThrow('no such thing');
  });

  it.each([AGENT, PLATFORM])('times out with the name of its target: $name', async (counterpart) => {
    const world = new LookupsWorld();
    const looking = world.get('ada', { counterpart, ask: () => new Promise(() => undefined) });
    world.deadline.abort();
    const error = await errorOf(looking);
    expect(error).toMatchObject({
      name: 'UpstreamError',
      code: 'upstream_timeout',
      detail: `The ${counterpart.name} did not respond in time.`,
      retryable: true,
    });
    expect(error.logDetail()).toBe(`a look-up at the ${counterpart.name} took longer than "lookupMs" allows`);
  });

  it('that timed out passes the error to what converts failures', async () => {
    const world = new LookupsWorld();
    const failed = (error: unknown): Found<string> => ({ value: (error as Error).name, lifeMs: 0, bytes: 0 });
    const looking = world.get('ada', { failed, ask: () => new Promise(() => undefined) });
    world.deadline.abort();
    expect(await looking).toBe('UpstreamError');
  });
});

describe('a result of a look-up', () => {
  it('costs an admission only if it causes a request', async () => {
    const world = new LookupsWorld();
    let admitted = 0;
    const admit = (): Promise<void> => Promise.resolve(void (admitted += 1));
    const found = new Deferred<Found<string>>();
    const first = world.get('ada', { admit, ask: () => found.promise });
    await expect.poll(() => admitted).toBe(1);
    const joined = world.get('ada', { admit });
    found.resolve({ value: 'brand', lifeMs: 1_000, bytes: 5 });
    expect([await first, await joined, await world.get('ada', { admit }), admitted]).toEqual([
      'brand',
      'brand',
      'brand',
      1,
    ]);
    await expect(world.get('bob', { admit: () => Promise.reject(new Error('too many')) })).rejects.toThrow('too many');
    expect(world.asked).toEqual([]);
  });

  it('is an error of its own, which is not cached, unless the task decides otherwise', async () => {
    const world = new LookupsWorld();
    let asked = 0;
    const ask = (): Promise<never> => Promise.reject(new Error(`down ${String((asked += 1))}`));
    for (const text of ['down 1', 'down 2']) await expect(world.get('ada', { ask })).rejects.toThrow(text);
    const failed = (error: unknown): Found<string> => ({ value: String(error), lifeMs: 1_000, bytes: 9 });
    // Shared by all users of a route; the failure is of this user alone, and costs one request.
    for (const who of ['ada', 'ada'])
      expect(await world.get(who, { ask, failed, sharedBy: 'route' })).toBe('Error: down 3');
    expect(await world.get('bob', { failed, sharedBy: 'route' })).toBe('brand 1');
  });

  it('is not cached when it is larger than the memory', async () => {
    const world = new LookupsWorld(2_000);
    const sizes = [900, 900, 7, 7].values();
    const ask = (): Promise<Found<string>> => {
      const bytes = sizes.next().value ?? 0;
      return Promise.resolve({ value: String(bytes), lifeMs: 1_000, bytes });
    };
    for (let count = 0; count < 4; count += 1) await world.get('ada', { ask });
    expect([...sizes]).toEqual([7]);
  });

  it('is compared with the next one when it is outdated, also after other results', async () => {
    const world = new LookupsWorld();
    for (const who of ['ada', 'bob']) await world.get(who);
    world.clock.advance(999);
    expect(await world.get('ada')).toBe('brand 1');
    world.clock.advance(1);
    expect([await world.get('ada'), world.asked]).toEqual(['brand 3', [undefined, undefined, 'brand 1']]);
  });

  it('is fresh for as long as the look-up decides', async () => {
    const world = new LookupsWorld();
    await world.get('ada');
    world.clock.advance(1_000);
    const until = world.clock.now();
    expect(await world.get('ada', { isFresh: (value, end) => value === 'brand 1' && end === until })).toBe('brand 1');
    expect(await world.get('ada', { isFresh: () => false })).toBe('brand 2');
  });
});
