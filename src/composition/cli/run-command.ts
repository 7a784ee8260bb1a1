import { isAgentBffError } from '../../domain/shared/errors.js';
import { similar } from '../../domain/shared/nearest.js';
import { visibleLine } from '../../domain/shared/redaction.js';
import { VERSION } from '../process-state.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import { type Command, isUsageError, STATUS, type Terminal, usageError } from './command-line.js';
import { DEMO } from './demo.js';
import { DOCTOR, tell } from './doctor.js';
import { refused } from './finding.js';
import { INIT } from './init.js';
import { KEYGEN } from './keygen.js';
import { SERVE } from './serve.js';

/** All commands, in the order of the list. */
const COMMANDS: Readonly<Record<string, Command>> = {
  init: INIT,
  serve: SERVE,
  doctor: DOCTOR,
  keygen: KEYGEN,
  demo: DEMO,
};

const LIST = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(9)}${summary}`);

const HELP = `agent-bff <command>

${LIST.join('\n')}

agent-bff <command> --help describes a command, agent-bff --version prints the version.

${STATUS}`;

const HELP_WORDS = ['--help', '-h'];
const VERSION_WORDS = ['--version', '-v', 'version'];

/** Runs one command line and returns its exit status. */
export async function runCommand(args: readonly string[], given: Terminal, ports: ToolkitPorts = {}): Promise<number> {
  const terminal = { ...given, complain: (text: string) => given.complain(visible(text)) };
  const [word = '', ...rest] = args;
  if (word === '' || word === 'help' || HELP_WORDS.includes(word)) {
    terminal.print(commandNamed(rest[0] ?? '')?.help ?? HELP);
    return word === '' ? 2 : 0;
  }
  if (VERSION_WORDS.includes(word)) {
    terminal.print(VERSION);
    return 0;
  }
  const command = commandNamed(word);
  if (command === undefined) {
    const meant = similar(word, Object.keys(COMMANDS));
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    terminal.complain(`agent-bff: unknown command "${word}".${hint}\n\n${HELP}`);
    return 2;
  }
  if (rest.some((one) => HELP_WORDS.includes(one))) {
    terminal.print(command.help);
    return 0;
  }
  try {
    return await command.run(rest, terminal, ports);
  } catch (error) {
    const problem = isUnparsed(error) ? unknownOption(word, command, error) : error;
    if (!isAgentBffError(problem)) throw error;
    const status = isUsageError(problem) ? 2 : 1;
    // Programs that request JSON do not read anything else.
    if (command === DOCTOR && rest.includes('--json')) tell([refused('command line', problem)], terminal, true);
    else terminal.complain(`agent-bff: ${problem.message}${isUnparsed(error) ? `\n\n${command.help}` : ''}`);
    return status;
  }
}

/** Makes all characters visible: error messages quote arguments, paths and variables. */
function visible(text: string): string {
  return text.split('\n').map(visibleLine).join('\n');
}

function commandNamed(name: string): Command | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

function unknownOption(name: string, { help }: Command, { message }: Error): Error {
  const [, option = ''] = /'(-[^' ]+)/.exec(message) ?? [];
  const known = [...(help.match(/(?<=^ {2})--[a-z-]+/gm) ?? []), '--help'];
  const meant = similar(option, known) ?? known.find((one) => option.startsWith(one));
  // The rest of Node's message is about arguments that begin with a dash.
  const isUnknown = message.startsWith('Unknown option');
  const detail = isUnknown ? `Unknown option ${option}.` : message.replace(/\.?$/, '.');
  const list = `"agent-bff ${name} --help" lists the options.`;
  return usageError(option, detail, isUnknown && meant !== undefined ? `Did you mean "${meant}"?` : list);
}

function isUnparsed(error: unknown): error is Error {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
