import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { NEXT_EXAMPLE } from './next-example.js';

/** Serves the example or the site of another folder with `next start` or `next dev`, in a separate process. */
export class NextServer {
  readonly url: string;
  readonly #child: ChildProcess;
  #log = '';

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
    for (const output of [child.stdout, child.stderr]) {
      output?.on('data', (text: Buffer) => {
        this.#log += String(text);
      });
    }
  }

  static async start(
    command: 'start' | 'dev',
    port: number,
    environment: Readonly<Record<string, string>>,
    folder: string = NEXT_EXAMPLE,
  ): Promise<NextServer> {
    // A separate process group, because `next dev` has child processes.
    const child = spawn(
      process.execPath,
      ['node_modules/next/dist/bin/next', command, '--port', String(port), '--hostname', 'localhost'],
      {
        cwd: folder,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          ...environment,
          NEXT_TELEMETRY_DISABLED: '1',
          NODE_ENV: command === 'dev' ? 'development' : 'production',
        },
      },
    );
    const server = new NextServer(`http://localhost:${String(port)}`, child);
    await server.#ready();
    return server;
  }

  /** The output so far. */
  get log(): string {
    return this.#log;
  }

  async close(): Promise<void> {
    const { pid, exitCode } = this.#child;
    if (exitCode !== null || pid === undefined) return;
    const gone = once(this.#child, 'exit');
    process.kill(-pid, 'SIGKILL');
    await gone;
  }

  async #ready(): Promise<void> {
    while (!this.#log.includes('Ready in')) {
      if (this.#child.exitCode !== null) throw new Error(`Next ended: ${this.#log}`);
      await Promise.race([
        once(this.#child.stdout as NonNullable<ChildProcess['stdout']>, 'data'),
        once(this.#child, 'exit'),
      ]);
    }
  }
}
