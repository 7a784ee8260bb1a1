import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { similar } from '../../domain/shared/nearest.js';
import { visibleLine } from '../../domain/shared/redaction.js';
import type { Command, Terminal } from './command-line.js';

/** The folders below `starters` that make up each starter. */
const STARTERS: Readonly<Record<string, readonly string[]>> = {
  express: ['shared', 'server', 'express'],
  koa: ['shared', 'server', 'koa'],
  next: ['shared', 'next'],
};
/** npm omits or renames files with these names, so they are stored under others; the environment file starts as its example. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'env.example': ['.env.example', '.env'],
  gitignore: ['.gitignore'],
};

/** The command `init`: writes a starter, and never replaces a file. */
export const INIT: Command = {
  summary: 'writes a site with a chat to start from: Express, Koa or Next',
  help: `agent-bff init express|koa|next [folder]

Writes a site with a chat to start from, in TypeScript, into a new folder; default agent-site. It replaces no file.
Its .env leads to the demo: npx agent-bff demo --port 4000.

Exit status: 0 it is written, 1 a file is in the way, 2 the command line is wrong.`,
  run: init,
};

function init(args: string[], terminal: Terminal): number {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  const [kind = '', folder = 'agent-site', ...more] = positionals;
  const starter = Object.hasOwn(STARTERS, kind) ? STARTERS[kind] : undefined;
  if (starter !== undefined && more.length > 0) {
    terminal.complain('agent-bff: more than one folder. Quote a name with spaces: agent-bff init express "my site"');
    return 2;
  }
  if (starter === undefined) {
    const names = Object.keys(STARTERS);
    const meant = kind === '' ? undefined : similar(kind, names);
    const hint = meant === undefined ? `agent-bff init ${names.join('|')} [folder]` : `Did you mean "${meant}"?`;
    terminal.complain(`agent-bff: ${kind === '' ? 'which starter?' : `unknown starter "${kind}".`} ${hint}`);
    return 2;
  }
  const manifest = createRequire(import.meta.url).resolve('agent-bff/package.json');
  const home = fileURLToPath(new URL('starters/', pathToFileURL(manifest)));
  const files = starter.flatMap((part) => filesOf(join(home, part)));
  const taken = files.flatMap(({ names }) => names).filter((name) => existsSync(join(folder, name)));
  if (taken.length > 0) {
    terminal.complain(
      `agent-bff: nothing was written: ${folder} has ${taken.join(', ')} already. Choose another folder.`,
    );
    return 1;
  }
  try {
    for (const { path, names } of files) {
      for (const name of names) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        copyFileSync(path, join(folder, name));
      }
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    terminal.complain(`agent-bff: the starter cannot be written to ${folder} (${code}).`);
    return 1;
  }
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const written = join(folder, 'package.json');
  writeFileSync(written, readFileSync(written, 'utf8').replaceAll('"VERSION"', `"^${version}"`));
  terminal.print(`${kind} starter in ${visibleLine(folder)}:

  cd ${/\s/.test(folder) ? JSON.stringify(folder) : folder} && npm install
  npx agent-bff demo --port 4000    an agent to try it with, in another terminal
  npm run dev                       http://localhost:3000

.env says which agent and credential; \`npm run doctor\` whether they are right.`);
  return 0;
}

/** The files of a part, with their paths in the folder of the site. */
function filesOf(folder: string) {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => {
      const name = relative(folder, path);
      return { path, names: NAMES[name] ?? [name] };
    });
}
