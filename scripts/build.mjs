import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withCloneLock } from './clone-lock.mjs';
import { ROOT, runNode } from './command.mjs';
import { ensureInstalled } from './installation.mjs';

const tsc = (project) => ['node_modules/typescript/bin/tsc', '-p', project, '--noEmitOnError'];
const WEB = join('examples', 'site', 'web');

/** The parts: their sources, output and commands, the parts they need, and other inputs that make them outdated. */
const PARTS = {
  /** Declarations per file, for types and the API reports; the code in one file per entry, with shared chunks. */
  package: {
    commands: [[...tsc('tsconfig.json'), '--emitDeclarationOnly'], ['scripts/bundle.mjs']],
    sources: 'src',
    output: 'dist',
    emits: '.d.$1ts',
    bundle: 'dist/LICENSES.txt',
    inputs: ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts/bundle.mjs'],
  },
  examples: {
    commands: [tsc('examples/tsconfig.json')],
    sources: 'examples',
    output: 'examples/dist',
    emits: '.$1js',
    inputs: ['package.json', 'tsconfig.json', 'examples/tsconfig.json', 'src'],
  },
  /** The demo as published: one file, with all dependencies. */
  demo: {
    commands: [['scripts/bundle.mjs', 'demo']],
    sources: 'examples',
    output: 'examples/dist/demo',
    bundle: 'examples/dist/demo/start-demo.js',
    inputs: ['package.json', 'package-lock.json', 'scripts/bundle.mjs'],
  },
  /** The React components: separate files, so that some can be loaded later, and one stylesheet. */
  react: {
    commands: [tsc('react'), ['scripts/stylesheet.mjs']],
    sources: 'react/src',
    output: 'react/dist',
    bundle: 'react/dist/style.css',
    inputs: ['react/package.json', 'react/tsconfig.json', 'package-lock.json', 'scripts/stylesheet.mjs'],
  },
  /** The page of the example site as one bundle. */
  web: {
    commands: [
      ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn', '--config', `${WEB}/vite.config.ts`],
      ['scripts/notices.mjs', 'examples/dist/web'],
    ],
    needs: ['react'],
    sources: WEB,
    output: 'examples/dist/web',
    bundle: 'examples/dist/web/LICENSES.txt',
    inputs: ['package.json', 'package-lock.json', 'react/dist/index.js', 'react/dist/style.css'],
  },
  /** The API reference as pages. */
  reference: {
    commands: [['scripts/api.mjs'], ['scripts/api-pages.mjs']],
    needs: ['package', 'react'],
    sources: 'src',
    output: 'docs/api',
    bundle: 'docs/api/README.md',
    inputs: ['package.json', 'react/src', 'scripts/api.mjs', 'scripts/api-pages.mjs'],
  },
  /** The Next example. Its packages come from `npm ci --prefix examples/next`. */
  next: {
    commands: [['examples/next/node_modules/next/dist/bin/next', 'build']],
    cwd: 'examples/next',
    env: { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }, // With the NODE_ENV of tests, Next's build fails.
    needs: ['package', 'react'],
    sources: 'examples/next',
    output: 'examples/next/.next',
    bundle: 'examples/next/.next/BUILD_ID',
    inputs: ['dist/LICENSES.txt', 'react/dist/style.css'],
  },
};

/** Builds a part and resolves to the exit status of the last command. If types have errors, the old output is kept. */
export async function build(name, { clean = false, onlyIfNeeded = false } = {}) {
  const part = PARTS[name];
  for (const other of part.needs ?? []) {
    const status = await build(other, { onlyIfNeeded: true });
    if (status !== 0) return status;
  }
  if (onlyIfNeeded && isUpToDate(part)) return 0;
  return withCloneLock(ROOT, async () => {
    if (onlyIfNeeded && isUpToDate(part)) return 0; // another command may have built it while this one waited
    if (clean) rmSync(join(ROOT, part.output), { recursive: true, force: true });
    for (const [program, ...args] of part.commands) {
      const status = await runNode(join(ROOT, program), args, { cwd: join(ROOT, part.cwd ?? ''), env: part.env });
      if (status !== 0) return status;
    }
    return 0;
  });
}

/** Installs and builds what is missing or out of date; exits if that fails. */
export async function ensureBuilt(...names) {
  await ensureInstalled();
  for (const name of names) {
    const status = await build(name, { onlyIfNeeded: true });
    if (status !== 0) process.exit(status);
  }
}

/** True if every source has an output, and the bundle exists, all newer than every input. */
function isUpToDate({ sources, output, emits, bundle, inputs }) {
  const compiled = emits === undefined ? files(sources) : typeScriptFiles(sources);
  const newestInput = Math.max(
    ...compiled.map(modified),
    ...inputs.flatMap((path) => (path.includes('.') ? [path] : files(path))).map(modified),
  );
  const emitted = emits === undefined ? [] : compiled.map((file) => emittedFile(file, { sources, output, emits }));
  if (bundle !== undefined) emitted.push(bundle);
  return emitted.every((file) => existsSync(join(ROOT, file)) && modified(file) > newestInput);
}

function emittedFile(file, { sources, output, emits }) {
  return join(output, file.slice(sources.length + 1)).replace(/\.(m?)ts$/, emits);
}

/** The TypeScript files in a folder that its own project compiles. */
function typeScriptFiles(folder) {
  return files(folder).filter((file) => /(?<!\.d)\.m?ts$/.test(file));
}

/** The files in a folder, except output, dependencies and nested projects. */
function files(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return entry.name === 'next-env.d.ts' ? [] : [path]; // Next writes that one.
    const isOther = ['node_modules', 'dist', '.next'].includes(entry.name) || path === WEB || isProject(path);
    return isOther ? [] : files(path);
  });
}

function isProject(folder) {
  return existsSync(join(ROOT, folder, 'package.json'));
}

function modified(file) {
  return statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const onlyIfNeeded = process.argv.includes('--if-needed');
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  for (const name of names.length === 0 ? ['package', 'react'] : names) {
    process.exitCode ||= await build(name, { clean: !onlyIfNeeded, onlyIfNeeded });
  }
}
