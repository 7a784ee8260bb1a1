import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerConfig } from 'agent-bff';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIdpA, type IdpA } from '../../support/identity-provider/index.js';
import { RedisServer } from '../../support/redis-server.js';
import { REDIS_WAYS, type RedisWay } from '../../support/redis-ways.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { passwordGrant } from './credential-site.js';

const PROCESS = fileURLToPath(new URL('shared-cache-process.mjs', import.meta.url));

// The cost of a killed or frozen Redis is tested in test/adapters/redis-cache-store.test.ts.
describe.each(REDIS_WAYS)(
  'tokens shared over a real Redis through $title',
  ({ keyv, adapter, isInstalled }: RedisWay) => {
    let redis: RedisServer;
    let idp: IdpA;
    const cacheKeys = [randomBytes(32).toString('hex')];
    const folder = temporaryFolder('shared');

    beforeAll(async () => {
      if (!isInstalled) return;
      idp = await startIdpA();
      redis = await RedisServer.start();
      writeFileSync(join(folder, 'ca.pem'), idp.ca);
    });
    afterAll(async () => {
      await redis?.close();
      await idp?.close();
    });

    async function startProcess(config: ServerConfig): Promise<ChildProcess> {
      const child = fork(PROCESS, { env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } });
      child.send({ config, redis: redis.url, adapter, keyv });
      await once(child, 'message');
      return child;
    }

    /** The keys of entries, without the set of keys that one adapter keeps. */
    const tokenKeys = (): Promise<string[]> =>
      redis.directly(async (client) => (await client.keys('*')).filter((key) => key.includes('agent-bff:1:token:')));

    it.skipIf(!isInstalled)(
      'cost two processes one token request in total and are unreadable in Redis',
      { timeout: 20_000 },
      async () => {
        idp.faults.token = { delayMs: 100 };
        const config = { ...passwordGrant(idp), cacheKeys };
        const [one, other] = await Promise.all([startProcess(config), startProcess(config)]);
        const found: { tokens: string[]; failed: string[] }[] = [];
        for (const child of [one, other]) {
          child.send({ callers: 200 });
          const [answer] = (await once(child, 'message')) as [(typeof found)[number]];
          found.push(answer);
          await expect.poll(tokenKeys, { interval: 10 }).not.toEqual([]);
        }
        expect(found).toEqual([
          { tokens: [expect.stringMatching(/^Bearer eyJ/)], failed: [] },
          { tokens: found[0]?.tokens, failed: [] },
        ]);
        expect(idp.tokenRequests.count).toBe(1);

        const token = found[0]?.tokens[0]?.replace('Bearer ', '') ?? '';
        const stored = await redis.entries();
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
      },
    );
  },
);
