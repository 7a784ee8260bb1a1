import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { similar } from '../../domain/shared/nearest.js';
import type { Terminal } from './terminal.js';
import { usageError } from './usage-error.js';

const MANIFEST = createRequire(import.meta.url).resolve('agent-bff/package.json');
const STARTERS = join(dirname(MANIFEST), 'starters');
const FRAMEWORKS = ['express', 'koa', 'next'];
const ENV = '.env';

/** Runs `init`: writes a starter, and replaces no file. */
export async function initCommand(args: string[], terminal: Terminal): Promise<number> {
  const [framework = '', folder = '.', ...others] = parseArgs({
    args,
    options: {},
    allowPositionals: true,
  }).positionals;
  checkFramework(framework);
  if (others.length > 0) throw usageError('FOLDER', 'init takes one folder.', 'Quote a FOLDER whose name has spaces.');
  const files = await starterFiles(framework, resolve(folder));
  const taken = [...files.keys()].filter((path) => existsSync(join(folder, path)));
  if (taken.length > 0) {
    terminal.complain(`agent-bff: ${folder} already has ${taken.join(', ')}; name an empty folder, or move them away.`);
    return 1;
  }
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: 'wx' });
  }
  const inFolder = folder === '.' ? '' : `cd ${/\s/.test(folder) ? JSON.stringify(folder) : folder} && `;
  terminal.print(
    [
      ...[...files.keys()].map((path) => `  ${join(folder, path)}`),
      '',
      `${inFolder}npm install`,
      'npx agent-bff demo --port 4000    # the agent of .env, in another terminal',
      'npm run dev                       # then open http://localhost:3000',
    ].join('\n'),
  );
  return 0;
}

function checkFramework(name: string): void {
  if (FRAMEWORKS.includes(name)) return;
  const known = `It is one of ${FRAMEWORKS.join(', ')}.`;
  if (name === '') throw usageError('FRAMEWORK', 'init takes the name of a framework.', known);
  const meant = similar(name, FRAMEWORKS);
  const hint = meant === undefined ? known : `Did you mean "${meant}"?`;
  throw usageError('FRAMEWORK', `There is no starter for "${name}".`, hint);
}

/** What a starter consists of, by its path in the folder. */
async function starterFiles(framework: string, folder: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const part of [framework, 'shared']) {
    const root = join(STARTERS, part);
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      // npm packs no `.gitignore`, so that files with a dot begin with an underscore there.
      const name = entry.name.replace(/^_/, '.');
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
      const path = join(relative(root, entry.parentPath), name);
      files.set(path, path === 'package.json' ? await manifestOf(text, folder) : text);
    }
  }
  return files.set(ENV, files.get('.env.example') ?? '');
}

/** The manifest of a site in this folder, with the version of this package. */
async function manifestOf(template: string, folder: string): Promise<string> {
  const manifest = JSON.parse(template) as { dependencies: Record<string, string> };
  const { name, version } = JSON.parse(await readFile(MANIFEST, 'utf8')) as Record<'name' | 'version', string>;
  // What npm takes for a name (package.json, "name").
  const own =
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z\d~-]+/g, '-')
      .replace(/^-|-$/g, '') || 'agent-site';
  const dependencies = { ...manifest.dependencies, [name]: `^${version}` };
  return `${JSON.stringify({ ...manifest, name: own, dependencies }, null, 2)}\n`;
}
