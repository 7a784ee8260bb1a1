import { existsSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { withCloneLock } from './clone-lock.mjs';
import { ROOT, runNode, runNpm } from './command.mjs';

// Dependencies for tests only, each folder with its own lockfile, so that `npm start` does not install them.
/** The frameworks of the site suite and of the recipes. */
export const FRAMEWORKS = join(ROOT, 'test/site/frameworks');
/** A2A clients. */
export const CLIENTS = join(ROOT, 'test/e2e/clients');
/** Third-party agent servers, for `npm run test:agents`. */
export const AGENTS = join(ROOT, 'test/agents');
const SIGN_OF_LIFE_MS = 10_000;

/** Runs `npm ci` if node_modules is missing or does not match package-lock.json; otherwise does nothing. */
export async function ensureInstalled(root = ROOT) {
  if (installationProblem(root) === undefined) return;
  await withCloneLock(root, async () => {
    const problem = installationProblem(root); // another command may have installed while this one waited
    if (problem === undefined) return;
    const place = root === ROOT ? '' : `${relative(ROOT, root)}: `;
    console.error(`${place}${problem}: running npm ci, once, about half a minute …`);
    const started = Date.now();
    const status = await installWithSignsOfLife(root, started);
    if (status !== 0) {
      console.error(`npm ci failed with status ${status}; see its messages above.`);
      process.exit(status);
    }
    console.error(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
    const left = installationProblem(root);
    if (left !== undefined) console.error(`npm ci succeeded, but ${left}; going on.`);
  });
}

/** Describes the problem with node_modules in a few words; undefined if it matches package-lock.json. */
function installationProblem(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (wanted === undefined) throw new Error('package-lock.json is missing or unreadable');
  const installed = packagesOf(join(root, 'node_modules/.package-lock.json'));
  if (installed === undefined) return 'node_modules is missing';

  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue;
    const found = installed[path];
    if (found === undefined) {
      if (entry.optional || entry.devOptional) continue; // packages for another platform
      return `${path} is not installed`;
    }
    if (found.version !== entry.version || found.integrity !== entry.integrity)
      return `${path} is not at ${entry.version}`;
    if (!existsSync(join(root, path, 'package.json'))) return `${path} is not there any more`;
  }
  const foreign = Object.entries(installed).find(([, entry]) => !isForThisPlatform(entry));
  return foreign && `${foreign[0]} was installed for another platform`;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function isForThisPlatform({ os, cpu }) {
  return admits(os, process.platform) && admits(cpu, process.arch);
}

function admits(list, own) {
  if (list === undefined || list.length === 0 || list.includes('any')) return true;
  if (list.includes(`!${own}`)) return false;
  const required = list.filter((name) => !name.startsWith('!'));
  return required.length === 0 || required.includes(own);
}

async function installWithSignsOfLife(root, started) {
  // npm shows progress on a terminal only.
  const timer = setInterval(() => {
    if (!process.stderr.isTTY) console.error(`… still installing (${Math.round((Date.now() - started) / 1000)} s)`);
  }, SIGN_OF_LIFE_MS);
  try {
    // The tools are devDependencies: NODE_ENV=production or omit=dev must not exclude them.
    // `npm publish --dry-run` passes its option on in the environment, and would install nothing.
    const args = [
      'ci',
      '--dry-run=false',
      '--include=dev',
      '--ignore-scripts',
      '--json=false',
      '--no-audit',
      '--no-fund',
    ];
    // Standard output may be for a program: `npm pack --json` installs too, in a fresh clone.
    const stdio = ['inherit', process.stderr, 'inherit'];
    const npm = process.env.npm_execpath;
    if (npm !== undefined && basename(npm) === 'npm-cli.js') return await runNode(npm, args, { cwd: root, stdio });
    return await runNpm(args, { cwd: root, stdio });
  } finally {
    clearInterval(timer);
  }
}
