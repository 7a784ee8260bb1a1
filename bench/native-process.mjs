// Servers that are not Node processes. Their CPU and memory come from the system's accounting.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/package/program.mjs';

const WORK = fileURLToPath(new URL('./.work', import.meta.url));
const START_MS = 5_000;

/** nginx as a reverse proxy with keep-alive connections: the native limit. */
export async function startNginx({ upstream }) {
  const { host, pathname } = new URL(upstream);
  return startNative('nginx', (folder, port) => {
    writeFileSync(join(folder, 'nginx.conf'), nginxConfig(folder, port, host, pathname));
    return ['-p', folder, '-c', join(folder, 'nginx.conf')];
  });
}

/** A Redis server that writes nothing to disk. */
export function startRedis() {
  const settings = '--bind 127.0.0.1 --appendonly no --save'.split(' ');
  return startNative('redis-server', (folder, port) => [...settings, '', '--port', String(port), '--dir', folder]);
}

/** Output of `nginx -v` or `redis-server --version`; undefined when it is not installed. */
export function nativeVersion(command, flag) {
  return new Promise((resolve) => {
    execFile(command, [flag], (error, stdout, stderr) => {
      resolve(error === null ? /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] : undefined);
    });
  });
}

async function startNative(command, argumentsFor) {
  mkdirSync(WORK, { recursive: true });
  const folder = mkdtempSync(join(WORK, `${command}-`));
  const port = await freePort();
  const child = spawn(command, argumentsFor(folder, port), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  let gone;
  child.once('error', (error) => (gone = error.code === 'ENOENT' ? `${command} is not installed` : error.message));
  child.once('exit', () => (gone ??= `${command} ended: ${said.trim().split('\n').at(-1)}`));
  const until = performance.now() + START_MS;
  while (!(await isListening(port)) && gone === undefined && performance.now() < until) await pause(20);
  if (gone !== undefined) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(gone);
  }
  return {
    facts: { port },
    ask: async (question) => (question === 'cpu' ? cpuMicroseconds(child.pid) : residentBytes(child.pid)),
    close: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill();
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** User and system time of a process with all its threads, as precise as the scheduler counts it. */
function cpuMicroseconds(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return sum + Number(nanoseconds) / 1_000;
  }, 0);
}

function residentBytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;
}

async function isListening(port) {
  const socket = connect({ port, host: '127.0.0.1' });
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

function nginxConfig(folder, port, host, path) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 20000;
events { worker_connections 20000; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  client_max_body_size 8m;
  keepalive_requests 1000000000;
  upstream agent { server ${host}; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location /api/a2a {
      proxy_pass http://agent${path};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer ${'t'.repeat(600)}";
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;
}
