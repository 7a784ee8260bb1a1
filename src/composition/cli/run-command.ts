import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isAgentBffError } from '../../domain/errors.js';
import type { ServerConfig } from '../config.js';
import { configFromEnv } from '../env.js';
import type { ToolkitPorts } from '../ports.js';
import { examine } from './doctor.js';
import type { Finding } from './finding.js';
import { keygen } from './keygen.js';

/** What a command talks to. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

const HELP = `agent-bff <command>

  doctor [--config FILE]         tries the credentials of a configuration and says what to fix
                                 (FILE is JSON with the fields of configureServer; default: the environment)
  keygen [--out DIR] [--name N]  makes a key pair for a service account (default: ./service-account.pem)

Exit status: 0 all is well, 1 something is to be fixed, 2 the command line is wrong.`;

/** Runs one command line and answers its exit status. */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  ports: ToolkitPorts = {},
): Promise<number> {
  const [command, ...rest] = args;
  if (command === undefined || command === 'help' || command === '--help' || command === '-h') {
    terminal.print(HELP);
    return command === undefined ? 2 : 0;
  }
  try {
    switch (command) {
      case 'doctor':
        return await doctor(rest, terminal, ports);
      case 'keygen':
        return await makeKeys(rest, terminal);
      default:
        terminal.complain(`agent-bff: there is no command "${command}".\n\n${HELP}`);
        return 2;
    }
  } catch (error) {
    if (isUsage(error)) {
      terminal.complain(`agent-bff: ${error.message}\n\n${HELP}`);
      return 2;
    }
    if (!isAgentBffError(error)) throw error;
    terminal.complain(`agent-bff: ${error.message}`);
    return 1;
  }
}

async function doctor(args: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  const { values } = parseArgs({ args, options: { config: { type: 'string' } } });
  const config = values.config === undefined ? configFromEnv(terminal.env) : await configFile(values.config, terminal);
  if (config === undefined) return 2;
  const findings = await examine(config, ports);
  for (const finding of findings) terminal.print(line(finding));
  const failed = findings.filter(({ result }) => result === 'failed').length;
  terminal.print(failed === 0 ? '\nAll is well.' : `\n${String(failed)} to fix.`);
  return failed === 0 ? 0 : 1;
}

const MARKS: Readonly<Record<Finding['result'], string>> = { ok: '✓', warning: '!', failed: '✗', skipped: '-' };

function line({ check, result, says, block, fields = [] }: Finding): string {
  const place =
    result === 'ok' || block === undefined ? '' : `\n    fix: ${[block, fields.join(', ')].filter(Boolean).join(': ')}`;
  return `${MARKS[result]} ${check.padEnd(18)}${says}${place}`;
}

async function configFile(path: string, terminal: Terminal): Promise<ServerConfig | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    terminal.complain(`agent-bff: the file of --config cannot be read: ${path}`);
    return undefined;
  }
  try {
    return JSON.parse(text) as ServerConfig;
  } catch {
    terminal.complain(`agent-bff: the file of --config is not JSON: ${path}`);
    return undefined;
  }
}

async function makeKeys(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: { out: { type: 'string' }, name: { type: 'string' } } });
  const { out = '.', name = 'service-account' } = values;
  try {
    const { privateKeyPath, publicKeyPath } = await keygen(out, name);
    terminal.print(`private key  ${privateKeyPath}  (keep it; set SERVICE_ACCOUNT_PRIVATE_KEY_PATH to it)`);
    terminal.print(`public key   ${publicKeyPath}  (register it on the service account)`);
    return 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    terminal.complain(
      code === 'EEXIST'
        ? `agent-bff: ${out} already holds a key named "${name}"; give another --name, or move it away.`
        : `agent-bff: the key files cannot be written to ${out} (${code}).`,
    );
    return 1;
  }
}

function isUsage(error: unknown): error is Error {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
