import { type AgentBffError, ConfigurationError, isAgentBffError } from '../../domain/shared/errors.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';

/** A style for emphasised text. */
export type TextStyle = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** The terminal of a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Resolves when the user stops a long-running command. */
  readonly stopped: Promise<void>;
  /** Applies a style to a text. Default: returns it unchanged. */
  readonly style?: (style: TextStyle, text: string) => string;
  /** Shows one line, which the next one replaces and an empty one erases. Default: shows none. */
  readonly progress?: (line: string) => void;
}

/** A command of the command line. */
export interface Command {
  /** Its line in the list of all commands. */
  readonly summary: string;
  /** The text of its `--help`. */
  readonly help: string;
  /** Runs it, and returns the exit status. */
  readonly run: (args: string[], terminal: Terminal, ports: ToolkitPorts) => number | Promise<number>;
}

/** The exit statuses of most commands, for their help. */
export const STATUS = `Exit status: 0 all is well, 1 something needs to be fixed, 2 the command line is invalid.`;

const BLOCK = 'command line';

/** An error in the command line, or in what an option refers to: exit status 2. */
export function usageError(option: string, detail: string, hint: string): ConfigurationError {
  return new ConfigurationError({ detail, hint, block: BLOCK, fields: [option] });
}

/** Ends a command with status 1. */
export function failure(detail: string): ConfigurationError {
  return new ConfigurationError({ detail });
}

/** True for an error of `usageError`. */
export function isUsageError(error: unknown): error is AgentBffError {
  return isAgentBffError(error) && error.block === BLOCK;
}

/**
 * A whole number from the command line.
 *
 * @throws ConfigurationError when the text is not a number from 0 to `most`.
 */
export function wholeNumber(option: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  const detail = `${option} must be a whole number from 0 to ${String(most)}, not ${JSON.stringify(text)}.`;
  throw usageError(option, detail, `Correct ${option}.`);
}

/** The port and host a command listens on. */
export interface ListeningPlace {
  /** 0 for any free port. */
  readonly port: number;
  readonly host: string;
}

const HIGHEST_PORT = 65_535;
const CANNOT_LISTEN = ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'];

/**
 * The port and host from the options, otherwise `PORT` and `HOST` from the environment, otherwise `defaultPort` on the
 * loopback address.
 *
 * @throws ConfigurationError when the port is invalid.
 */
export function listeningAddress(
  options: { readonly port?: string | undefined; readonly host?: string | undefined },
  env: Terminal['env'],
  defaultPort: number,
): ListeningPlace {
  const port =
    options.port === undefined
      ? wholeNumber('PORT', env['PORT'] || String(defaultPort), HIGHEST_PORT)
      : wholeNumber('--port', options.port, HIGHEST_PORT);
  return { port, host: options.host ?? (env['HOST'] || '127.0.0.1') };
}

/** Runs a server until it is stopped. If the port cannot be opened, prints an error and returns exit status 1. */
export async function whileListening({ port, host }: ListeningPlace, run: () => Promise<void>): Promise<number> {
  try {
    await run();
    return 0;
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    if (!CANNOT_LISTEN.includes(code)) throw error;
    throw failure(`${host}:${String(port)} cannot be opened (${code}); choose another --port or --host.`);
  }
}
