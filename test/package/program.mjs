// Programs that serve: a demo, a site, a development server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';

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

/** Runs a command, and resolves once it prints its address. `stop` ends it and every process it started. */
export function started(command, cwd, env = {}) {
  const child = spawn(command, { shell: true, cwd, env: { ...process.env, ...env }, detached: true });
  const stop = () => {
    if (running.delete(stop)) process.kill(-child.pid, 'SIGKILL');
  };
  running.add(stop);
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (chunk) => {
      text += chunk;
      const [url] = /http:\/\/localhost:\d+/.exec(text) ?? [];
      if (url !== undefined) resolve({ url, stop });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => {
      running.delete(stop);
      reject(new Error(`${command} ended (${code}): ${text}`));
    });
  });
}
