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
    // Each visit under way listens for its answer.
    child.setMaxListeners(0);
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
  /** Resolves once new renders of one process are hits in the other. Every response has status 200. */
  async function shared(one: Site, other: Site): Promise<void> {
    const statuses = new Set<number>();
    const tried = async (): Promise<unknown> => {
      const widgets = Array.from({ length: 20 }, () => `w-${randomBytes(4).toString('hex')}`);
      const found = [await renders(one, widgets), await renders(other, widgets)] as [number, string][][];
      for (const [status] of found.flat()) statuses.add(status);
      return new Set(found[1]?.map(([, cache]) => cache));
    };
    await expect.poll(tried, { timeout: FAILOVER_MS, interval: 50 }).toEqual(new Set(['HIT']));
    expect([...statuses]).toEqual([200]);
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
    await shared(site, start(sentinels.url));
    await sentinels.failover();
    await shared(site, start(sentinels.url));
  });

  /** A key that a node of the cluster serves. */
  async function keyIn(cluster: RedisCluster, node: number): Promise<string> {
    for (;;) {
      const key = randomBytes(4).toString('hex');
      if ((await cluster.primaryOf(key)) === cluster.nodes[node]) return key;
    }
  }

  describe('that is a cluster', () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      cluster = await startCluster(lines);
    }, 60_000);
    afterAll(() => cluster.close());

    it('is shared by processes that trust its authority, and reported by others', async () => {
      const [one, other] = [start(cluster.url), start(cluster.url)];
      await shared(one, other);
      expect([await one.render('secure'), await other.render('secure')]).toEqual([MISS, HIT]);
      await other.act('secure');
      expect(await one.render('secure')).toEqual(MISS);
      expect([...one.faults, ...other.faults]).toEqual([]);
      const untrusting = start(cluster.url, {});
      expect([await untrusting.render('secure'), await untrusting.render('secure')]).toEqual([MISS, MISS]);
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
      const [one, other] = [start(cluster.url), start(cluster.url)];
      await shared(one, other);
      expect([...one.faults, ...other.faults]).toEqual([]);
    });

    it('is shared while and after slots move', async () => {
      const [one, other] = [start(cluster.url), start(cluster.url)];
      await shared(one, other);
      const moving = cluster.reshardMany(2_000);
      let isMoving = true;
      void moving.finally(() => (isMoving = false));
      while (isMoving) await shared(one, other);
      await moving;
      await shared(one, start(cluster.url));
    });

    it('is shared after a failover, here and in new processes', async () => {
      const [one, other] = [start(cluster.url), start(cluster.url)];
      await shared(one, other);
      // Both processes know the cluster by the address of this one.
      await cluster.failover(await keyIn(cluster, 0));
      await cluster.settled();
      await shared(one, other);
      expect([await one.render('failed-over'), await other.render('failed-over')]).toEqual([MISS, HIT]);
      await other.act('failed-over');
      expect(await one.render('failed-over')).toEqual(MISS);
      // The first of them crashed.
      const known = cluster.nodes.map(({ url }) => url.slice('rediss://'.length));
      await shared(one, start(`rediss://${known.join(',')}`));
    });
  });
});
