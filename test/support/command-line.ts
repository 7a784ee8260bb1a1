import type { ToolkitPorts } from 'agent-bff';
import { runCommand } from '../../src/composition/cli/run-command.js';
import type { Terminal } from '../../src/composition/cli/command-line.js';

/** The result of a command line. */
export interface Ran {
  readonly status: number;
  readonly printed: string;
  readonly complained: string;
}

/** Runs a command line with its own output. Long-running commands are stopped at once. */
export async function runCommandLine(
  args: readonly string[],
  terminal: Partial<Terminal> = {},
  ports: ToolkitPorts = {},
): Promise<Ran> {
  const printed: string[] = [];
  const complained: string[] = [];
  const print = (text: string): unknown => printed.push(text);
  const complain = (text: string): unknown => complained.push(text);
  const status = await runCommand(args, { env: {}, print, complain, stopped: Promise.resolve(), ...terminal }, ports);
  return { status, printed: printed.join('\n'), complained: complained.join('\n') };
}
