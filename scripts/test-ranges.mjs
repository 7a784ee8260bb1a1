// npm run test:ranges -- --newest | --lowest [vitest arguments]: the tests with other versions of the dependencies than those of
// the lock file, the newest or the lowest that the ranges allow. Runs in a copy, so that this clone keeps its installation.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { npm, ROOT, runNode } from './command.mjs';
import { temporaryFolder } from './temporary-site.mjs';

const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
const PACKAGES = { '': '--workspaces=false', react: '--workspace=react' };
const [end, ...given] = process.argv.slice(2);
if (end !== '--newest' && end !== '--lowest') {
  console.error('Which versions? npm run test:ranges -- --newest, or --lowest.');
  process.exit(2);
}

const copy = temporaryFolder('ranges');
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
for (const file of listed.toString().split('\0').filter(Boolean)) {
  mkdirSync(join(copy, dirname(file)), { recursive: true });
  cpSync(join(ROOT, file), join(copy, file));
}
const chosen = [];
for (const [folder, workspace] of Object.entries(PACKAGES)) {
  const file = join(copy, folder, 'package.json');
  const text = readFileSync(file, 'utf8');
  const versions = Object.entries(JSON.parse(text).dependencies).flatMap(([name, range]) =>
    /^[\^~]/.test(range) ? [`${name}@${end === '--lowest' ? range.slice(1) : newest(name, range)}`] : [],
  );
  if (versions.length === 0) throw new Error(`${folder}/package.json has no ranges`);
  npm(['install', '--save-exact', workspace, ...versions, ...FLAGS], copy);
  // Restores the ranges, which a test compares; the copy's lock file keeps the versions.
  writeFileSync(file, text);
  chosen.push(...versions);
}
npm(['install', '--package-lock-only', ...FLAGS], copy);
console.log(`${end.slice(2)}: ${chosen.join(', ')}`);
const status = await runNode(join(copy, 'scripts/test.mjs'), given, { cwd: copy });
console.log(`${end.slice(2)}: ${status === 0 ? 'passed' : `failed (status ${status})`} with ${chosen.join(', ')}`);
process.exitCode = status;

/** The highest version in a range; npm lists them in order. */
function newest(name, range) {
  return [JSON.parse(npm(['view', `${name}@${range}`, 'version', '--json']))].flat().at(-1);
}
