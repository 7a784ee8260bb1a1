import { createRequire } from 'node:module';
import { isAgentBffError } from '../../domain/errors.js';
import { similar } from '../../domain/shared/nearest.js';
import type { ToolkitPorts } from '../toolkit/ports.js';
import { demoCommand } from './demo-command.js';
import { doctorCommand } from './doctor-command.js';
import { COMMAND_HELP, commandNamed, COMMANDS, type CommandName, HELP } from './help.js';
import { initCommand } from './init-command.js';
import { keygenCommand } from './keygen-command.js';
import { serveCommand } from './serve-command.js';
import type { Terminal } from './terminal.js';

const HELP_WORDS = ['--help', '-h'];
const VERSION_WORDS = ['--version', '-v', 'version'];

/** Runs one command line and answers its exit status. */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  ports: ToolkitPorts = {},
): Promise<number> {
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
  if (command === 'doctor' && rest.includes('--json'))
    return inJson(terminal, (quiet) => attempt(command, rest, quiet, ports));
  return attempt(command, rest, terminal, ports);
}

async function attempt(command: CommandName, rest: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  try {
    return await run(command, rest, terminal, ports);
  } catch (error) {
    if (isUsage(error)) {
      const help = COMMAND_HELP[command];
      const [, option] = /^Unknown option '(--[^']+)'/.exec(error.message) ?? [];
      const meant = option === undefined ? '' : suggestion(option, help.match(/--[a-z]+/g) ?? []);
      terminal.complain(`agent-bff: ${error.message}${meant}\n\n${help}`);
      return 2;
    }
    if (!isAgentBffError(error)) throw error;
    terminal.complain(`agent-bff: ${error.message}`);
    return 1;
  }
}

/** A program that reads the output of `--json` gets JSON of a wrong command line too. */
async function inJson(terminal: Terminal, work: (terminal: Terminal) => Promise<number>): Promise<number> {
  const complaints: string[] = [];
  const status = await work({ ...terminal, complain: (text) => complaints.push(text) });
  if (complaints.length > 0) {
    const findings = complaints.map((text) => ({
      check: 'command line',
      result: 'failed',
      message: text.split('\n', 1)[0]?.replace(/^agent-bff: /, ''),
    }));
    terminal.print(JSON.stringify({ ok: false, findings }, null, 2));
  }
  return status;
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

function isUsage(error: unknown): error is Error {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
