import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from './support/documents.js';
import { temporaryFolder } from './support/temporary-folder.js';

const NAMES = ['agent-bff', 'agent-bff-react'];
const fileOf = (name: string): string => `${name}-1.0.0.tgz`;

/** A folder as `npm run pack` leaves it: a file of each package, and the sums of both. */
function packed(): string {
  const folder = temporaryFolder('packed');
  for (const name of NAMES) {
    const source = join(temporaryFolder('source'), name);
    mkdirSync(source);
    writeFileSync(join(source, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: source, stdio: 'ignore' });
  }
  const sums = readdirSync(folder).map((file) => `${digest('sha256', join(folder, file), 'hex')}  ${file}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  return folder;
}

/** A registry with these versions and the integrity of their files. It records what is published. */
async function registry(versions: Readonly<Record<string, string>>) {
  const received: Record<string, string> = {};
  const server = createServer(async (request, response) => {
    const name = request.url?.slice(1) ?? '';
    if (request.method === 'PUT') {
      const { _attachments: files } = (await json(request)) as { _attachments: Record<string, { data: string }> };
      for (const [file, { data }] of Object.entries(files)) received[file] = data;
      return response.end('{}');
    }
    const integrity = versions[name];
    if (integrity === undefined) return response.writeHead(404).end('{}');
    const version = { name, version: '1.0.0', dist: { integrity, tarball: 'http://127.0.0.1/' } };
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

async function publish(folder: string, host: string) {
  const cache = temporaryFolder('cache');
  const env = {
    ...process.env,
    npm_config_registry: `http://${host}/`,
    [`npm_config_//${host}/:_authToken`]: 'a-token',
    npm_config_cache: cache,
    npm_config_fetch_retries: '0',
  };
  const child = spawn(process.execPath, [join(ROOT, 'scripts/publish.mjs'), folder], { env });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number];
  return { status, complaint };
}

function digest(algorithm: string, file: string, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(readFileSync(file)).digest(encoding);
}

describe('publishing', { timeout: 120_000 }, () => {
  it.each([
    ['nothing, both are published', [], NAMES],
    ['one of them, as after a run that broke off, the other is published', ['agent-bff'], ['agent-bff-react']],
    ['both, nothing is', NAMES, []],
  ])('where the registry has %s, byte for byte', async (_title, present, expected) => {
    const folder = packed();
    const integrity = (name: string) => `sha512-${digest('sha512', join(folder, fileOf(name)), 'base64')}`;
    const { host, received } = await registry(Object.fromEntries(present.map((name) => [name, integrity(name)])));
    expect(await publish(folder, host)).toMatchObject({ status: 0 });
    const files = expected.map((name) => [fileOf(name), readFileSync(join(folder, fileOf(name))).toString('base64')]);
    expect(received).toEqual(Object.fromEntries(files));
  });

  it('fails where the registry has another file under the same version', async () => {
    const { host, received } = await registry({ 'agent-bff': 'sha512-another' });
    const { status, complaint } = await publish(packed(), host);
    expect([status, received]).toEqual([1, {}]);
    expect(complaint).toContain('agent-bff@1.0.0 is already published with other contents. Raise the version.');
  });

  it('fails before anything is sent if a file is not the tested one', async () => {
    const folder = packed();
    writeFileSync(join(folder, fileOf('agent-bff-react')), 'another file');
    const { host, received } = await registry({});
    const { status, complaint } = await publish(folder, host);
    expect([status, received]).toEqual([1, {}]);
    expect(complaint).toContain('agent-bff-react-1.0.0.tgz is not the file that was packed and tested');
  });
});

describe('the notices of what is bundled', () => {
  const notices = (texts: Readonly<Record<string, string>>) => {
    const folder = temporaryFolder('bundle');
    const packages = Object.entries(texts).map(([name, text]) => ({ name, version: '1.0.0', identifier: 'MIT', text }));
    writeFileSync(join(folder, 'licences.json'), JSON.stringify(packages));
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/notices.mjs'), folder], {
      encoding: 'utf8',
    });
    const file = join(folder, 'LICENSES.txt');
    return { status, stderr, text: existsSync(file) ? readFileSync(file, 'utf8') : undefined };
  };

  it('name every package, and have each text once', () => {
    const { status, text } = notices({ b: 'Copyright B', c: 'Copyright B', a: 'Copyright A' });
    expect([status, text]).toEqual([
      0,
      `The code in this folder includes these packages. The texts of their licences follow.

a 1.0.0 (MIT)
b 1.0.0 (MIT)
c 1.0.0 (MIT)

## a 1.0.0 (MIT)

Copyright A

## b 1.0.0 (MIT)
## c 1.0.0 (MIT)

Copyright B
`,
    ]);
  });

  it('are refused while the text of one licence is empty', () => {
    const { status, stderr, text } = notices({ a: 'Copyright A', b: ' \n' });
    expect([status, text]).toEqual([1, undefined]);
    expect(stderr).toContain('No licence text: b 1.0.0 (MIT).');
  });
});

describe('the size of the package', () => {
  const excess = (files: Readonly<Record<string, number>>): unknown => {
    const list = Object.entries(files).map(([path, size]) => ({ path, size }));
    const unpackedSize = list.reduce((sum, { size }) => sum + size, 0);
    const packed = { filename: 'agent-bff-1.0.0.tgz', size: 1_000_000, unpackedSize, files: list };
    const module = JSON.stringify(pathToFileURL(join(ROOT, 'scripts/packed-size.mjs')));
    const code = `import { excessOf } from ${module}; console.log(JSON.stringify([excessOf(${JSON.stringify(packed)})]));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    return (JSON.parse(output) as unknown[])[0];
  };

  it('passes up to 4,000,000 bytes', () => {
    expect(excess({ 'dist/chunks/toolkit.js': 4_000_000 })).toBeNull();
  });

  it('is refused above that, with the largest folders', () => {
    const files = {
      'README.md': 15,
      'docs/chat.md': 20,
      'docs/api/web.md': 500_000,
      'dist/chunks/toolkit.js': 1_000_000,
    };
    expect(excess({ ...files, 'dist/chunks/inversify.js': 2_600_000, 'examples/dist/demo/start-demo.js': 30 })).toBe(
      'agent-bff-1.0.0.tgz has 4,100,065 bytes unpacked, and the limit is 4,000,000 bytes. Shrink it, or change "files" in package.json. The largest folders, unpacked: dist/chunks 3,600,000 bytes, docs/api 500,000 bytes, examples/dist 30 bytes, docs 20 bytes, the root 15 bytes.',
    );
  });
});
