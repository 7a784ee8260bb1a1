// One Redis, a cluster of six nodes, and a Sentinel trio, on loopback and without a disk. All their files are in one folder
// under the system's temporary folder; all processes end with this one.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HOST = '127.0.0.1';
const running = new Set();
const folders = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
const NODE_TIMEOUT_MS = 1_000;
const START_MS = 30_000;
const SERVER = process.env.REDIS_SERVER_PATH || 'redis-server';
const execute = promisify(execFile);

/** Runs redis-cli against one server; its output. */
async function redisCli(port, isTls, ...words) {
  const tls = isTls ? ['--tls', '--insecure'] : [];
  const { stdout } = await execute('redis-cli', ['-h', HOST, '-p', String(port), ...tls, ...words]);
  return stdout.trim();
}

/** Repeats a check until it returns something true. */
async function until(what, check) {
  const end = Date.now() + START_MS;
  while (Date.now() < end) {
    const found = await check().catch(() => undefined);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within ${START_MS} ms: ${what}`);
}

/** Free ports, all different. */
async function freePorts(count) {
  const probes = Array.from({ length: count }, () => createServer().listen(0, HOST));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => probe.address().port);
  await Promise.all(probes.map((probe) => once(probe.close(), 'close')));
  return ports;
}

/** One server, which may crash, freeze and start again with its settings. */
class Server {
  #lines;
  #folder;
  #process;
  #isFrozen = false;

  constructor(folder, port, lines) {
    this.port = port;
    this.isTls = lines.some((line) => line.startsWith('tls-cert-file'));
    this.url = `redis${this.isTls ? 's' : ''}://${HOST}:${port}`;
    this.#folder = join(folder, String(port));
    const place = this.isTls ? ['port 0', `tls-port ${port}`, ...TLS_INSIDE] : [`port ${port}`];
    this.#lines = [`bind ${HOST}`, `dir ${this.#folder}`, ...place, ...lines];
    mkdirSync(this.#folder);
  }

  async start(isSentinel = false) {
    const file = join(this.#folder, 'redis.conf');
    if (this.#process === undefined) writeFileSync(file, `${this.#lines.join('\n')}\n`);
    const child = spawn(SERVER, [file, ...(isSentinel ? ['--sentinel'] : [])], { stdio: 'ignore' });
    this.#process = child;
    await once(child, 'spawn');
    running.add(child);
    child.once('exit', () => running.delete(child));
    await until(`PONG of ${this.port}`, async () => /PONG|NOAUTH/.test(await this.cli('ping')));
    return this;
  }

  cli(...words) {
    if (this.#isFrozen) return Promise.reject(new Error('frozen'));
    return redisCli(this.port, this.isTls, ...words);
  }

  async kill() {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  freeze() {
    this.#isFrozen = true;
    this.#process?.kill('SIGSTOP');
  }

  thaw() {
    this.#isFrozen = false;
    this.#process?.kill('SIGCONT');
  }
}

/** Servers speak TLS with each other, too. */
const TLS_INSIDE = ['tls-replication yes', 'tls-cluster yes', 'tls-auth-clients no'];
const PLAIN = ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0'];

function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bff-redis-'));
  folders.add(folder);
  return folder;
}

/** One server with settings of its own, as lines of redis.conf; with `tls-cert-file`, it speaks TLS only. */
export async function startServer(lines = []) {
  const folder = newFolder();
  const [port] = await freePorts(1);
  const server = new Server(folder, port, [...PLAIN, ...lines]);
  await server.start();
  return Object.assign(server, {
    close: async () => {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

/** Three primaries and a replica of each. */
export async function startCluster(lines = []) {
  const folder = newFolder();
  const ports = await freePorts(12);
  const nodes = ports
    .slice(0, 6)
    .map(
      (port, index) =>
        new Server(folder, port, [
          ...PLAIN,
          'cluster-enabled yes',
          `cluster-port ${ports[6 + index]}`,
          `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
          'cluster-replica-validity-factor 0',
          ...lines,
        ]),
    );
  await Promise.all(nodes.map((node) => node.start()));
  const addresses = nodes.map(({ port }) => `${HOST}:${port}`);
  await nodes[0].cli('--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes');

  /** Of each node: id, port, role and the id of its primary, as one running node sees them. */
  const view = async (through = nodes[0]) =>
    (await through.cli('cluster', 'nodes')).split('\n').map((line) => {
      const [id, address, , primary, , , , , ...slots] = line.split(' ');
      return { id, port: Number(/:(\d+)@/.exec(address)[1]), primary, slots };
    });
  const settled = () =>
    until('every node sees all slots served', async () => {
      const states = await Promise.all(
        nodes.map((node) => node.cli('cluster', 'info').catch(() => 'cluster_state:ok cluster_slots_ok:16384')),
      );
      return states.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_slots_ok:16384'));
    });
  await settled();
  await until('every primary has a replica', async () => {
    const infos = await Promise.all(nodes.map((node) => node.cli('info', 'replication')));
    return infos.every((info) => info.includes('connected_slaves:1') || info.includes('master_link_status:up'));
  });
  const nodeAt = (port) => nodes.find((node) => node.port === port);
  const slotOf = async (key) => Number(await nodes[0].cli('cluster', 'keyslot', key));
  const primaryOfSlot = async (slot) => {
    const running = await Promise.any(nodes.map(async (node) => (await node.cli('ping'), node)));
    for (const { port, slots } of await view(running)) {
      for (const range of slots) {
        const [from, to = from] = range.split('-').map(Number);
        if (from <= slot && slot <= to) return nodeAt(port);
      }
    }
    throw new Error(`no primary serves slot ${slot}`);
  };
  /** The primary that serves a key. */
  const primaryOf = async (key) => primaryOfSlot(await slotOf(key));
  const replicaOf = async (primary) => {
    const all = await view(primary);
    const { id } = all.find(({ port }) => port === primary.port);
    return nodeAt(all.find((node) => node.primary === id).port);
  };
  return {
    nodes,
    url: nodes[0].url,
    settled,
    primaryOf,
    replicaOf,
    async primaries() {
      const roles = await Promise.all(nodes.map((node) => node.cli('role')));
      return nodes.filter((_node, index) => roles[index].startsWith('master'));
    },
    /** Kills or freezes the primary of a key, and waits until its replica has its slots; that server. */
    async failover(key, how = 'kill') {
      const primary = await primaryOf(key);
      const replica = await replicaOf(primary);
      await primary[how]();
      await until('the replica is promoted', async () => (await replica.cli('role')).startsWith('master'));
      return primary;
    },
    /** Moves this many slots from the primary of a key to another, the key's own among them. */
    async reshard(key, count) {
      const source = await primaryOf(key);
      const all = (await view(source)).filter(({ slots }) => slots.length > 0);
      const from = all.find(({ port }) => port === source.port);
      const to = all.find(({ port }) => port !== source.port);
      const slot = await slotOf(key);
      const target = nodeAt(to.port);
      for (let moved = 0; moved < count; moved += 1) {
        const number = slot + moved;
        if ((await primaryOfSlot(number)) !== source) break;
        await target.cli('cluster', 'setslot', String(number), 'importing', from.id);
        await source.cli('cluster', 'setslot', String(number), 'migrating', to.id);
        const keys = (await source.cli('cluster', 'getkeysinslot', String(number), '1000')).split('\n').filter(Boolean);
        if (keys.length > 0) await source.cli('migrate', HOST, String(target.port), '', '0', '5000', 'keys', ...keys);
        for (const node of [target, source]) await node.cli('cluster', 'setslot', String(number), 'node', to.id);
      }
      return { source, target };
    },
    /** Moves this many slots between two primaries, as operators do. */
    async reshardMany(count) {
      const running = await Promise.any(nodes.map(async (node) => (await node.cli('ping'), node)));
      const [from, to] = (await view(running)).filter(({ slots }) => slots.length > 0);
      const options = { from: from.id, to: to.id, slots: String(count), timeout: '5000' };
      const words = Object.entries(options).flatMap(([name, value]) => [`--cluster-${name}`, value]);
      await running.cli('--cluster', 'reshard', `${HOST}:${running.port}`, ...words, '--cluster-yes');
    },
    async close() {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A primary and a replica, watched by three Sentinels under the name `mymaster`. */
export async function startSentinels(lines = [], sentinelLines = []) {
  const folder = newFolder();
  const [first, second, ...ports] = await freePorts(5);
  const server = (port, more) => new Server(folder, port, [...PLAIN, ...lines, ...more]);
  const servers = [server(first, []), server(second, [`replicaof ${HOST} ${first}`])];
  await Promise.all(servers.map((one) => one.start()));
  const sentinels = ports.map(
    (port) =>
      new Server(folder, port, [
        `sentinel monitor mymaster ${HOST} ${first} 2`,
        `sentinel down-after-milliseconds mymaster ${NODE_TIMEOUT_MS}`,
        'sentinel failover-timeout mymaster 5000',
        ...sentinelLines,
      ]),
  );
  await Promise.all(sentinels.map((sentinel) => sentinel.start(true)));
  const primary = async () => {
    const [, port] = (await sentinels[0].cli('sentinel', 'get-master-addr-by-name', 'mymaster')).split('\n');
    return servers.find((one) => one.port === Number(port));
  };
  const isReady = async () => {
    const states = await Promise.all(sentinels.map((sentinel) => sentinel.cli('sentinel', 'master', 'mymaster')));
    return states.every((state) => /num-slaves\n1\nnum-other-sentinels\n2\n/.test(state));
  };
  if (!sentinelLines.some((line) => line.startsWith('requirepass')))
    await until('the Sentinels know the replica and each other', isReady);
  return {
    servers,
    sentinels,
    primary,
    url: `redis${sentinels[0].isTls ? 's' : ''}+sentinel://${sentinels.map(({ port }) => `${HOST}:${port}`).join(',')}/mymaster`,
    /** Kills or freezes the primary, and waits until the Sentinels name another; that server. */
    async failover(how = 'kill') {
      const before = await primary();
      await before[how]();
      await until('another primary', async () => {
        const now = await primary();
        return now !== before && (await now.cli('role')).startsWith('master');
      });
      return before;
    },
    async close() {
      await Promise.all([...sentinels, ...servers].map((one) => one.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
