// node scripts/publish.mjs FOLDER [options of npm publish]: publishes the files that `npm run pack` left in a folder, as they were
// tested. A version that the registry has is skipped if it is the same file, so that a run which broke off can be repeated.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const [folder, ...options] = process.argv.slice(2);
const SHELL = process.platform === 'win32';
const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
for (const line of sums) {
  const [sum, file] = line.split('  ');
  if (digest('sha256', file, 'hex') !== sum) throw new Error(`${file} is not the file that was packed and tested`);
}
// The server's package first, since the other one's README leads to it.
const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
if (tarballs.length !== 2 || !tarballs.every((file) => sums.some((line) => line.endsWith(`  ${file}`))))
  throw new Error(`${folder} contains files of neither package: ${tarballs.join(', ')}`);
for (const file of tarballs.sort()) {
  const manifest = execFileSync('tar', ['-xzOf', file, 'package/package.json'], { cwd: folder, encoding: 'utf8' });
  const { name, version } = JSON.parse(manifest);
  const published = integrityOf(`${name}@${version}`);
  if (published === undefined) publish(file);
  else if (published !== `sha512-${digest('sha512', file, 'base64')}`)
    throw new Error(`${name}@${version} is already published with other contents. Raise the version.`);
  else console.log(`${name}@${version} is published already`);
}

/** The integrity of the file the registry has under this version, if any. */
function integrityOf(specifier) {
  const { status, stdout, stderr } = npm(['view', specifier, 'dist.integrity', '--json'], 'pipe');
  if (status === 0) return stdout.trim() === '' ? undefined : JSON.parse(stdout);
  if (/E404/.test(stdout + stderr)) return undefined;
  throw new Error(`The registry could not look up ${specifier}: ${stderr}`);
}

function publish(file) {
  const { status } = npm(['publish', resolve(folder, file), ...options], 'inherit');
  if (status !== 0) throw new Error(`${file} was not published`);
}

function npm(args, stdio) {
  // The first version has no trusted publisher yet, so a token may come from the environment.
  const { NPM_TOKEN: token, ...env } = process.env;
  if (token) env[`npm_config_//registry.npmjs.org/:_authToken`] = token;
  return spawnSync('npm', args, { encoding: 'utf8', stdio, shell: SHELL, env });
}

function digest(algorithm, file, encoding) {
  return createHash(algorithm)
    .update(readFileSync(join(folder, file)))
    .digest(encoding);
}
