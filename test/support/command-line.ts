import type { ToolkitPorts } from 'agent-bff';
import { runCommand } from '../../src/composition/cli/run-command.js';
import type { Terminal } from '../../src/composition/cli/command-line.js';

/** What became of a command line. */
export interface Ran {
  readonly status: number;
  readonly printed: string;
  readonly complained: string;
}

/** Runs a command line in a terminal of its own, whose user wants nothing that runs on. */
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
