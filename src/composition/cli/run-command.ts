import { createRequire } from 'node:module';
import { isAgentBffError } from '../../domain/errors.js';
import { similar } from '../../domain/shared/nearest.js';
import { visibleLine } from '../../domain/shared/visible-line.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import { demoCommand } from './demo-command.js';
import { doctorCommand, tell } from './doctor-command.js';
import { refused } from './finding.js';
import { COMMAND_HELP, commandNamed, COMMANDS, type CommandName, HELP } from './help.js';
import { initCommand } from './init-command.js';
import { keygenCommand } from './keygen-command.js';
import { serveCommand } from './serve-command.js';
import type { Terminal } from './terminal.js';
import { isUsageError, usageError } from './usage-error.js';

const HELP_WORDS = ['--help', '-h'];
const VERSION_WORDS = ['--version', '-v', 'version'];

/** Runs one command line; its exit status. */
export async function runCommand(args: readonly string[], given: Terminal, ports: ToolkitPorts = {}): Promise<number> {
  const terminal = { ...given, complain: (text: string) => given.complain(visible(text)) };
  const [word = '', ...rest] = args;
  if (word === '' || word === 'help' || HELP_WORDS.includes(word)) {
    const asked = commandNamed(rest[0] ?? '');
    terminal.print(asked === undefined ? HELP : COMMAND_HELP[asked]);
    return word === '' ? 2 : 0;
  }
  if (VERSION_WORDS.includes(word)) {
    terminal.print(version());
    return 0;
  }
  const command = commandNamed(word);
  if (command === undefined) {
    terminal.complain(`agent-bff: unknown command "${word}".${suggestion(word, COMMANDS)}\n\n${HELP}`);
    return 2;
  }
  if (rest.some((one) => HELP_WORDS.includes(one))) {
    terminal.print(COMMAND_HELP[command]);
    return 0;
  }
  try {
    return await run(command, rest, terminal, ports);
  } catch (error) {
    const problem = isUnparsed(error) ? unknownOption(command, error) : error;
    if (!isAgentBffError(problem)) throw error;
    const status = isUsageError(problem) ? 2 : 1;
    // Programs that asked for JSON read nothing else.
    if (command === 'doctor' && rest.includes('--json')) tell([refused('command line', problem)], terminal, true);
    else terminal.complain(`agent-bff: ${problem.message}${isUnparsed(error) ? `\n\n${COMMAND_HELP[command]}` : ''}`);
    return status;
  }
}

/** Complaints quote arguments, paths and variables. */
function visible(text: string): string {
  return text.split('\n').map(visibleLine).join('\n');
}

function unknownOption(command: CommandName, { message }: Error): Error {
  const [, option = ''] = /'(-[^' ]+)/.exec(message) ?? [];
  const known = COMMAND_HELP[command].match(/--[a-z-]+/g) ?? [];
  const meant = similar(option, known) ?? known.find((one) => option.startsWith(one));
  // What Node says besides is about arguments that begin with a dash.
  const isUnknown = message.startsWith('Unknown option');
  const detail = isUnknown ? `Unknown option ${option}.` : message;
  const list = `"agent-bff ${command} --help" lists the options.`;
  return usageError(option, detail, isUnknown && meant !== undefined ? `Did you mean "${meant}"?` : list);
}

function run(command: CommandName, args: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  switch (command) {
    case 'init':
      return Promise.resolve(initCommand(args, terminal));
    case 'serve':
      return serveCommand(args, terminal, ports);
    case 'doctor':
      return doctorCommand(args, terminal, ports);
    case 'keygen':
      return keygenCommand(args, terminal);
    case 'demo':
      return demoCommand(args, terminal);
  }
}

function suggestion(word: string, words: readonly string[]): string {
  const meant = similar(word, words);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
}

function version(): string {
  return (createRequire(import.meta.url)('agent-bff/package.json') as { version: string }).version;
}

function isUnparsed(error: unknown): error is Error {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
