import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withCloneLock } from './clone-lock.mjs';
import { runNode } from './command.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** What is compiled: the sources of each part, where they land, and what else makes them out of date. */
const PARTS = {
  package: { project: 'tsconfig.json', sources: 'src', output: 'dist', inputs: ['package.json', 'tsconfig.json'] },
  examples: {
    project: 'examples/tsconfig.json',
    sources: 'examples',
    output: 'examples/dist',
    inputs: ['package.json', 'tsconfig.json', 'examples/tsconfig.json', 'src'],
  },
};

/** Compiles a part and resolves to the compiler's exit status. Type errors leave the old output in place. */
export async function build(name, { clean = false, onlyIfNeeded = false } = {}) {
  const part = PARTS[name];
  if (onlyIfNeeded && isUpToDate(part)) return 0;
  return withCloneLock(ROOT, async () => {
    if (onlyIfNeeded && isUpToDate(part)) return 0; // another command may have compiled while we waited
    if (clean) rmSync(join(ROOT, part.output), { recursive: true, force: true });
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    return runNode(compiler, ['-p', join(ROOT, part.project), '--noEmitOnError'], { cwd: ROOT });
  });
}

/** True when every source has an output that is younger than every input. */
function isUpToDate({ sources, output, inputs }) {
  const compiled = sourceFiles(sources);
  const newestInput = Math.max(
    ...compiled.map(modified),
    ...inputs.flatMap((path) => (path.includes('.') ? [path] : sourceFiles(path))).map(modified),
  );
  return compiled.every((file) => {
    const emitted = join(output, file.slice(sources.length + 1)).replace(/\.(m?)ts$/, '.$1js');
    return existsSync(join(ROOT, emitted)) && modified(emitted) > newestInput;
  });
}

/** The TypeScript files below a folder, but for output, dependencies and projects of their own. */
function sourceFiles(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return /(?<!\.d)\.m?ts$/.test(entry.name) ? [path] : [];
    const isOther = ['node_modules', 'dist'].includes(entry.name) || existsSync(join(ROOT, path, 'package.json'));
    return isOther ? [] : sourceFiles(path);
  });
}

function modified(file) {
  return statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const onlyIfNeeded = process.argv.includes('--if-needed');
  process.exitCode = await build('package', { clean: !onlyIfNeeded, onlyIfNeeded });
}
