import type { Terminal } from './terminal.js';
import { wholeNumber } from './usage-error.js';

/** Where a command listens. */
export interface ListeningPlace {
  /** 0 for any free port. */
  readonly port: number;
  readonly host: string;
}

const HIGHEST_PORT = 65_535;
const CANNOT_LISTEN = ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'];

/**
 * Where the options say, else `PORT` and `HOST` of the environment, else at `defaultPort` of the loopback address.
 *
 * @throws ConfigurationError when the port is none.
 */
export function listeningPlace(
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

/** Runs what listens there until it is stopped, and gives the exit status: 1 when the port cannot be opened, which is said. */
export async function whileListening(
  { port, host }: ListeningPlace,
  terminal: Terminal,
  run: () => Promise<void>,
): Promise<number> {
  try {
    await run();
    return 0;
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    if (!CANNOT_LISTEN.includes(code)) throw error;
    terminal.complain(
      `agent-bff: ${host}:${String(port)} cannot be opened (${code}); choose another --port or --host.`,
    );
    return 1;
  }
}
