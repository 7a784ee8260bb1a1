import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.js';
import { programPath } from './program-path.js';

const DEBIAN = '/usr/sbin/nginx';

/** The path of nginx, or `NGINX_PATH`; undefined if not found. */
export const NGINX: string | undefined =
  programPath('NGINX_PATH', ['nginx']) ?? (existsSync(DEBIAN) ? DEBIAN : undefined);

/** Starts nginx in front of a site, with the defaults of Debian: HTTP/1.0 to the site, and further directives. Ends it after the test. */
export async function nginxInFrontOf(site: string, directives = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'));
  await mkdir(join(folder, 'logs'));
  const port = String(await freePort('127.0.0.1'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr notice;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    ${directives}
    location / { proxy_pass ${site}; proxy_set_header Host $http_host; }
  }
}
`,
  );
  const nginx = spawn(NGINX ?? 'nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    if (nginx.exitCode === null && nginx.kill('SIGKILL')) await once(nginx, 'close');
  });
  let log = '';
  for await (const chunk of nginx.stderr.iterator({ destroyOnReturn: false })) {
    log += String(chunk);
    if (/\[notice\].*(?:OS:|built by|getrlimit)/.test(log)) break;
  }
  nginx.stderr.resume();
  if (nginx.exitCode !== null) throw new Error(`nginx did not start: ${log}`);
  return `http://127.0.0.1:${port}`;
}
