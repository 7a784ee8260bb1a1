import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import type { ServerConfig } from 'agent-bff';
import { FakeClock } from 'agent-bff/testing';
import { Keyv } from 'keyv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startIdpA, trustingFetch, type IdpA, type TrustingFetch } from '../../support/identity-provider/index.js';
import type { KeyvLike } from '../../../src/adapters/keyv/keyv-like.js';
import { KEYV6_ENTRY, type KeyvClass, loadKeyv6 } from '../../support/keyv6.js';
import { REDIS_SERVER, RedisServer } from '../../support/redis-server.js';
import { identityFetch, passwordGrant, startSite } from './credential-site.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

interface StoreAdapter {
  readonly keyv: KeyvLike;
  disconnect(): Promise<unknown>;
}

/** One way to reach Redis: a version of Keyv, and what to import for it in another process, over an adapter. */
interface Way {
  readonly title: string;
  readonly keyv: KeyvClass | undefined;
  readonly module: string;
  readonly adapter: '@keyv/redis' | '@keyv/valkey';
}

const fifth = Keyv as unknown as KeyvClass;
const ways: readonly Way[] = [
  { title: 'Keyv 5 and @keyv/redis', keyv: fifth, module: 'keyv', adapter: '@keyv/redis' },
  { title: 'Keyv 5 and @keyv/valkey', keyv: fifth, module: 'keyv', adapter: '@keyv/valkey' },
  { title: 'Keyv 6 and @keyv/redis', keyv: await loadKeyv6(), module: KEYV6_ENTRY, adapter: '@keyv/redis' },
];

function connectBy({ keyv: version, adapter }: Way, url: string): StoreAdapter {
  if (version === undefined) throw new Error('this version of Keyv is not installed');
  if (adapter === '@keyv/valkey') {
    const valkey = new KeyvValkey(url);
    return { keyv: new version(valkey), disconnect: () => valkey.disconnect() };
  }
  const redis = new KeyvRedis(url);
  return { keyv: new version(redis), disconnect: () => redis.disconnect(true) };
}

const PROCESS = fileURLToPath(new URL('shared-cache-process.mjs', import.meta.url));

for (const way of ways) {
  describe.skipIf(REDIS_SERVER === undefined || way.keyv === undefined)(
    `tokens shared over a real Redis through ${way.title}`,
    () => {
      let redis: RedisServer;
      let idp: IdpA;
      let trusting: TrustingFetch;
      const cacheKeys = [randomBytes(32).toString('hex')];
      const folder = temporaryFolder('shared');
      const open: { disconnect(): Promise<unknown> }[] = [];

      beforeAll(async () => {
        idp = await startIdpA();
        trusting = trustingFetch(idp.ca);
        redis = await RedisServer.start();
        writeFileSync(join(folder, 'ca.pem'), idp.ca);
      });
      afterEach(async () => {
        redis.thaw();
        await Promise.all(open.splice(0).map((store) => store.disconnect()));
        await redis.kill();
        await redis.restart();
        delete idp.faults.token;
        idp.tokenRequests.clear();
      });
      afterAll(async () => {
        await redis.close();
        await trusting.close();
        await idp.close();
      });

      async function startProcess(config: ServerConfig): Promise<ChildProcess> {
        const child = fork(PROCESS, { env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } });
        child.send({ config, redis: redis.url, adapter: way.adapter, keyv: way.module });
        await once(child, 'message');
        return child;
      }

      async function site(config: ServerConfig, clock = new FakeClock(Date.now())) {
        const store = connectBy(way, redis.url);
        open.push(store);
        await store.keyv.get('a connection must be open before times are taken');
        const shared = { ...config, cacheStore: store.keyv, cacheKeys };
        const options = { ports: { ...identityFetch(trusting), clock } };
        return { ...(await startSite(shared, options)), clock };
      }

      /** Keys of entries, without the set in which one adapter lists its keys. */
      const tokenKeys = (): Promise<string[]> =>
        redis.directly(async (client) => (await client.keys('*')).filter((key) => key.includes('agent-bff:token:')));
      const isShared = () => expect.poll(tokenKeys, { interval: 10 }).not.toEqual([]);

      it('two processes ask for one token in total, and Redis can read none', async () => {
        idp.faults.token = { delayMs: 100 };
        const config = { ...passwordGrant(idp), cacheKeys };
        const [one, other] = await Promise.all([startProcess(config), startProcess(config)]);
        const found: { tokens: string[]; failed: string[] }[] = [];
        for (const child of [one, other]) {
          child.send({ callers: 200 });
          const [answer] = (await once(child, 'message')) as [(typeof found)[number]];
          found.push(answer);
          await isShared();
        }
        expect(found).toEqual([
          { tokens: [expect.stringMatching(/^Bearer eyJ/)], failed: [] },
          { tokens: found[0]?.tokens, failed: [] },
        ]);
        expect(idp.tokenRequests.count).toBe(1);

        const token = found[0]?.tokens[0]?.replace('Bearer ', '') ?? '';
        const stored = await redis.directly(async (client) => {
          const entries: string[] = [];
          for (const key of await client.keys('*')) {
            entries.push(key, (await client.type(key)) === 'string' ? ((await client.get(key)) ?? '') : '');
          }
          return entries.join('\n');
        });
        expect(stored.length).toBeGreaterThan(100);
        const [, payload = '', signature = ''] = token.split('.');
        for (const text of [token, payload, signature, idp.user.password, idp.client.secret, cacheKeys[0] ?? '']) {
          expect(stored).not.toContain(text);
          expect(stored).not.toContain(Buffer.from(text).toString('base64').slice(0, 40));
        }
        for (const child of [one, other]) {
          child.kill();
          await once(child, 'exit');
        }
      }, 20_000);

      it('Redis killed in mid-run and started again: no failed request, and tokens are shared again', async () => {
        const running = await site(passwordGrant(idp));
        let busy = true;
        const statuses: number[] = [];
        // Every message finds the token expired, so every one of them goes to the store and to the provider.
        const visitors = Array.from({ length: 4 }, async () => {
          while (busy) {
            running.clock.advance(100_000);
            statuses.push((await running.chat()).status);
          }
        });
        const more = (count: number) =>
          expect.poll(() => statuses.length, { timeout: 8_000, interval: 5 }).toBeGreaterThan(count);
        await more(20);
        await redis.kill();
        await more(statuses.length + 40);
        await redis.restart();
        await more(statuses.length + 20);
        await expect.poll(tokenKeys, { timeout: 8_000, interval: 20 }).not.toEqual([]);
        busy = false;
        await Promise.all(visitors);
        expect(new Set(statuses)).toEqual(new Set([200]));
      }, 20_000);

      it('Redis frozen: every request is served, and all of them together wait for it once', async () => {
        // Long, so that a machine under load cannot be taken for a wait: ten deadlines would take ten seconds.
        const cacheMs = 1_000;
        const running = await site({ ...passwordGrant(idp), timeouts: { cacheMs } });
        expect((await running.chat()).status).toBe(200);
        redis.freeze();
        const asked = idp.tokenRequests.count;
        const start = performance.now();
        for (let round = 0; round < 10; round += 1) {
          running.clock.advance(400_000);
          const answers = await Promise.all(Array.from({ length: 10 }, () => running.chat()));
          expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        }
        expect(idp.tokenRequests.count).toBe(asked + 10);
        expect(performance.now() - start).toBeLessThan(5 * cacheMs);
        expect(running.telemetry.of('cache_fault')[0]?.detail).toBe('Error TIMEOUT');
      }, 20_000);
    },
  );
}
