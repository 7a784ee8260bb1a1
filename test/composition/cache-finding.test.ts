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
