import { randomBytes } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { FakeCacheStore, FakeClock } from '../../src/adapters/fakes/fakes.js';
import { cacheFindings } from '../../src/composition/cli/deployment-findings.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';

it.each([
  ['does not warn of a cache that is slow to connect', 0, 'ok', 'a call takes 0.0 ms'],
  ['warns of a cache that is slow to respond', 300, 'warning', 'a call takes 300.0 ms, but times out after 200 ms'],
])('the doctor %s', async (_what, slowMs, result, message) => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const clock = new FakeClock();
  const store = new FakeCacheStore(clock);
  let connectMs = 600;
  const after = <T>(response: T): T => {
    now += slowMs + connectMs;
    connectMs = 0;
    return response;
  };
  const cacheStore = {
    get: (key: string) => after(store.get(key)),
    set: (key: string, value: string, expiresAt: number) => after(store.set(key, value, expiresAt)),
    delete: (key: string) => after(store.delete(key)),
  };
  const findings = await cacheFindings(resolveConfig({ cacheStore, timeouts: { cacheMs: 200 } }), clock);
  expect(findings).toContainEqual(expect.objectContaining({ check: 'cache store', result, message }));
});

const failing = (message: string): object => ({
  set: () => {
    throw new Error(message);
  },
});

it.each<[string, string, object?]>([
  ['it does not return the entry that was set', 'Check "cacheStore" in', { get: () => undefined }],
  ['@keyv/redis cannot be loaded (run: npm install @keyv/redis): ERR', 'Run "npm install @keyv/redis" for'],
  ['READONLY You can’t', 'Set "cacheStore" to the address of the primary, or to those of Sentinels.'],
  ['OOM command', 'Raise "maxmemory" of the store, or set its "maxmemory-policy" to allkeys-lru.'],
  ['NOPERM this', 'Allow its user GET, SET, UNLINK, INFO and CLUSTER SLOTS, and the keys "agent-bff:*".'],
  ['TIMEOUT after 5000 ms of the TLS handshake; the port may not use TLS', 'Use redis instead of rediss'],
  ['No Sentinel knows', 'Correct the name of the primary at the end of "cacheStore".'],
  ['connect ECONNREFUSED 127.0.0.1', 'Start the server there, or correct the port in "cacheStore" in'],
  ['WRONGPASS', 'Correct address, user and password in "cacheStore" in'],
])('the doctor names the fix for a cache whose fault is %j: %s', async (message, fix, broken = failing(message)) => {
  const cacheStore = Object.assign(new FakeCacheStore(new FakeClock()), broken);
  const [finding] = await cacheFindings(resolveConfig({ cacheStore }), new FakeClock());
  const place = { block: 'configureServer', fields: ['cacheStore'] };
  expect(finding).toMatchObject({ check: 'cache store', result: 'failed', ...place });
  expect(finding?.message).toContain(message);
  expect(finding?.fix).toContain(fix);
});

it('the doctor leaves no entry in the cache, and says how many keys seal its tokens', async () => {
  const store = new FakeCacheStore(new FakeClock());
  const calls = (['get', 'set', 'delete'] as const).map((name) => vi.spyOn(store, name));
  const cacheKeys = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64'));
  const [, keys, ...others] = await cacheFindings(resolveConfig({ cacheStore: store, cacheKeys }), new FakeClock());
  expect([keys, others]).toEqual([
    { check: 'cache keys', result: 'ok', message: '2 configured; tokens are sealed and shared' },
    [],
  ]);
  const [key] = calls[1]?.mock.calls[0] ?? [];
  expect(key).toMatch(/^agent-bff:.*doctor:/);
  expect(calls[2]?.mock.calls).toEqual([[key]]);
  const [, missing] = await cacheFindings(resolveConfig({ cacheStore: store }), new FakeClock());
  expect(missing).toMatchObject({
    result: 'warning',
    message: 'none, so tokens stay in each process',
    fix: 'Set "cacheKeys" in configureServer to what `openssl rand -base64 32` prints, the same in every process.',
  });
});

it('the doctor has nothing to say about a cache that is not configured', async () => {
  expect(await cacheFindings(resolveConfig({}), new FakeClock())).toEqual([]);
});
