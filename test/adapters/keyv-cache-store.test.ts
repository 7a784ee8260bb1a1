import { EventEmitter } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Keyv } from 'keyv';
import { FakeCacheStore, FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { isKeyv, KeyvCacheStore, keyvLike } from '../../src/adapters/keyv/keyv-cache-store.js';
import { faultOf } from '../../src/adapters/keyv/store-breaker.js';
import { STORE_AWAY } from '../../src/domain/shared/store-calls.js';
import { getMany } from '../../src/domain/shared/store-calls.js';
import type { CacheStore } from '../../src/ports/cache-store.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';
import { timed } from '../support/stopwatch.js';
import { CACHE_MS, failed, never, refused, World } from './keyv-world.js';

const PAUSE_MS = 500;

cacheStoreContract('KeyvCacheStore over a Keyv in memory', () => {
  const { clock, telemetry } = new World();
  const store = new KeyvCacheStore({ keyv: new Keyv(), clock, telemetry, cacheMs: 1_000 });
  return { store, now: () => clock.now(), pass: (ms) => clock.advance(ms) };
});

describe('a shared store', () => {
  it('gets the remaining life of an entry', async () => {
    const { keyv, store, clock } = new World();
    await store.set('token of anna', 'value', clock.now() + 1_234.75);
    expect([keyv.lives, await store.get('token of anna')]).toEqual([[1_234], 'value']);
  });

  it('deletes an entry instead of setting a life of 0, which Keyv treats as unlimited', async () => {
    const { keyv, store, clock } = new World();
    await store.set('token', 'old', clock.now() + 60_000);
    await store.set('token', 'new', clock.now() + 0.5);
    expect(keyv.lives).toEqual([60_000]);
    expect(keyv.entries.size).toBe(0);
  });

  it.each([Infinity, Number.NaN, 1e300])('gets no entry that expires at %d', async (expiresAt) => {
    const { keyv, store } = new World();
    await store.set('token', 'value', expiresAt);
    expect([keyv.lives, await store.get('token')]).toEqual([[], undefined]);
  });

  it('that returns an expired entry is a miss', async () => {
    const { store, clock, keyv } = new World();
    await store.set('token', 'value', clock.now() + 1_000);
    clock.advance(1_000);
    expect(keyv.entries.size).toBe(1);
    expect(await store.get('token')).toBeUndefined();
  });

  it('that reports a write it did not make is a miss', async () => {
    const world = new World();
    world.keyv.fault = () => Promise.resolve(true);
    await world.set('token', 'value');
    expect(await world.store.get('token')).toBeUndefined();
  });

  it('that mixes up two entries returns neither', async () => {
    const world = new World();
    await world.set('anna', 'token of anna');
    await world.set('bert', 'token of bert');
    world.keyv.entries.set('anna', world.keyv.entries.get('bert'));
    expect(await world.store.get('anna')).toBeUndefined();
    expect(await world.store.get('bert')).toBe('token of bert');
    await world.set('bertha', 'token of bertha');
    world.keyv.entries.set('bert', world.keyv.entries.get('bertha'));
    expect(await world.store.get('bert')).toBeUndefined();
  });

  it.each([
    'garbage',
    '',
    '12',
    '12 3',
    '99999999999999 5 tokenvalue'.slice(0, 20),
    7,
    { value: 'x' },
    ['9999999999999 5 tokenvalue'],
    true,
  ])('that returns %j is a miss with a fault in the log', async (garbage) => {
    const world = new World();
    world.keyv.entries.set('token', garbage);
    expect(await world.store.get('token')).toBeUndefined();
    expect(world.faults).toEqual(['get: the entry is not the one that was set']);
    await world.set('token', 'value');
    expect(await world.store.get('token')).toBe('value');
  });

  it('that cannot parse one entry still returns the others', async () => {
    const world = new World();
    await world.set('good', 'value');
    world.keyv.fault = () => Promise.reject(new SyntaxError('Unexpected token in "eyJhbGciOi"'));
    expect(await world.store.get('bad')).toBeUndefined();
    expect(await world.store.getMany(['bad', 'good'])).toEqual([undefined, undefined]);
    world.keyv.fault = undefined;
    expect(await world.store.get('good')).toBe('value');
    expect(world.faults).toEqual(['get: SyntaxError', 'get: SyntaxError']);
  });

  it('that returns null has no entry, which is not a fault', async () => {
    const world = new World();
    world.keyv.fault = () => Promise.resolve(null);
    expect([await world.store.get('token'), world.faults]).toEqual([undefined, []]);
  });

  it('that connects at its first call gets no other call before, and no second one of the kind', async () => {
    const { keyv, clock, telemetry } = new World();
    const store = () => new KeyvCacheStore({ keyv, clock, telemetry, cacheMs: CACHE_MS, connects: true });
    let connect: (value: unknown) => void = () => {};
    keyv.fault = () => new Promise((resolve) => (connect = resolve));
    const calls = [store().get('a'), store().get('b')];
    keyv.fault = undefined;
    await new Promise((resolve) => setImmediate(resolve));
    expect(keyv.calls).toEqual(['get agent-bff:connect']);
    connect(undefined);
    await Promise.all(calls);
    expect(keyv.calls).toEqual(['get agent-bff:connect', 'get a', 'get b']);
  });

  it('has one listener until the last of its users is closed', () => {
    const keyv = Object.assign(new EventEmitter(), { get: never, set: never, delete: never });
    const users = [new World(), new World()].map(({ clock, telemetry }) => {
      const { close } = new KeyvCacheStore({ keyv, clock, telemetry, cacheMs: CACHE_MS });
      return { close, telemetry };
    });
    const counts = [keyv.listenerCount('error')];
    keyv.emit('error', new Error('socket closed'));
    expect(users.map(({ telemetry }) => telemetry.of('cache_fault').length)).toEqual([1, 1]);
    for (const { close } of users) {
      close();
      counts.push(keyv.listenerCount('error'));
    }
    expect(counts).toEqual([1, 1, 0]);
  });

  it('without events can be closed', () => {
    const { clock, telemetry } = new World();
    const keyv = keyvLike(new FakeCacheStore(clock), clock);
    expect(() => new KeyvCacheStore({ keyv, clock, telemetry, cacheMs: CACHE_MS }).close()).not.toThrow();
  });

  it('stores an entry unless there is one, if it can', async () => {
    const { keyv, clock, telemetry, store } = new World();
    expect([store.setIfAbsent, store.primary]).toEqual([undefined, undefined]);
    const setIfAbsent = (key: string, value: string, ttl: number): Promise<boolean> =>
      keyv.entries.has(key) ? Promise.resolve(false) : keyv.set(key, value, ttl).then(() => true);
    const primary = (keys?: readonly string[]): string => `primary of ${String(keys)}`;
    const able = new KeyvCacheStore({ keyv, clock, telemetry, cacheMs: CACHE_MS, setIfAbsent, primary });
    expect(able.primary?.(['token'])).toBe('primary of token');
    expect(await able.setIfAbsent?.('token', 'one', clock.now() + 1_000)).toBe(true);
    expect(await able.setIfAbsent?.('token', 'two', clock.now() + 1_000)).toBe(false);
    expect(await able.setIfAbsent?.('late', 'three', clock.now() + 0.5)).toBe(false);
    expect([await able.get('token'), keyv.lives]).toEqual(['one', [1_000]]);
    keyv.fault = refused;
    await failed(able.setIfAbsent?.('other', 'four', clock.now() + 1_000) ?? never());
    expect(telemetry.of('cache_fault')).toMatchObject([{ operation: 'set' }]);
  });
});

describe('a shared store that fails', () => {
  /** Fails three times in a row, after which the store is away. */
  async function away(world: World): Promise<void> {
    for (let call = 0; call < 3; call += 1) await failed(world.store.get('token'));
    world.keyv.calls.length = 0;
  }

  it.each(['get', 'set', 'delete'] as const)('delays a %s by its deadline only', async (operation) => {
    const world = new World();
    world.keyv.fault = never;
    const took = await timed(() => failed(world.store[operation]('token', 'value', world.clock.now() + 60_000)));
    expect(took.wall).toBeGreaterThanOrEqual(CACHE_MS - 5);
    expect(took.own).toBeLessThan(CACHE_MS + 500);
    expect(world.faults).toEqual([`${operation}: Error TIMEOUT after ${String(CACHE_MS)} ms`]);
  });

  it.each(['get', 'set', 'delete'] as const)('does not delay a %s when it throws', async (operation) => {
    const world = new World();
    world.keyv.fault = () => {
      throw new Error('NOAUTH Authentication required.');
    };
    await failed(world.store[operation]('token', 'value', world.clock.now() + 60_000));
    expect(world.faults).toEqual([`${operation}: Error NOAUTH Authentication required.`]);
  });

  it('once or twice is called again at once', async () => {
    const world = new World();
    await world.set('token', 'value');
    world.keyv.fault = refused;
    await failed(world.store.get('token'));
    await failed(world.store.get('token'));
    world.keyv.fault = undefined;
    expect([await world.store.get('token'), world.store.isAway]).toEqual(['value', false]);
  });

  it('three times in a row is not called for half a second', async () => {
    const world = new World();
    world.keyv.fault = refused;
    await away(world);
    world.clock.advance(PAUSE_MS - 1);
    const calls = [world.store.get('a'), world.set('b', 'value'), world.store.delete('c')];
    expect(await Promise.all(calls.map((call) => failed(call)))).toEqual([STORE_AWAY, STORE_AWAY, STORE_AWAY]);
    expect([world.keyv.calls, world.store.isAway]).toEqual([[], true]);
  });

  it('is called again when the clock was set back', async () => {
    const world = new World();
    world.keyv.fault = refused;
    await away(world);
    world.clock.advance(-600_000);
    world.keyv.fault = undefined;
    await failed(world.store.get('token'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([world.keyv.calls, world.store.isAway]).toEqual([['get token'], false]);
  });

  it('that hangs after the clock was set back is away after a second', async () => {
    const world = new World();
    world.keyv.fault = never;
    await failed(world.store.get('token'));
    world.clock.advance(-600_000);
    for (let second = 0; second < 3; second += 1) {
      await failed(world.store.get('token'));
      world.clock.advance(500);
    }
    expect(world.store.isAway).toBe(true);
  });

  it('for many concurrent calls has failed once: a short stall does not open the breaker', async () => {
    const world = new World();
    let stalled: (() => void)[] = [];
    world.keyv.fault = () => new Promise((_resolve, reject) => stalled.push(() => reject(new Error('late'))));
    const calls = Array.from({ length: 100 }, () => failed(world.store.get('token')));
    world.clock.advance(CACHE_MS);
    for (const end of stalled) end();
    await Promise.all(calls);
    expect([world.store.isAway, world.faults]).toEqual([false, ['get: Error late']]);
  });

  it.each([
    ['that is slow for less than a second is still called', 3, 999, false],
    ['that is slow for a second is away', 3, 1_000, true],
    ['that was slow once, long ago, is still called', 2, 60_000, false],
  ])('%s', async (_title, calls, ms, isAway) => {
    const world = new World();
    world.keyv.fault = never;
    for (let call = 1; call < calls; call += 1) await failed(world.store.get('token'));
    world.clock.advance(ms);
    await failed(world.store.get('token'));
    expect(world.store.isAway).toBe(isAway);
  });

  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", false],
    ['MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.', false],
    ['NOREPLICAS Not enough good replicas to write.', false],
    ["NOPERM User site has no permissions to run the 'set' command", false],
    ['LOADING Redis is loading the dataset in memory', true],
    ['CLUSTERDOWN The cluster is down', true],
  ])('and says "%s" is away: %s', async (message, isAway) => {
    const world = new World();
    world.keyv.fault = () => Promise.reject(new Error(message));
    await away(world);
    expect([world.store.isAway, world.faults[0]]).toEqual([isAway, `get: Error ${message}`]);
  });

  it('is logged without what may be an entry', async () => {
    const world = new World();
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJlLW9mLWFubmEtYW5kLW90aGVycw';
    for (const error of [
      new SyntaxError(`Unexpected token e, "${token}"`),
      new Error(`Unexpected token 'e', "${token}" is not valid JSON`),
      new Error(`ERR unknown command 'UNLINK', with args beginning with: 'agent-bff:1:sealed:${'0af9'.repeat(16)}'`),
    ]) {
      world.keyv.fault = () => Promise.reject(error);
      await failed(world.store.get('token'));
    }
    expect(world.faults).toEqual([
      'get: SyntaxError',
      'get: Error',
      "get: Error ERR unknown command 'UNLINK', with args beginning with: 'agent-bff:1:sealed:[redacted]'",
    ]);
  });

  it.each<[unknown, string]>([
    [Object.assign(new Error('gone'), { code: 'ECONNRESET' }), 'Error ECONNRESET gone'],
    [Object.assign(new Error('ECONNRESET: gone'), { code: 'ECONNRESET' }), 'Error ECONNRESET: gone'],
    [Object.assign(new TypeError(''), { code: 7 }), 'TypeError'],
    [new Error('no route to redis://site:hunter2@10.0.0.7'), 'Error no route to redis://[redacted]@10.0.0.7'],
    [new Error('no '.repeat(100)), `Error ${'no '.repeat(65)}`.slice(0, 200)],
    ['hunter2', 'the store reported a fault'],
  ])('is logged for %s as "%s"', (error, detail) => {
    expect(faultOf(error)).toBe(detail);
  });

  it('costs a few deadlines, however long it is down', async () => {
    const world = new World();
    world.keyv.fault = refused;
    await away(world);
    world.keyv.fault = never;
    for (let pause = 0; pause < 5; pause += 1) {
      world.clock.advance(PAUSE_MS);
      const took = await timed(() => Promise.all([failed(world.store.get('a')), failed(world.store.get('b'))]));
      expect(took.own).toBeLessThan(CACHE_MS / 2);
      // The deadline of the call that is not awaited.
      await expect.poll(() => world.faults).toHaveLength(pause + 4);
    }
    expect(world.keyv.calls).toEqual(['get a', 'get a', 'get a', 'get a', 'get a']);
  });

  it('is used again after the first successful call', async () => {
    const world = new World();
    await world.set('token', 'value');
    world.keyv.fault = refused;
    await away(world);
    world.keyv.fault = undefined;
    world.clock.advance(PAUSE_MS);
    expect(await failed(world.store.get('token'))).toBe(STORE_AWAY);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await world.store.get('token')).toBe('value');
  });

  it('has failed too if it only emits an event', async () => {
    const world = new World();
    world.keyv.fault = () => {
      world.keyv.emit(new Error('socket closed'));
      return Promise.resolve(undefined);
    };
    await away(world);
    await failed(world.store.get('token'));
    expect([world.keyv.calls, world.store.isAway]).toEqual([[], true]);
    expect(world.faults).toEqual(Array.from({ length: 3 }, () => 'get: Error socket closed'));
  });

  it('has failed too if it emits an event before the first call', () => {
    const world = new World();
    world.keyv.emit(new Error('socket closed'));
    expect(world.faults).toEqual(['get: Error socket closed']);
  });

  it('has not failed when it only reports that it was not called', async () => {
    const world = new World();
    world.keyv.fault = () => Promise.reject(STORE_AWAY);
    for (let time = 0; time < 5; time += 1) {
      world.keyv.emit(STORE_AWAY);
      expect(await failed(world.store.get('token'))).toBe(STORE_AWAY);
    }
    expect([world.faults, world.store.isAway]).toEqual([[], false]);
  });

  it('leaves no timer after a call that succeeded, so that the process can exit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await new World().set('token', 'value');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is logged once per pause, without a thrown text', async () => {
    const world = new World();
    world.keyv.fault = refused;
    await away(world);
    world.keyv.emit('hunter2');
    expect(world.faults).toEqual(Array.from({ length: 3 }, () => 'get: Error connect ECONNREFUSED 127.0.0.1:6379'));
    world.clock.advance(PAUSE_MS);
    world.keyv.emit('hunter2');
    expect(world.faults.slice(3)).toEqual(['get: the store reported a fault']);
  });

  it('after its deadline does not crash the process', async () => {
    const world = new World();
    let fail: (reason: Error) => void = () => {};
    world.keyv.fault = () => new Promise((_resolve, reject) => (fail = reject));
    await failed(world.store.get('token'));
    fail(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.faults).toEqual([`get: Error TIMEOUT after ${String(CACHE_MS)} ms`]);
  });
});

it('a response that arrived while the process was busy is in time', async () => {
  const world = new World();
  world.keyv.fault = () =>
    new Promise((resolve) => {
      setImmediate(() => resolve(undefined)); // like a socket's response, this is handled after the timers
      const busyUntil = performance.now() + 2 * CACHE_MS;
      while (performance.now() < busyUntil);
    });
  // From here, timers run before the responses of sockets, and before this test.
  await new Promise((resolve) => setImmediate(resolve));
  await world.store.get('token');
  expect(world.faults).toEqual([]);
});

describe('a store that a site wrote', () => {
  const connect = (
    store: CacheStore,
    clock = new FakeClock(),
  ): { store: KeyvCacheStore; telemetry: RecordingTelemetry } => {
    const telemetry = new RecordingTelemetry();
    const keyv = keyvLike(store, clock);
    const dependencies = { keyv, getMany: (keys: string[]) => getMany(store, keys), clock, telemetry };
    return { store: new KeyvCacheStore({ ...dependencies, cacheMs: CACHE_MS }), telemetry };
  };

  cacheStoreContract('KeyvCacheStore over a store that a site wrote', () => {
    const clock = new FakeClock();
    return {
      store: connect(new FakeCacheStore(clock), clock).store,
      now: () => clock.now(),
      pass: (ms) => clock.advance(ms),
    };
  });

  it('is called once for several keys when it has getMany', async () => {
    const clock = new FakeClock();
    const inner = new FakeCacheStore(clock);
    const calls: (readonly string[])[] = [];
    const { store } = connect(
      {
        get: () => Promise.reject(new Error('not to be called')),
        getMany: (keys) => {
          calls.push(keys);
          return Promise.all(keys.map((key) => inner.get(key)));
        },
        set: (key, value, expiresAt) => inner.set(key, value, expiresAt),
        delete: (key) => inner.delete(key),
      },
      clock,
    );
    await store.set('a', '1', clock.now() + 1_000);
    await store.set('c', '3', clock.now() + 1_000);
    expect(await store.getMany(['a', 'b', 'c'])).toEqual(['1', undefined, '3']);
    expect(calls).toEqual([['a', 'b', 'c']]);
  });

  it('can return or throw without a promise', async () => {
    const clock = new FakeClock();
    const entries = new Map<string, string>();
    const plain = {
      get: (key: string) => entries.get(key),
      set: (key: string, value: string) => void entries.set(key, value),
      delete: () => {
        throw new TypeError('not supported');
      },
    };
    const { store, telemetry } = connect(plain as unknown as CacheStore, clock);
    await store.set('key', 'value', clock.now() + 1_000);
    expect(await store.get('key')).toBe('value');
    expect(await store.getMany(['key', 'other'])).toEqual(['value', undefined]);
    await failed(store.delete('key'));
    expect(telemetry.of('cache_fault')).toMatchObject([{ operation: 'delete', detail: 'TypeError not supported' }]);
  });

  it('gets the key and the expiry of an entry', async () => {
    const clock = new FakeClock();
    const calls: unknown[] = [];
    const { store } = connect(
      {
        get: () => Promise.reject(new Error('not to be called')),
        set: (key, _value, expiresAt) => Promise.resolve(void calls.push(key, expiresAt)),
        delete: (key) => Promise.resolve(void calls.push(key)),
      },
      clock,
    );
    await store.set('key', 'value', clock.now() + 1_000);
    await store.delete('key');
    expect(calls).toEqual(['key', clock.now() + 1_000, 'key']);
  });
});

it('a Keyv is distinguished from a cache store', () => {
  expect(isKeyv(new Keyv())).toBe(true);
  expect(isKeyv(new FakeCacheStore(new FakeClock()))).toBe(false);
  expect(isKeyv(Object.assign(new FakeCacheStore(new FakeClock()), { on: () => {} }))).toBe(false);
  expect(isKeyv(Object.assign(new FakeCacheStore(new FakeClock()), { store: {} }))).toBe(false);
});
