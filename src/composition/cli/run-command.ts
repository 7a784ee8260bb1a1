import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isAgentBffError } from '../../domain/errors.js';
import type { ServerConfig } from '../config.js';
import { configFromEnv } from '../env.js';
import type { ToolkitPorts } from '../ports.js';
import { examine } from './doctor.js';
import type { Finding } from './finding.js';
import { keygen } from './keygen.js';
import { serve } from './serve.js';

/** What a command talks to. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Resolves when the user wants a command that runs on to stop. */
  readonly stopped: Promise<void>;
}

const HELP = `agent-bff <command>

  serve [--config FILE] [--port N] [--host H] [--base PATH] [--grace SECONDS]
                                 serves the routes without a site of your own (default: 127.0.0.1:8080, /api);
                                 GET /healthz tells how it is; one line of JSON per event on standard output
  doctor [--config FILE] [--json]
                                 tries the credentials of a configuration and says what to fix
  keygen [--out DIR] [--name N]  makes a key pair for a service account (default: ./service-account.pem)

FILE is JSON with the fields of configureServer; without one, the environment is read.

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
      case 'serve':
        return await gateway(rest, terminal, ports);
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
  const { values } = parseArgs({ args, options: { config: { type: 'string' }, json: { type: 'boolean' } } });
  const config = await configuration(values.config, terminal);
  if (config === undefined) return 2;
  const findings = await examine(config, ports);
  const failed = findings.filter(({ result }) => result === 'failed').length;
  if (values.json === true) {
    terminal.print(JSON.stringify({ ok: failed === 0, findings }, null, 2));
    return failed === 0 ? 0 : 1;
  }
  for (const finding of findings) terminal.print(line(finding));
  terminal.print(failed === 0 ? '\nAll is well.' : `\n${String(failed)} to fix.`);
  return failed === 0 ? 0 : 1;
}

const MARKS: Readonly<Record<Finding['result'], string>> = { ok: '✓', warning: '!', failed: '✗', skipped: '-' };

function line({ check, result, says, block, fields = [] }: Finding): string {
  const place =
    result === 'ok' || block === undefined ? '' : `\n    fix: ${[block, fields.join(', ')].filter(Boolean).join(': ')}`;
  return `${MARKS[result]} ${check.padEnd(18)}${says}${place}`;
}

async function gateway(args: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { config: text, port: text, host: text, base: text, grace: text };
  const { values } = parseArgs({ args, options });
  const port = wholeNumber(values.port ?? '8080', 65_535);
  const grace = wholeNumber(values.grace ?? '10', 3_600);
  if (port === undefined || grace === undefined) {
    terminal.complain(
      'agent-bff: --port is a whole number up to 65535, and --grace a whole number of seconds up to 3600.',
    );
    return 2;
  }
  const config = await configuration(values.config, terminal);
  if (config === undefined) return 2;
  const { host = '127.0.0.1', base: basePath = '/api' } = values;
  try {
    const settings = { config, ports, host, port, basePath, graceMs: grace * 1000, log: terminal.print };
    const { url, stop } = await serve(settings);
    terminal.complain(`agent-bff serves at ${url}${basePath}; Ctrl+C stops it.`);
    await terminal.stopped;
    await stop();
    return 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error;
    terminal.complain(
      `agent-bff: ${host}:${String(port)} cannot be served (${code}); choose another --port or --host.`,
    );
    return 1;
  }
}

function wholeNumber(text: string, most: number): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && number <= most ? number : undefined;
}

async function configuration(path: string | undefined, terminal: Terminal): Promise<ServerConfig | undefined> {
  return path === undefined ? configFromEnv(terminal.env) : configFile(path, terminal);
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
