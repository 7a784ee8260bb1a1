import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A Redis on loopback without a disk, which can crash and restart; `undefined` where there is no redis-server. */
export async function startRedis() {
  const redis = new RedisProcess(await freePort());
  try {
    await redis.start();
    return redis;
  } catch (error) {
    await redis.close();
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

class RedisProcess {
  url;
  #port;
  #folder = mkdtempSync(join(tmpdir(), 'agent-bff-redis-'));
  #process;

  constructor(port) {
    process.once('exit', () => this.#process?.kill('SIGKILL'));
    this.#port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** Starts an empty server on its port. */
  async start() {
    const settings = { bind: '127.0.0.1', port: String(this.#port), dir: this.#folder, save: '', appendonly: 'no' };
    const child = spawn(
      process.env.REDIS_SERVER_PATH || 'redis-server',
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child, 'spawn');
    this.#process = child;
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      if (String(chunk).includes('Ready to accept connections')) break;
    }
    child.stdout.resume();
  }

  /** Ends the server as a crash would. */
  async kill() {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async close() {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
