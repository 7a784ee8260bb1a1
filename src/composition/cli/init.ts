import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { similar } from '../../domain/shared/nearest.js';
import { visibleLine } from '../../domain/shared/redaction.js';
import { VERSION } from '../process-state.js';
import { type Command, failure, type Terminal, usageError } from './command-line.js';

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

/** A file of the starter that a folder may already have; any other one stops `init`. */
const KEPT = 'README.md';
const DEFAULT_NAME = 'agent-site';

/** The command `init`: writes a starter, and never replaces a file. */
export const INIT: Command = {
  summary: 'creates a site with a chat: Express, Koa or Next',
  help: `agent-bff init express|koa|next [folder]

Creates a site with a chat, in TypeScript, in a folder; default agent-site. The folder's name is the name of the package.
If the folder has files, init names what it adds before it adds anything, and never replaces a file: it keeps a README.md,
and stops if any other file of the starter exists. Its .env points to the demo: npx agent-bff demo --port 4000.

Exit status: 0 the site was created, 1 a file already exists, 2 the command line is invalid.`,
  run: init,
};

function init(args: string[], terminal: Terminal): number {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  const [kind = '', folder = DEFAULT_NAME, ...more] = positionals;
  const starter = Object.hasOwn(STARTERS, kind) ? STARTERS[kind] : undefined;
  if (starter !== undefined && more.length > 0) {
    const hint = 'Quote a name with spaces: agent-bff init express "my site"';
    throw usageError('folder', 'more than one folder.', hint);
  }
  if (starter === undefined) {
    const names = Object.keys(STARTERS);
    const meant = kind === '' ? undefined : similar(kind, names);
    const hint = meant === undefined ? `agent-bff init ${names.join('|')} [folder]` : `Did you mean "${meant}"?`;
    throw usageError('starter', kind === '' ? 'which starter?' : `unknown starter "${kind}".`, hint);
  }
  const manifest = createRequire(import.meta.url).resolve('agent-bff/package.json');
  const home = fileURLToPath(new URL('starters/', pathToFileURL(manifest)));
  const present = onDisk(folder, () => entriesOf(folder));
  const files = starter
    .flatMap((part) => filesOf(join(home, part)))
    .filter(({ names }) => !(names.includes(KEPT) && present.includes(KEPT)));
  const names = files.flatMap((file) => file.names);
  const taken = names.filter((name) => existsSync(join(folder, name)));
  if (taken.length > 0) {
    throw failure(
      `no file was written: ${folder} already has ${taken.join(', ')}. Choose another folder, and copy from there what this site needs.`,
    );
  }
  if (present.length > 0) {
    const kept = present.includes(KEPT) ? ` Your ${KEPT} stays.` : '';
    terminal.print(`${visibleLine(folder)} has files already. None of them changes.${kept} These are added:

  ${names.join('\n  ')}
`);
  }
  onDisk(folder, () => {
    for (const file of files) {
      const text = readFileSync(file.path, 'utf8');
      const own = text.replaceAll('"VERSION"', `"^${VERSION}"`).replaceAll(DEFAULT_NAME, packageName(folder));
      for (const name of file.names) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        // A copy would be read-only if the package is.
        writeFileSync(join(folder, name), ['package.json', KEPT].includes(name) ? own : text);
      }
    }
  });
  terminal.print(`${kind} starter in ${visibleLine(folder)}:

  ${resolve(folder) === resolve('.') ? '' : `cd ${/\s/.test(folder) ? JSON.stringify(folder) : folder} && `}npm install
  npx agent-bff demo --port 4000    an agent to try it with, in another terminal
  npm run dev                       http://localhost:3000

.env sets the agent and the credential; \`npm run doctor\` checks them.`);
  return 0;
}

/** Reports errors of the file system in one line. */
function onDisk<Result>(folder: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw failure(`the starter cannot be written to ${folder} (${code}). Choose a folder that this user can write to.`);
  }
}

/** The names in a folder that may not exist, without those of version control. */
function entriesOf(folder: string): string[] {
  return existsSync(folder) && statSync(folder).isDirectory()
    ? readdirSync(folder).filter((name) => name !== '.git')
    : [];
}

/** The folder's name as npm accepts it for a package. */
function packageName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .split(/[^a-z0-9._]+/)
    .join('-')
    .replace(/^[._-]+/, '')
    .slice(0, 100);
  return name === '' || name === 'node_modules' ? DEFAULT_NAME : name;
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
