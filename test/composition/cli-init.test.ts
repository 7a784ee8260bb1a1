import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../src/composition/cli/run-command.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const parent = temporaryFolder('init');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest;

async function init(...args: readonly string[]) {
  const printed: string[] = [];
  const complained: string[] = [];
  const status = await runCommand(['init', ...args], {
    env: {},
    print: (text) => printed.push(text),
    complain: (text) => complained.push(text),
    stopped: Promise.resolve(),
  });
  return { status, printed: printed.join('\n'), complained: complained.join('\n') };
}

/** The files of each starter besides those all have, and where what it needs is installed. */
const STARTERS = [
  { name: 'express', own: ['server.ts'], installed: ROOT },
  { name: 'koa', own: ['server.ts'], installed: join(ROOT, 'test/site/frameworks') },
  {
    name: 'next',
    own: ['app/api/[...path]/route.ts', 'instrumentation.ts', 'next.config.ts'],
    installed: join(ROOT, 'examples/next'),
  },
];
const SHARED = ['.env', '.env.example', '.gitignore', 'package.json', 'public/index.html', 'tsconfig.json'];

describe('agent-bff init', () => {
  describe.each(STARTERS)('$name', ({ name, own, installed }) => {
    it('writes a site that is ready for the demo, and prints the next three commands', async () => {
      const folder = join(parent, `My ${name} Site`);
      const { status, printed } = await init(name, folder);
      expect(status).toBe(0);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
      expect(files.sort()).toEqual([...SHARED, ...own].sort());
      expect(readFileSync(join(folder, '.env'), 'utf8')).toContain('\nA2A_URL=http://localhost:4000/api/a2a\n');
      expect(printed.split('\n').slice(-3)).toEqual([
        `cd "${folder}" && npm install`,
        expect.stringMatching(/^npx agent-bff demo --port 4000 /),
        expect.stringMatching(/^npm run dev .*http:\/\/localhost:3000$/),
      ]);
      const { version } = manifest(join(ROOT, 'package.json'));
      expect(manifest(join(folder, 'package.json'))).toMatchObject({
        name: `my-${name}-site`,
        dependencies: { 'agent-bff': `^${version}` },
      });
    });

    it('asks for the versions this package is tested with', () => {
      const { dependencies, devDependencies } = manifest(join(ROOT, 'starters', name, 'package.json'));
      const tested = [manifest(join(installed, 'package.json')), manifest(join(ROOT, 'package.json'))];
      const versionOf = (one: string) =>
        tested.map((all) => ({ ...all.dependencies, ...all.devDependencies })[one]).find((version) => version);
      const bare = (version = '') => version.replace('^', '');
      for (const [one, version] of Object.entries({ ...dependencies, ...devDependencies })) {
        if (one === 'agent-bff' || one === 'tsx') continue;
        // Frameworks of the suite take the newest type definitions of Node's oldest line.
        if (one === '@types/node') expect(version).toBe('^20.19.0');
        else expect([one, bare(version)]).toEqual([one, bare(versionOf(one))]);
      }
    });

    it.skipIf(!existsSync(join(installed, 'node_modules')))(
      'compiles with tsc --strict',
      { timeout: 60_000 },
      async () => {
        const folder = join(parent, `${name}-compiled`);
        expect((await init(name, folder)).status).toBe(0);
        symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'));
        const entries = join(ROOT, 'dist/composition');
        const options = {
          noEmit: true,
          incremental: false,
          paths: { 'agent-bff': [`${entries}/index.d.ts`], 'agent-bff/*': [`${entries}/*.d.ts`] },
        };
        writeFileSync(
          join(folder, 'check.json'),
          JSON.stringify({ extends: './tsconfig.json', compilerOptions: options }),
        );
        const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
        const { stdout } = spawnSync(process.execPath, [compiler, '-p', join(folder, 'check.json')], {
          encoding: 'utf8',
        });
        expect(stdout).toBe('');
      },
    );
  });

  it('replaces no file, and writes none beside it', async () => {
    const folder = join(parent, 'taken');
    mkdirSync(folder);
    writeFileSync(join(folder, 'server.ts'), 'mine');
    const { status, complained } = await init('express', folder);
    expect(status).toBe(1);
    expect(complained).toContain('already has server.ts');
    expect(readdirSync(folder)).toEqual(['server.ts']);
    expect(readFileSync(join(folder, 'server.ts'), 'utf8')).toBe('mine');
  });

  it.each([
    [[], 'one of express, koa, next'],
    [['expres'], 'Did you mean "express"?'],
    [['fastify'], 'one of express, koa, next'],
    [['koa', 'a', 'b'], 'one folder'],
    [['koa', '--folder', 'a'], '--folder'],
  ])('with %j ends with status 2 and says what it takes', async (args, says) => {
    const { status, complained } = await init(...args);
    expect(status).toBe(2);
    expect(complained).toContain(says);
  });
});
