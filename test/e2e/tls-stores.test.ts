import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { privateAuthority } from '../support/identity-provider/private-authority.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { type RedisCluster, startCluster, startSentinels, startServer } from '../support/redis-topology.mjs';
import { temporaryFolder } from '../support/temporary-folder.js';

const PROCESS = fileURLToPath(new URL('tls-stores-process.mjs', import.meta.url));
const FAILOVER_MS = 30_000;
const HIT = [200, 'HIT'];
const MISS = [200, 'MISS'];
const UNTRUSTED = /self-signed|UNABLE_TO_VERIFY/;
const cacheKeys = [randomBytes(32).toString('hex')];

/** The results of a visit, and the faults of the store that the process has reported. */
interface Visited {
  readonly result: readonly unknown[];
  readonly faults: readonly string[];
}

/** One process of the site. */
interface Site {
  readonly faults: readonly string[];
  render(widget: string): Promise<unknown>;
  act(widget: string): Promise<unknown>;
}

describe.skipIf(REDIS_SERVER === undefined)('a store behind TLS', { timeout: 90_000 }, () => {
  let upstream: RecordingUpstream;
  let ca: string;
  let lines: readonly string[];

  beforeAll(async () => {
    upstream = await RecordingUpstream.start();
    const folder = temporaryFolder('tls-store');
    const { serverCertificate, serverKey, ca: authority } = privateAuthority();
    const write = (name: string, text: string): string => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    };
    ca = write('ca.pem', authority);
    lines = [
      `tls-cert-file ${write('cert.pem', serverCertificate)}`,
      `tls-key-file ${write('key.pem', serverKey)}`,
      `tls-ca-cert-file ${ca}`,
    ];
  });
  afterAll(() => upstream.close());

  /** A process of the site; Node reads the authorities it trusts when it starts. */
  function start(cacheStore: string, env: Readonly<Record<string, string>> = { NODE_EXTRA_CA_CERTS: ca }): Site {
    const child = fork(PROCESS, { env: { ...process.env, ...env } });
    onTestFinished(() => void child.kill('SIGKILL'));
    const serviceApiUrl = `${upstream.origin}/api`;
    // Long enough that a slow machine does not look like a store that is down.
    const timeouts = { cacheMs: 5_000 };
    child.send({ config: { serviceApiUrl, serviceApiKey: 'site-key', cacheKeys, cacheStore, timeouts } });
    let faults: readonly string[] = [];
    let last = 0;
    const visit = async (path: string): Promise<unknown> => {
      last += 1;
      const id = last;
      const answered = new Promise<Visited>((resolve) => {
        const listener = (visited: Visited & { readonly id: number }): void => {
          if (visited.id !== id) return;
          child.off('message', listener);
          resolve(visited);
        };
        child.on('message', listener);
      });
      child.send({ id, path });
      const visited = await answered;
      ({ faults } = visited);
      return visited.result;
    };
    return {
      get faults() {
        return faults;
      },
      render: (widget) => visit(`/${widget}/render`),
      act: (widget) => visit(`/${widget}/actions/add`),
    };
  }

  const renders = (site: Site, widgets: readonly string[]): Promise<unknown> =>
    Promise.all(widgets.map((widget) => site.render(widget)));
  const newWidgets = (): readonly string[] => Array.from({ length: 20 }, () => `w-${randomBytes(4).toString('hex')}`);
  const all = (widgets: readonly string[], result: unknown): unknown => widgets.map(() => result);
  /** Renders widgets until all are hits; every response before that has status 200. */
  async function untilHits(site: Site, widgets: readonly string[]): Promise<void> {
    const last = async (): Promise<unknown> => {
      const results = (await renders(site, widgets)) as [number, string][];
      expect(results.map(([status]) => status)).toEqual(all(widgets, 200));
      return results;
    };
    await expect.poll(last, { timeout: FAILOVER_MS, interval: 50 }).toEqual(all(widgets, HIT));
  }

  it('is shared by processes that trust its authority, and reported by others', async () => {
    const store = await startServer(lines);
    onTestFinished(() => store.close());
    expect(await start(store.url).render('secure')).toEqual(MISS);
    const trusting = start(store.url);
    expect([await trusting.render('secure'), trusting.faults]).toEqual([HIT, []]);
    const other = start(store.url, {});
    expect([await other.render('secure'), await other.render('secure')]).toEqual([MISS, MISS]);
    expect(other.faults.join()).toMatch(UNTRUSTED);
  });

  it('whose primary Sentinels name is shared before and after a failover', async () => {
    const sentinels = await startSentinels(lines, lines);
    onTestFinished(() => sentinels.close());
    const site = start(sentinels.url);
    const widgets = newWidgets();
    await untilHits(site, widgets);
    expect(await renders(start(sentinels.url), widgets)).toEqual(all(widgets, HIT));
    await sentinels.failover();
    await untilHits(site, widgets);
    expect(await renders(start(sentinels.url), widgets)).toEqual(all(widgets, HIT));
  });

  describe('that is a cluster', () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      cluster = await startCluster(lines);
    }, 60_000);
    afterAll(() => cluster.close());

    it('is shared by processes that trust its authority, and reported by others', async () => {
      const [one, other] = [start(cluster.url), start(cluster.url)];
      const widgets = newWidgets();
      // At once: some of them before the connection is made.
      expect(await renders(one, widgets)).toEqual(all(widgets, MISS));
      expect(await renders(other, widgets)).toEqual(all(widgets, HIT));
      const [first = ''] = widgets;
      await other.act(first);
      expect(await one.render(first)).toEqual(MISS);
      expect([...one.faults, ...other.faults]).toEqual([]);
      const untrusting = start(cluster.url, {});
      expect([await untrusting.render(first), await untrusting.render(first)]).toEqual([MISS, MISS]);
      expect(untrusting.faults.join()).toMatch(UNTRUSTED);
    });

    it('is shared if its nodes announce names that are in their certificates', async () => {
      const announce = (name: string, type: string): Promise<unknown> =>
        Promise.all(
          cluster.nodes.flatMap((node) => [
            node.cli('config', 'set', 'cluster-announce-hostname', name),
            node.cli('config', 'set', 'cluster-preferred-endpoint-type', type),
          ]),
        );
      await announce('localhost', 'hostname');
      onTestFinished(() => announce('', 'ip').then(() => undefined));
      const named = async (): Promise<number> => {
        const slots = await Promise.all(cluster.nodes.map((node) => node.cli('cluster', 'slots')));
        return Math.min(...slots.map((text) => text.split('\n').filter((line) => line === 'localhost').length));
      };
      await expect.poll(named, { timeout: FAILOVER_MS }).toBe(6);
      const site = start(cluster.url);
      const widgets = newWidgets();
      await untilHits(site, widgets);
      const other = start(cluster.url);
      expect(await renders(other, widgets)).toEqual(all(widgets, HIT));
      expect([...site.faults, ...other.faults]).toEqual([]);
    });

    it('is shared while and after slots move', async () => {
      const site = start(cluster.url);
      const widgets = newWidgets();
      await untilHits(site, widgets);
      const moving = cluster.reshardMany(2_000);
      let isMoving = true;
      void moving.finally(() => (isMoving = false));
      while (isMoving)
        for (const [status] of (await renders(site, widgets)) as [number, string][]) expect(status).toBe(200);
      await moving;
      await untilHits(site, widgets);
      expect(await renders(start(cluster.url), widgets)).toEqual(all(widgets, HIT));
    });

    it('is shared after a failover, here and in new processes', async () => {
      const [site, other] = [start(cluster.url), start(cluster.url)];
      const widgets = newWidgets();
      await untilHits(site, widgets);
      await untilHits(other, widgets);
      const lost = await cluster.failover('any');
      await cluster.settled();
      await untilHits(site, widgets);
      await untilHits(other, widgets);
      for (const widget of widgets) {
        await site.act(widget);
        expect(await other.render(widget)).toEqual(MISS);
      }
      const known = cluster.nodes.map(({ url }) => url.slice('rediss://'.length));
      await untilHits(start(`rediss://${known.join(',')}`), widgets);
      await lost.start();
      await cluster.settled();
      expect(await renders(site, widgets)).toEqual(all(widgets, HIT));
    });
  });
});
