import { spawn } from 'node:child_process';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

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
