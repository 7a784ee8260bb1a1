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

/** What to say where a port cannot be opened; `undefined` of any other error. */
export function cannotListen(error: unknown, { port, host }: ListeningPlace): string | undefined {
  const code = String((error as NodeJS.ErrnoException).code);
  if (!CANNOT_LISTEN.includes(code)) return undefined;
  return `agent-bff: ${host}:${String(port)} cannot be opened (${code}); choose another --port or --host.`;
}
