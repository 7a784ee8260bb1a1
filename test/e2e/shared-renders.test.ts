import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { RedisServer } from '../support/redis-server.js';
import { REDIS_WAYS } from '../support/redis-ways.js';

const PROCESS = fileURLToPath(new URL('shared-renders-process.mjs', import.meta.url));
/** Long enough that no render here expires. */
const FRESH_MS = 600_000;
/** Long enough that a slow machine does not look like a store that is down. */
const PATIENT_MS = 5_000;

/** A render as the visitor sees it. */
interface Shown {
  readonly status: number;
  readonly cache: string | null;
  readonly content: unknown;
}

/** One process of the site. */
class Site {
  /** The widget to visit. */
  widget = 'widget-0';
  readonly #url: string;
  readonly #close: () => Promise<void>;

  constructor(url: string, close: () => Promise<void>) {
    this.#url = `${url}/api/service-surfaces`;
    this.#close = close;
  }

  async render(): Promise<Shown> {
    const response = await this.#post('/render');
    const { content } = (await response.json()) as { content: unknown };
    return { status: response.status, cache: response.headers.get('x-cache'), content };
  }

  async act(): Promise<number> {
    const response = await this.#post('/actions/increment');
    await response.text();
    return response.status;
  }

  close(): Promise<void> {
    return this.#close();
  }

  #post(path: string): Promise<Response> {
    return fetch(`${this.#url}/${this.widget}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
  }
}

/** A platform with one state, which actions change. Widget definitions never change, so revalidation finds no difference. */
class Counter {
  readonly upstream: RecordingUpstream;
  state = 0;
  renders = 0;
  /** The next render reads the state, then waits for this before its response. */
  hold: Promise<void> | undefined;

  constructor(upstream: RecordingUpstream) {
    this.upstream = upstream;
    upstream.willAnswer(async (exchange) => {
      const { method, target } = exchange.request;
      const id = target.split('/')[3] ?? '';
      const surface = { id, name: `name of ${id}`, version: 1 };
      if (target.includes('/actions/')) {
        this.state += 1;
        exchange.json(200, { ok: true, surface });
      } else if (method === 'GET') exchange.head(304, { etag: '"1"' }).end();
      else {
        this.renders += 1;
        const [content, held] = [`state ${String(this.state)}`, this.hold];
        this.hold = undefined;
        await held;
        exchange.json(200, { surface, content }, { etag: '"1"' });
      }
    });
  }
}

for (const { title, keyv, adapter, isInstalled } of REDIS_WAYS) {
  // The other ways differ only in the client. `redis-cache-store.test.ts` covers its failures.
  const isFirst = adapter === '@keyv/redis' && keyv === 'keyv';

  describe.skipIf(!isInstalled)(
    `two processes that share renders over a real Redis through ${title}`,
    // Processes start slowly, and reconnecting takes time.
    { timeout: 40_000 },
    () => {
      let redis: RedisServer;
      let upstream: RecordingUpstream;
      let platform: Counter;
      const open: Site[] = [];
      const cacheKeys = [randomBytes(32).toString('hex')];

      beforeAll(async () => {
        redis = await RedisServer.start();
        upstream = await RecordingUpstream.start();
      });
      beforeEach(() => {
        platform = new Counter(upstream);
      });
      afterAll(async () => {
        await Promise.all(open.map((site) => site.close()));
        await redis.close();
        await upstream.close();
      });

      async function startSite(cacheMs: number, freshMs: number): Promise<Site> {
        const child = fork(PROCESS);
        const config = {
          serviceApiUrl: `${upstream.origin}/api`,
          serviceApiKey: 'site-key',
          timeouts: { cacheMs },
          cacheKeys,
        };
        const cache = { enabled: true, freshMs, maxAgeMs: FRESH_MS };
        child.send({ config, redis: redis.url, adapter, keyv, cache });
        const failed = once(child, 'exit').then(([code]) => {
          throw new Error(`a process of the site ended with ${String(code)}`);
        });
        failed.catch(() => undefined);
        const [{ url }] = (await Promise.race([once(child, 'message'), failed])) as [{ url: string }];
        const site = new Site(url, async () => {
          const exit = once(child, 'exit');
          child.disconnect();
          await exit;
        });
        open.push(site);
        return site;
      }

      async function startTwo(cacheMs: number, freshMs = FRESH_MS): Promise<readonly [Site, Site]> {
        return Promise.all([startSite(cacheMs, freshMs), startSite(cacheMs, freshMs)]);
      }

      describe('while Redis works:', () => {
        let sites: readonly [Site, Site];
        let widgets = 0;

        beforeAll(async () => {
          sites = await startTwo(PATIENT_MS);
        });
        // Starting processes is slow, so each test uses its own widget instead.
        beforeEach(() => {
          widgets += 1;
          for (const site of sites) site.widget = `widget-${String(widgets)}`;
        });

        it('a render of one is a hit in the other, and is unreadable in the store', async () => {
          const [one, other] = sites;
          expect(await one.render()).toEqual({ status: 200, cache: 'MISS', content: 'state 0' });
          expect(await other.render()).toEqual({ status: 200, cache: 'HIT', content: 'state 0' });
          expect(platform.renders).toBe(1);
          const stored = await redis.entries();
          expect(stored.length).toBeGreaterThan(500);
          for (const text of ['state 0', 'widget-', 'name of', 'site-key'])
            for (const spelling of [text, Buffer.from(text).toString('base64').replace(/=+$/, '')])
              expect(stored).not.toContain(spelling);
        });

        it('an action in either evicts the render in the other', async () => {
          for (const [acting, showing] of [sites, sites.toReversed() as unknown as typeof sites]) {
            await acting.render();
            expect((await showing.render()).cache).toBe('HIT');
            expect(await acting.act()).toBe(200);
            const content = `state ${String(platform.state)}`;
            expect(await showing.render()).toEqual({ status: 200, cache: 'MISS', content });
            expect(await acting.render()).toEqual({ status: 200, cache: 'HIT', content });
          }
          expect(platform.renders).toBe(3);
        });

        if (!isFirst) return;
        it.each([
          ['the other', 0, 1],
          ['the first', 1, 0],
          ['the same', 0, 0],
        ] as const)(
          'a render that an action in %s process overtakes reaches its visitor and is not cached',
          async (_where, acting, showing) => {
            let release: () => void = () => undefined;
            platform.hold = new Promise((resolve) => {
              release = resolve;
            });
            const early = sites[showing].render();
            await expect.poll(() => platform.renders, { interval: 5 }).toBe(1);
            expect(await sites[acting].act()).toBe(200);
            release();
            expect(await early).toEqual({ status: 200, cache: 'MISS', content: 'state 0' });
            expect(await sites[showing].render()).toEqual({ status: 200, cache: 'MISS', content: 'state 1' });
            expect(await sites[1 - showing]?.render()).toEqual({ status: 200, cache: 'HIT', content: 'state 1' });
            expect(platform.renders).toBe(2);
          },
        );

        it('200 concurrent visitors of both cause at most 8 renders', async () => {
          const shown = await Promise.all(sites.flatMap((site) => Array.from({ length: 100 }, () => site.render())));
          expect(new Set(shown.map(({ status, content }) => `${String(status)} ${String(content)}`))).toEqual(
            new Set(['200 state 0']),
          );
          // One for each pair of version tags that a process may read while both write theirs.
          expect(platform.renders).toBeLessThanOrEqual(8);
          for (const site of sites) expect((await site.render()).content).toBe('state 0');
          for (const site of sites) expect((await site.render()).cache).toBe('HIT');
        });
      });

      if (!isFirst) return;
      describe('while Redis fails:', () => {
        afterEach(async () => {
          redis.thaw();
          await Promise.all(open.splice(0).map((site) => site.close()));
          await redis.kill();
          await redis.restart();
        });

        it('renders and actions continue after a crash, other processes see them after freshMs, and all are shared again once Redis is back', async () => {
          const [one, other] = await startTwo(PATIENT_MS, 500);
          await one.render();
          await other.render();
          await redis.kill();
          for (let round = 1; round <= 3; round += 1) {
            expect(await one.act()).toBe(200);
            const shown = { status: 200, content: `state ${String(round)}` };
            expect(await one.render()).toMatchObject(shown);
            await expect.poll(() => other.render()).toMatchObject(shown);
          }
          await redis.restart();
          const seen: unknown[] = [];
          const show = async (): Promise<readonly unknown[]> => {
            const shown = [await one.render(), await other.render()];
            seen.push(...shown.map(({ content }) => content));
            return shown.map(({ cache }) => cache);
          };
          await expect.poll(show, { timeout: 15_000, interval: 50 }).toEqual(['HIT', 'HIT']);
          expect(new Set(seen)).toEqual(new Set(['state 3']));
          await one.act();
          expect((await other.render()).content).toBe('state 4');
        });

        it('an action while Redis is frozen evicts the render in the other process once Redis responds', async () => {
          const [one, other] = await startTwo(1_000);
          await one.render();
          expect((await other.render()).cache).toBe('HIT');
          redis.freeze();
          expect(await one.act()).toBe(200);
          redis.thaw();
          // The process that ran the action gets no further request.
          const show = async (): Promise<unknown> => (await other.render()).content;
          await expect.poll(show, { timeout: 15_000, interval: 20 }).toBe('state 1');
          expect(platform.renders).toBe(2);
        });
      });
    },
  );
}
