import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import KeyvRedis, { createCluster } from '@keyv/redis';
import { configFromEnv, createShared, createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import { RecordingTelemetry } from 'agent-bff/testing';
import { Keyv } from 'keyv';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/adapters/system/system.js';
import { cacheFindings } from '../../src/composition/cli/deployment-findings.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { listening } from '../support/listening.mjs';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import {
  type RedisCluster,
  type RedisSentinels,
  startCluster,
  startSentinels,
  startServer,
  type TopologyServer,
} from '../support/redis-topology.mjs';
import { surfaceRoute } from '../support/toolkit-routes.js';

/** Long enough that a slow machine does not look like a store that is down. */
const PATIENT = { cacheMs: 5_000 };
/** Long enough that no render here expires. */
const LONG_MS = 600_000;
const FAILOVER_MS = 30_000;
const HIT = [200, 'HIT'];
const MISS = [200, 'MISS'];
const cacheKeys = [randomBytes(32).toString('hex')];
/** Not sealed, so that a test can read the names of keys. */
const READABLE: ServerConfig = { cacheKeys: [] };

describe.skipIf(REDIS_SERVER === undefined)('a store that teams rent', { timeout: 90_000 }, () => {
  let upstream: RecordingUpstream;
  const open: Toolkit[] = [];

  beforeAll(async () => {
    upstream = await RecordingUpstream.start();
  });
  afterEach(() => Promise.all(open.splice(0).map((toolkit) => toolkit.close({ graceMs: 0 }))));
  afterAll(() => upstream.close());

  /** A process of the site: connections and memory of its own. */
  function start(cacheStore: ServerConfig['cacheStore'], changes: ServerConfig = {}): Toolkit {
    const env = { SERVICE_API_URL: `${upstream.origin}/api`, SERVICE_API_KEY: 'site-key' };
    const toolkit = createToolkit({ ...configFromEnv(env), cacheStore, cacheKeys, timeouts: PATIENT, ...changes });
    open.push(toolkit);
    return toolkit;
  }

  const cache = { enabled: true, freshMs: LONG_MS, maxAgeMs: LONG_MS };
  const routes = new WeakMap<Toolkit, ReturnType<typeof surfaceRoute>>();
  async function post(toolkit: Toolkit, path: string): Promise<unknown> {
    const route = routes.get(toolkit) ?? surfaceRoute(toolkit, { cache });
    routes.set(toolkit, route);
    const response = await route(browserRequest({ path }));
    await textOf(response.body);
    return [response.status, response.headers['x-cache']];
  }
  const render = (toolkit: Toolkit, widget: string): Promise<unknown> => post(toolkit, `/${widget}/render`);
  const act = (toolkit: Toolkit, widget: string): Promise<unknown> => post(toolkit, `/${widget}/actions/add`);
  /** Renders until the result is this one; every response before it has status 200. */
  async function until(toolkit: Toolkit, widget: string, result: unknown): Promise<void> {
    const last = async (): Promise<unknown> => {
      const [status, cache] = (await render(toolkit, widget)) as unknown[];
      expect(status).toBe(200);
      return [status, cache];
    };
    await expect.poll(last, { timeout: FAILOVER_MS, interval: 50 }).toEqual(result);
  }

  /** Resolves once a render of one process is a hit in the other, so that neither serves from its own memory. */
  async function shared(one: Toolkit, other: Toolkit): Promise<void> {
    const tried = async (): Promise<unknown> => {
      const widget = randomBytes(4).toString('hex');
      expect(await render(one, widget)).toContain(200);
      return render(other, widget);
    };
    await expect.poll(tried, { timeout: FAILOVER_MS, interval: 50 }).toEqual(HIT);
  }

  /** The finding about the store, as doctor shows it. */
  async function doctor(cacheStore: string): Promise<string> {
    const [finding] = await cacheFindings(resolveConfig({ cacheStore }), systemClock);
    return String(finding?.message);
  }

  describe('a cluster', () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      cluster = await startCluster();
    }, 60_000);
    afterAll(() => cluster.close());

    const anyNode = (): string => `redis://${cluster.nodes.map(({ port }) => `127.0.0.1:${String(port)}`).join(',')}`;
    it.each<[string, () => ServerConfig['cacheStore']]>([
      ['the address of one node', () => cluster.url],
      ['the address of a replica', () => cluster.nodes[5]?.url],
      ['several addresses, the first of them wrong', () => anyNode().replace('//', '//127.0.0.1:1,')],
    ])('is shared from the first request by %s', async (_title, address) => {
      const telemetry = new RecordingTelemetry();
      const one = start(address(), { telemetry });
      const widgets = Array.from({ length: 20 }, () => `shared-${randomBytes(4).toString('hex')}`);
      // At once: some of them before the connection is made.
      expect(await Promise.all(widgets.map((widget) => render(one, widget)))).toEqual(widgets.map(() => MISS));
      const other = start(address(), { telemetry });
      expect(await Promise.all(widgets.map((widget) => render(other, widget)))).toEqual(widgets.map(() => HIT));
      await act(other, String(widgets[0]));
      expect(await render(one, String(widgets[0]))).toEqual(MISS);
      expect(telemetry.of('cache_fault')).toEqual([]);
    });

    it('behind a Keyv of the site is shared', async () => {
      const client = createCluster({ rootNodes: cluster.nodes.map(({ url }) => ({ url })) });
      client.on('error', () => undefined);
      onTestFinished(() => client.destroy());
      const keyv = new Keyv(new KeyvRedis(client));
      await until(start(keyv), 'through-keyv', HIT);
      expect(await render(start(keyv), 'through-keyv')).toEqual(HIT);
    });

    it('is named by doctor', async () => {
      expect(await doctor(cluster.url)).toMatch(/^a call takes [\d.]+ ms; Redis [\d.]+, a cluster with 3 primaries$/);
    });

    it('moves slots while it serves renders', async () => {
      const toolkit = start(cluster.url, READABLE);
      const key = await generationKey(toolkit, 'moving');
      const moving = cluster.reshard(key, 10);
      let isMoving = true;
      void moving.finally(() => (isMoving = false));
      while (isMoving) expect(await render(toolkit, 'moving')).toContain(200);
      await until(toolkit, 'moving', HIT);
      expect(await render(start(cluster.url, READABLE), 'moving')).toEqual(HIT);
      expect((await cluster.primaryOf(key)).port).toBe((await moving).target.port);
    });

    it.each([
      ['crashed', 'kill', 'start'],
      ['hangs', 'freeze', 'thaw'],
    ] as const)(
      'whose primary %s serves no render from before an action, here and in new processes',
      async (_title, end, begin) => {
        const toolkit = start(anyNode(), { ...READABLE, timeouts: {} });
        const widget = `failing-${end}`;
        const lost = await cluster.failover(await generationKey(toolkit, widget), end);
        await cluster.settled();
        const other = start(anyNode(), READABLE);
        await until(other, widget, HIT);
        await act(other, widget);
        expect(await render(toolkit, widget)).toEqual(MISS);
        await until(toolkit, widget, HIT);
        await lost[begin]();
        await cluster.settled();
        await act(toolkit, widget);
        expect(await render(other, widget)).toEqual(MISS);
      },
    );

    /** The key of a generation of a widget that is in the cache after this. */
    async function generationKey(toolkit: Toolkit, widget: string): Promise<string> {
      const known = new Set(await keysOf(await cluster.primaries()));
      await until(toolkit, widget, HIT);
      const found = (await keysOf(await cluster.primaries())).filter((key) => key.includes(':generation:'));
      return String(found.find((key) => !known.has(key)));
    }
  });

  describe('a primary found by Sentinels', () => {
    let sentinels: RedisSentinels;
    beforeAll(async () => {
      sentinels = await startSentinels();
    }, 60_000);
    afterAll(() => sentinels.close());

    it.each([
      ['crashed', 'kill', 'start'],
      ['hangs', 'freeze', 'thaw'],
    ] as const)('that %s is replaced, and an action is seen by all', async (_title, end, begin) => {
      const toolkit = start(sentinels.url, { timeouts: {} });
      // On a busy machine it may have been away: then a hit is one in memory.
      await shared(toolkit, start(sentinels.url));
      await until(toolkit, 'widget', HIT);
      const lost = await sentinels.failover(end);
      const other = start(sentinels.url);
      await shared(toolkit, other);
      await lost[begin]();
      await act(other, 'widget');
      expect(await render(toolkit, 'widget')).toEqual(MISS);
    });

    it('is named by doctor', async () => {
      const { port } = await sentinels.primary();
      const server = `the primary 127.0.0.1:${String(port)}, which Sentinel names for "mymaster"`;
      expect(await doctor(sentinels.url)).toContain(server);
    });

    it('with a name that they do not know is reported', async () => {
      const telemetry = new RecordingTelemetry();
      const toolkit = start(sentinels.url.replace('mymaster', 'other'), { telemetry });
      expect(await render(toolkit, 'unnamed')).toEqual(MISS);
      expect(telemetry.of('cache_fault')[0]?.detail).toMatch(/Sentinel 127\.0\.0\.1:\d+ knows no primary "other"/);
    });

    it('with passwords is shared', async () => {
      const lines = ['requirepass the-password', 'masterauth the-password'];
      const closed = await startSentinels(lines, [
        'requirepass the-password',
        'sentinel auth-pass mymaster the-password',
      ]);
      onTestFinished(() => closed.close());
      const address = closed.url.replace('://', '://:the-password@');
      await until(start(address), 'widget', HIT);
      expect(await render(start(address), 'widget')).toEqual(HIT);
    });
  });

  describe('one server', () => {
    async function server(...lines: string[]): Promise<TopologyServer> {
      const one = await startServer(lines);
      onTestFinished(() => one.close());
      return one;
    }

    it.each([
      [
        'is full',
        ['config', 'set', 'maxmemory', '1'],
        ['config', 'set', 'maxmemory', '0'],
        /OOM command not allowed when used memory > 'maxmemory'/,
      ],
      ['is a read-only replica', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one'], /READONLY/],
      [
        'lacks the replicas it must have',
        ['config', 'set', 'min-replicas-to-write', '1'],
        ['config', 'set', 'min-replicas-to-write', '0'],
        /NOREPLICAS Not enough good replicas to write/,
      ],
    ])('that %s serves renders and says so, and then works again', async (_title, broken, mended, message) => {
      const store = await server();
      const telemetry = new RecordingTelemetry();
      const toolkit = start(store.url, { telemetry });
      await until(toolkit, 'widget', HIT);
      await store.cli(...broken);
      expect(await render(toolkit, 'new')).toEqual(MISS);
      expect(await act(toolkit, 'widget')).toContain(200);
      expect(await render(toolkit, 'widget')).toEqual(MISS);
      expect(telemetry.of('cache_fault').map(({ detail }) => detail)).toContainEqual(expect.stringMatching(message));
      expect(await doctor(store.url)).toMatch(message);
      await store.cli(...mended);
      await until(toolkit, 'new', HIT);
      await until(start(store.url), 'widget', HIT);
    });

    /** A platform that holds its answers to paths with `slow`. */
    async function slowPlatform(): Promise<{ readonly serviceApiUrl: string; readonly held: (() => void)[] }> {
      const held: (() => void)[] = [];
      const platform = createServer((request, response) => {
        const answer = (): unknown => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
        request.resume().once('end', () => (request.url?.includes('slow') === true ? held.push(answer) : answer()));
      });
      onTestFinished(() => platform.close().closeAllConnections());
      return { serviceApiUrl: await listening(platform), held };
    }

    it('has the action of a tenant that is closed and created again before the platform responds', async () => {
      const store = await server();
      const { serviceApiUrl, held } = await slowPlatform();
      const parts = createShared({ cacheStore: store.url, cacheMs: PATIENT.cacheMs });
      onTestFinished(() => parts.close());
      const config = { name: 'tenant', serviceApiUrl, serviceApiKey: 'site-key', cacheKeys };
      const closed = createToolkit(config, { shared: parts });
      const elsewhere = start(store.url, { serviceApiUrl });
      await shared(closed, elsewhere);
      await until(elsewhere, 'widget', HIT);
      const [acting, rendering] = [post(closed, '/widget/actions/slow'), render(closed, 'slow')];
      await expect.poll(() => held.length).toBe(2);
      await closed.close({ graceMs: 0 });
      const again = createToolkit(config, { shared: parts });
      onTestFinished(() => again.close({ graceMs: 0 }));
      expect(await Promise.all([acting, rendering])).toEqual([
        [502, undefined],
        [502, undefined],
      ]);
      // The platform may have carried it out.
      expect([await render(again, 'widget'), await render(elsewhere, 'widget')]).toEqual([MISS, HIT]);
      const rendered = render(again, 'slow');
      await expect.poll(() => held.length).toBe(3);
      for (const answer of held) answer();
      expect(await rendered).toEqual(MISS);
    });

    it('that another application uses too keeps its entries, and treats foreign ones as misses', async () => {
      const store = await server();
      const foreign = [
        ['set', 'session:1', '{}'],
        ['hset', 'agent-bff', 'field', 'value'],
        ['rpush', 'agent-bff:1:tag:x', 'item'],
        ['set', 'agent-bff:3:render:x', 'of a later release'],
      ];
      for (const words of foreign) await store.cli(...words);
      const toolkit = start(store.url);
      await until(toolkit, 'widget', HIT);
      await act(toolkit, 'widget');
      await until(toolkit, 'widget', HIT);
      const keys = await keysOf([store]);
      const own = keys.filter((key) => key.startsWith('agent-bff:2:'));
      expect(keys.filter((key) => !own.includes(key)).sort()).toEqual(foreign.map(([, key]) => key).sort());
      expect(await store.cli('get', 'session:1')).toBe('{}');
      expect(await store.cli('hget', 'agent-bff', 'field')).toBe('value');
      for (const [key, ...words] of own.flatMap((key) => [
        [key, 'set', key, 'not an entry'],
        [key, 'hset', key, 'field', 'value'],
      ])) {
        await store.cli('del', String(key));
        await store.cli(...words);
        expect((await render(toolkit, 'widget')) as unknown[]).toContain(200);
      }
      await store.cli('del', ...own);
      await until(toolkit, 'widget', HIT);
    });

    it.each([
      ['whose user lacks SET', async (_store: TopologyServer) => undefined],
      ['that is full', (store: TopologyServer) => store.cli('config', 'set', 'maxmemory', '1')],
      ['that is a read-only replica', (store: TopologyServer) => store.cli('replicaof', '127.0.0.1', '1')],
    ])('%s, behind a Keyv that hides it, serves no older render after an action', async (title, breaks) => {
      const store = await server();
      const rights = title.includes('SET') ? ['+get', '+unlink'] : ['+get', '+set', '+unlink'];
      await store.cli('acl', 'setuser', 'site', 'on', '>the-password', '~*', '+auth', ...rights);
      const [other, hiding] = [store.url, store.url.replace('://', '://site:the-password@')].map((url) => {
        const adapter = new KeyvRedis(url);
        onTestFinished(() => adapter.disconnect(true));
        return start(new Keyv(adapter));
      }) as [Toolkit, Toolkit];
      await until(other, 'widget', HIT);
      await until(hiding, 'widget', HIT);
      await breaks(store);
      await act(hiding, 'widget');
      expect(await render(hiding, 'widget')).toEqual(MISS);
      // Deleting is refused by a replica only.
      if (!title.includes('replica')) expect(await render(other, 'widget')).toEqual(MISS);
    });

    it.each([
      ['all it needs', ['+get', '+set', '+unlink', '+info', '+cluster|slots']],
      ['neither INFO nor CLUSTER', ['+get', '+set', '+unlink']],
    ])('whose user may use %s is shared', async (_title, commands) => {
      const store = await server();
      await store.cli('acl', 'setuser', 'site', 'on', '>the-password', '~agent-bff:*', '+auth', ...commands);
      const address = store.url.replace('://', '://site:the-password@');
      const telemetry = new RecordingTelemetry();
      await until(start(address, { telemetry }), 'widget', HIT);
      expect(await render(start(address, { telemetry }), 'widget')).toEqual(HIT);
      expect(telemetry.of('cache_fault')).toEqual([]);
    });
  });
});

/** All keys of these servers. */
async function keysOf(servers: readonly TopologyServer[]): Promise<readonly string[]> {
  const lists = await Promise.all(servers.map((server) => server.cli('keys', '*')));
  return lists.flatMap((list) => list.split('\n')).filter((key) => key !== '');
}
