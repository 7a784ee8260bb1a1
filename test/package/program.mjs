// Programs that serve: a demo, a site, a development server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';

const PATIENCE_MS = 120_000;
const running = new Set();
process.once('exit', () => running.forEach((stop) => stop()));

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** The address of this machine for others in its network. Without a network, a second loopback address. */
export function lanAddress() {
  const all = Object.values(networkInterfaces()).flat();
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2';
}

/**
 * Runs a command in a shell, or a program with its arguments, and resolves once it prints its address. `stop` ends it and every process
 * it started; `written` is what it has printed.
 */
export function started(command, cwd, env = {}, address = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/) {
  const [program, ...args] = [command].flat();
  const child = spawn(program, args, {
    shell: typeof command === 'string',
    cwd,
    env: { ...process.env, ...env },
    detached: true,
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    if (running.delete(stop)) process.kill(-child.pid, 'SIGKILL');
    await closed;
  };
  running.add(stop);
  let text = '';
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
        const [url] = address.exec(text) ?? [];
        if (url !== undefined) resolve({ url: url.replace('127.0.0.1', 'localhost'), stop, written: () => text });
      });
    child.once('error', reject);
    child.once('exit', (code) => {
      running.delete(stop);
      reject(new Error(`${program} ended (${code}): ${text.slice(0, 2_000)}`));
    });
    AbortSignal.timeout(PATIENCE_MS).addEventListener('abort', () => reject(new Error(`no address: ${text}`)));
  });
}

/** The response of an address once something listens there. */
export async function firstResponse(url, signal) {
  for (;;) {
    try {
      return await fetch(url, { signal });
    } catch (error) {
      if (error.cause?.code !== 'ECONNREFUSED') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
