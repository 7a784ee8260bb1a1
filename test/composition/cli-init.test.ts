import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { configFromEnv } from '../../src/composition/config/env.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { asNobody } from '../support/as-nobody.js';
import { runCommandLine } from '../support/command-line.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folderFor = (kind: string) => join(temporaryFolder('init'), kind);

describe('agent-bff init', () => {
  it.each([
    ['express', ['server.ts', 'public/index.html', 'public/chat.js', 'public/icon.svg']],
    ['koa', ['server.ts', 'public/index.html', 'public/chat.js', 'public/icon.svg']],
    ['next', ['instrumentation.ts', 'next.config.ts', 'app/page.tsx', 'app/icon.svg', 'app/api/[...path]/route.ts']],
  ])('%s writes a site with its scripts, settings and version', async (kind, files) => {
    const folder = folderFor(kind);
    const { status, printed } = await runCommandLine(['init', kind, folder]);
    expect(status).toBe(0);
    expect(printed).toContain(`cd ${folder} && npm install`);
    for (const file of [...files, 'tsconfig.json', '.gitignore', 'README.md'])
      expect(existsSync(join(folder, file)), file).toBe(true);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, object>;
    expect(manifest['dependencies']).toMatchObject({ 'agent-bff': `^${version}` });
    expect(Object.keys(manifest['scripts'] ?? {})).toEqual(
      expect.arrayContaining(['start', 'dev', 'doctor', 'typecheck']),
    );
    const settings = readFileSync(join(folder, '.env'), 'utf8');
    expect(readFileSync(join(folder, '.env.example'), 'utf8')).toBe(settings);
    expect(resolveConfig(configFromEnv(parseEnv(settings))).agent?.path).toBe('/agent');
    expect(readdirSync(folder).filter((name) => /^(?:gitignore|env)/.test(name))).toEqual([]);
  });

  it.each([
    ['express', 'server.ts', 'server.keepAliveTimeout = 80_000;'],
    ['koa', 'server.ts', 'server.keepAliveTimeout = 80_000;'],
    ['next', 'package.json', 'next start --keepAliveTimeout 80000'],
  ])('%s keeps idle connections open for 80 seconds, as `serve` and the documents do', async (kind, file, line) => {
    const folder = folderFor(kind);
    await runCommandLine(['init', kind, folder]);
    expect(readFileSync(join(folder, file), 'utf8')).toContain(line);
    expect(readFileSync('docs/deployment.md', 'utf8')).toContain(line.replace(';', ''));
  });

  it.each([
    ['Help Desk', 'help-desk'],
    ['_site.v2', 'site.v2'],
    ['サイト', 'agent-site'],
    ['node_modules', 'agent-site'],
  ])('names the package and its README after the folder: %s is %s', async (name, expected) => {
    const folder = folderFor(name);
    await runCommandLine(['init', 'express', folder]);
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({ name: expected });
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(`# ${expected}\n`);
  });

  it('lists what it adds to a folder with files, and keeps those, the README too', async () => {
    const folder = temporaryFolder('init');
    mkdirSync(join(folder, '.git'));
    for (const name of ['README.md', 'notes.txt']) writeFileSync(join(folder, name), 'mine');
    const { status, printed } = await runCommandLine(['init', 'koa', folder]);
    expect(status).toBe(0);
    expect(printed).toMatch(
      /^.* has files already\. None of them changes\. Your README\.md stays\. These are added:\n/,
    );
    expect(printed.indexOf('  server.ts\n')).toBeLessThan(printed.indexOf('koa starter in'));
    for (const name of ['README.md', 'notes.txt']) expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
  });

  it('does not list files where the folder is new, or holds only a repository', async () => {
    const folder = temporaryFolder('init');
    mkdirSync(join(folder, '.git'));
    for (const target of [folder, folderFor('new')])
      expect((await runCommandLine(['init', 'koa', target])).printed).toMatch(/^koa starter in /);
  });

  it('quotes a folder name with spaces in the commands it prints', async () => {
    const folder = folderFor('my site');
    expect((await runCommandLine(['init', 'koa', folder])).printed).toContain(`cd "${folder}" && npm install`);
  });

  it('express writes a site that compiles with its own tsconfig.json', { timeout: 60_000 }, async () => {
    const folder = folderFor('compiled');
    await runCommandLine(['init', 'express', folder]);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const entries = join(ROOT, 'dist/composition');
    const paths = { 'agent-bff': [`${entries}/index.d.ts`], 'agent-bff/*': [`${entries}/*.d.ts`] };
    const check = join(folder, 'check.json');
    // In real use, `npm install` adds Node's type definitions to the folder.
    const compilerOptions = { paths, skipLibCheck: true };
    writeFileSync(check, JSON.stringify({ extends: './tsconfig.json', compilerOptions }));
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    expect(spawnSync(process.execPath, [compiler, '-p', check], { encoding: 'utf8' }).stdout).toBe('');
  });

  it('escapes control characters in the name of its folder', async () => {
    const folder = folderFor('site\u202etxt');
    const { printed } = await runCommandLine(['init', 'express', folder]);
    expect(printed.split('\n')[0]).toContain(String.raw`site\u202etxt`);
    const { complained } = await runCommandLine(['init', 'express', folder]);
    expect(complained).toContain(String.raw`site\u202etxt`);
    expect(complained).not.toContain('\u202e');
  });

  it('reports a folder it cannot write in one line', async () => {
    const folder = temporaryFolder('init');
    writeFileSync(join(folder, 'file'), '');
    const { status, complained } = await runCommandLine(['init', 'koa', join(folder, 'file/site')]);
    expect({ status, complained }).toEqual({
      status: 1,
      complained: `agent-bff: the starter cannot be written to ${join(folder, 'file/site')} (ENOTDIR). Choose a folder that this user can write to.`,
    });
  });

  it('reports a folder it cannot read in one line', async () => {
    const folder = join(temporaryFolder('init'), 'closed');
    mkdirSync(folder, { mode: 0 });
    const { status, complained } = await asNobody(() => runCommandLine(['init', 'koa', folder]));
    expect({ status, complained }).toEqual({
      status: 1,
      complained: `agent-bff: the starter cannot be written to ${folder} (EACCES). Choose a folder that this user can write to.`,
    });
  });

  it('writes no file at all when one of them exists', async () => {
    const folder = temporaryFolder('init');
    writeFileSync(join(folder, 'server.ts'), '// mine');
    const { status, complained } = await runCommandLine(['init', 'express', folder]);
    expect(status).toBe(1);
    expect(complained).toContain('already has server.ts. Choose another folder, and copy');
    expect(readdirSync(folder)).toEqual(['server.ts']);
  });

  it.each([
    [['expres'], 'agent-bff: unknown starter "expres". Did you mean "express"?'],
    [
      ['koa', 'my', 'site'],
      'agent-bff: more than one folder. Quote a name with spaces: agent-bff init express "my site"',
    ],
    [[], 'agent-bff: which starter? agent-bff init express|koa|next [folder]'],
    [['constructor'], 'agent-bff: unknown starter "constructor". agent-bff init express|koa|next [folder]'],
  ])('with the arguments %j exits with an error that names the starters', async (args, message) => {
    expect(await runCommandLine(['init', ...args])).toMatchObject({ status: 2, complained: message });
  });
});
