// Folders of a site with packages of its own, for the scripts that use the package as sites do.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The oldest Node of `engines`, and the newest of each later line. */
export const NODE_LINES = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'];
// Some packages install their program by an install script, which .npmrc turns off.
const WITH_PROGRAMS = { npm_config_ignore_scripts: 'false' };

/** A folder for this run, removed when the process ends. */
export function temporaryFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `agent-bff-${name}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Installs packages, and leaves the manifest as it is. */
export function install(cwd, packages, ...flags) {
  const args = ['install', '--no-audit', '--no-fund', '--no-save', ...flags, ...packages];
  return quietly('npm', args, cwd, WITH_PROGRAMS);
}

/** The binary of another Node, from the npm package `node`. */
export async function nodeOf(version) {
  if (process.version === `v${version}`) return process.execPath;
  const command = ['-y', '-p', `node@${version}`, '-c', 'node -p process.execPath'];
  return (await quietly('npx', command, tmpdir(), WITH_PROGRAMS)).trim();
}

/** Runs a program, and returns its output; asynchronously, since this process may be the platform too. */
export async function quietly(program, args, cwd, env = {}) {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 26 };
  return (await promisify(execFile)(program, args, options)).stdout;
}
