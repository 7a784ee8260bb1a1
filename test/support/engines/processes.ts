import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface StartedProcess {
  readonly stop: () => Promise<void>;
  /** The rejection of a process that ends by itself. */
  readonly ended: Promise<never>;
  readonly child: ChildProcess;
}

/** Starts a program. What it prints is part of the error if it ends too early. */
export function startProcess(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): StartedProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let printed = '';
  child.stderr?.on('data', (text: Buffer) => (printed = (printed + text.toString()).slice(-2_000)));
  const exit = once(child, 'exit');
  const ended = exit.then(([code]) => {
    throw new Error(`${command} ended with ${String(code)}: ${printed}`);
  });
  ended.catch(() => undefined);
  return {
    child,
    ended,
    stop: async () => {
      child.kill();
      await exit.catch(() => undefined);
    },
  };
}

/** Starts an X display that is written to a file in `folder`; resolves to its name. */
export async function startDisplay(
  program: string,
  folder: string,
): Promise<StartedProcess & { readonly name: string }> {
  const options = ['-screen', '0', '1600x1200x24', '-nolisten', 'tcp', '-fbdir', folder];
  const started = startProcess(program, ['-displayfd', '3', ...options]);
  const [number] = (await Promise.race([
    once(started.child.stdio[3] as NodeJS.ReadableStream, 'data'),
    started.ended,
  ])) as [Buffer];
  return { ...started, name: `:${number.toString().trim()}` };
}
