import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '@keyv/redis';
import { freePort } from './free-port.js';
import { programPath } from './program-path.js';
import { temporaryFolder } from './temporary-folder.js';

/** The path of the server program, or `REDIS_SERVER_PATH`; undefined if not found. */
export const REDIS_SERVER: string | undefined = programPath('REDIS_SERVER_PATH', ['redis-server']);

/** A Redis for one test file, on loopback and without persistence. */
export class RedisServer {
  readonly url: string;
  readonly #port: number;
  readonly #folder = temporaryFolder('redis');
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `redis://127.0.0.1:${String(port)}`;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort('127.0.0.1'));
    await server.restart();
    return server;
  }

  /** Restarts the server on the same port, without data. */
  async restart(): Promise<void> {
    if (REDIS_SERVER === undefined) throw new Error('there is no redis-server');
    const settings = { bind: '127.0.0.1', port: String(this.#port), dir: this.#folder, save: '', appendonly: 'no' };
    const child = spawn(
      REDIS_SERVER,
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#process = child;
    let log = '';
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      log += String(chunk);
      if (log.includes('Ready to accept connections')) break;
    }
    if (!log.includes('Ready to accept connections')) throw new Error(`redis-server did not start: ${log}`);
    child.stdout.resume();
  }

  /** Kills the server, like a crash. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  /** Suspends the server: connections stay open without a response. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Runs commands on a separate connection. */
  async directly<T>(run: (client: ReturnType<typeof createClient>) => Promise<T>): Promise<T> {
    const client = createClient({ url: this.url });
    await client.connect();
    try {
      return await run(client as ReturnType<typeof createClient>);
    } finally {
      client.destroy();
    }
  }

  /** Every key and every string value. */
  entries(): Promise<string> {
    return this.directly(async (client) => {
      const entries: string[] = [];
      for (const key of await client.keys('*')) {
        entries.push(key, (await client.type(key)) === 'string' ? ((await client.get(key)) ?? '') : '');
      }
      return entries.join('\n');
    });
  }

  async close(): Promise<void> {
    await this.kill();
  }
}
