import { EventEmitter } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Keyv } from 'keyv';
import { FakeCacheStore, FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { CLEAR, EntryStore } from '../../src/adapters/keyv/entry-seal.js';
import { faultOf, isKeyv, keyvLike, KeyvStore, STORE_AWAY } from '../../src/adapters/keyv/keyv-store.js';
import type { CacheStore } from '../../src/ports/cache-store.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';
import { timed } from '../support/stopwatch.js';
import { CACHE_MS, failed, never, refused, World } from './keyv-world.js';

const PAUSE_MS = 500;

cacheStoreContract('entries in a Keyv in memory', () => {
  const { clock, telemetry } = new World();
  const keyv = new KeyvStore({ keyv: new Keyv(), clock, telemetry, cacheMs: 1_000 });
  const store = new EntryStore({ store: keyv, clock, telemetry, form: CLEAR, prefix: '' });
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

  it.each([7, { value: 'x' }, ['value'], true])('that returns %j is a miss', async (garbage) => {
    const world = new World();
    world.keyv.entries.set('token', garbage);
    expect(await world.store.get('token')).toBeUndefined();
  });

  it('that cannot parse one entry still returns the others', async () => {
    const world = new World();
    await world.set('good', 'value');
    world.keyv.fault = () => Promise.reject(new SyntaxError('Unexpected token in "eyJhbGciOi"'));
    for (let call = 0; call < 4; call += 1) await failed(world.store.get('bad'));
    world.keyv.fault = undefined;
    expect(await world.store.get('good')).toBe('value');
    expect(world.faults).toEqual(Array(4).fill('get: SyntaxError'));
  });

  it('that returns null has no entry, which is not a fault', async () => {
    const world = new World();
    world.keyv.fault = () => Promise.resolve(null);
    expect([await world.store.get('token'), world.faults]).toEqual([undefined, []]);
  });

  it('has one listener until the last of its users is closed', () => {
    const keyv = Object.assign(new EventEmitter(), { get: never, set: never, delete: never });
    const users = [new World(), new World()].map(({ clock, telemetry }) => {
      const store = new KeyvStore({ keyv, clock, telemetry, cacheMs: CACHE_MS });
      return { close: () => store.close(), telemetry };
    });
    const counts = [keyv.listenerCount('error')];
    // It would throw without one.
    keyv.emit('error', new Error('socket closed'));
    for (const { close } of users) {
      close();
      counts.push(keyv.listenerCount('error'));
    }
    expect(counts).toEqual([1, 1, 0]);
  });

  it('without events can be closed', () => {
    const { clock, telemetry } = new World();
    const keyv = keyvLike(new FakeCacheStore(clock), clock);
    expect(() => new KeyvStore({ keyv, clock, telemetry, cacheMs: CACHE_MS }).close()).not.toThrow();
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
    await world.store.get('token');
    expect([world.keyv.calls, world.store.isAway]).toEqual([['get token'], false]);
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
    ["OOM command not allowed when used memory > 'maxmemory'.", false],
    ['MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.', false],
    ['NOREPLICAS Not enough good replicas to write.', false],
    ["READONLY You can't write against a read only replica.", false],
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

  it('costs one deadline each half second, however long it is down', async () => {
    const world = new World();
    world.keyv.fault = refused;
    await away(world);
    for (let pause = 0; pause < 5; pause += 1) {
      world.clock.advance(PAUSE_MS);
      await Promise.all(['a', 'b', 'c'].map((key) => failed(world.store.get(key))));
    }
    expect(world.keyv.calls).toEqual(['get a', 'get a', 'get a', 'get a', 'get a']);
    expect(world.faults).toHaveLength(3);
  });

  it('is used again after the first successful call', async () => {
    const world = new World();
    await world.set('token', 'value');
    world.keyv.fault = refused;
    await away(world);
    world.keyv.fault = undefined;
    world.clock.advance(PAUSE_MS);
    expect(await world.store.get('token')).toBe('value');
    expect([await world.store.get('token'), world.store.isAway]).toEqual(['value', false]);
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

  it('has not failed when it only reports that it was not called', async () => {
    const world = new World();
    world.keyv.fault = () => Promise.reject(STORE_AWAY);
    for (let time = 0; time < 5; time += 1) {
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
  const connect = (store: CacheStore, clock = new FakeClock()): { store: KeyvStore; telemetry: RecordingTelemetry } => {
    const telemetry = new RecordingTelemetry();
    const keyv = keyvLike(store, clock);
    return { store: new KeyvStore({ keyv, clock, telemetry, cacheMs: CACHE_MS }), telemetry };
  };

  cacheStoreContract('KeyvStore over a store that a site wrote', () => {
    const clock = new FakeClock();
    return {
      store: connect(new FakeCacheStore(clock), clock).store,
      now: () => clock.now(),
      pass: (ms) => clock.advance(ms),
    };
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
