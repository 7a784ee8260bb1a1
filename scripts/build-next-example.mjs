// node scripts/build-next-example.mjs [--if-needed]: compiles examples/next with Next, after the packages themselves.
// It has its own dependencies: npm ci --prefix examples/next
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { withCloneLock } from './clone-lock.mjs';
import { runNode } from './command.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');
const EXAMPLE = join(ROOT, 'examples/next');
const BUILD_ID = join(EXAMPLE, '.next/BUILD_ID');

process.env.NEXT_TELEMETRY_DISABLED = '1';
process.env.NODE_ENV = 'production'; // Tests set another value, with which Next's build fails.
const onlyIfNeeded = process.argv.includes('--if-needed');
process.exitCode =
  (await build('package', { onlyIfNeeded: true })) ||
  (await build('react', { onlyIfNeeded: true })) ||
  (await buildExample());

function buildExample() {
  if (onlyIfNeeded && isUpToDate()) return 0;
  return withCloneLock(ROOT, () => {
    if (onlyIfNeeded && isUpToDate()) return 0; // another command may have compiled while this one waited
    return runNode(join(EXAMPLE, 'node_modules/next/dist/bin/next'), ['build'], { cwd: EXAMPLE });
  });
}

function isUpToDate() {
  if (!existsSync(BUILD_ID)) return false;
  const built = statSync(BUILD_ID).mtimeMs;
  const newer = (folder) =>
    readdirSync(folder, { withFileTypes: true }).some((entry) => {
      if (['node_modules', '.next', 'next-env.d.ts'].includes(entry.name)) return false;
      const path = join(folder, entry.name);
      return entry.isDirectory() ? newer(path) : statSync(path).mtimeMs > built;
    });
  return ![EXAMPLE, join(ROOT, 'dist'), join(ROOT, 'react/dist')].some(newer);
}
