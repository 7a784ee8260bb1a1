import { afterEach, describe, expect, it } from 'vitest';
import { RedisStorage } from '../../src/adapters/keyv/redis-storage.js';
import { secret } from '../../src/domain/shared/secret.js';
import { startCluster } from '../support/redis-topology.mjs';

const open: RedisStorage[] = [];
afterEach(() => Promise.all(open.splice(0).map((s) => s.close())));
describe('cluster', () => {
  it('works', { timeout: 60_000 }, async () => {
    const cluster = await startCluster();
    const store = new RedisStorage({ address: secret(cluster.url), patienceMs: 5_000 });
    open.push(store);
    const keys = Array.from({ length: 50 }, (_, i) => `key${i}`);
    await Promise.all(keys.map((key) => store.set(key, { value: key }, 60_000)));
    expect((await store.getMany(keys)).map((e) => e?.value)).toEqual(keys);
    console.log(store.describe(), store.primary(['key1']), '|', store.primary(keys), store.isNamed);
    const one = store.primary(['key1']);
    await cluster.reshard('key1', 5);
    expect((await store.get('key1'))?.value).toBe('key1');
    expect(store.primary(['key1'])).not.toBe(one);
    const t0 = Date.now();
    const two = store.primary(['key2']);
    const back: Promise<unknown> = (async () => {
      while (store.primary(['key2']) === two) {
        await store.get('key2').catch((e) => console.log(Date.now() - t0, String(e)));
        await new Promise((r) => setTimeout(r, 100));
      }
      console.log('recovered after', Date.now() - t0, await store.get('key2').catch(String));
    })();
    await cluster.failover('key2');
    console.log('failover', Date.now() - t0);
    await back;
    await cluster.close();
  });
});
