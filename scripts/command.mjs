import { execFileSync, spawn } from 'node:child_process';
import { dirname } from 'node:path';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
/** On Windows npm is a script. */
const NPM_SHELL = process.platform === 'win32';

/** The folder of the repository. */
export const ROOT = dirname(import.meta.dirname);

/**
 * Runs a program in our terminal, forwards our signals to it, and resolves to its exit status (128 + n if signal n
 * ended it, like a shell).
 */
export function run(program, args, { cwd, env, shell = false, stdio = 'inherit' } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio, shell });
    const forward = (signal) => void child.kill(signal);
    const settle = (finish) => {
      for (const signal of FORWARDED) process.off(signal, forward);
      finish();
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    child.once('error', (error) => settle(() => reject(error)));
    child.once('close', (code, signal) => settle(() => resolve(code ?? 128 + (SIGNAL_NUMBERS[signal] ?? 9))));
  });
}

/** Runs a JavaScript file with the same Node. */
export function runNode(file, args, options) {
  return run(process.execPath, [file, ...args], options);
}

/** Runs npm in our terminal, and resolves to its exit status. */
export function runNpm(args, options) {
  return run('npm', args, { ...options, shell: NPM_SHELL });
}

/** Runs npm, and returns its output. */
export function npm(args, cwd) {
  const stdio = ['ignore', 'pipe', 'inherit'];
  return execFileSync('npm', args, { cwd, encoding: 'utf8', shell: NPM_SHELL, stdio });
}
