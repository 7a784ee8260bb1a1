import { parseArgs } from 'node:util';
import { warningsOf } from '../config/env.js';
import type { ToolkitPorts } from '../toolkit/ports.js';
import { configuration, withEnvFile } from './configuration-source.js';
import { serve } from './serve.js';
import type { Terminal } from './terminal.js';
import { HIGHEST_PORT, wholeNumber } from './whole-number.js';

const MAX_GRACE_SECONDS = 3_600;
const UNCONFIGURED =
  'agent-bff: neither a2aUrl (A2A_URL) nor serviceApiUrl (SERVICE_API_URL) is set, so every request is refused; `agent-bff doctor` says what is missing.';

/** Runs `serve`, until it is told to stop. */
export async function serveCommand(args: string[], outer: Terminal, ports: ToolkitPorts): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { config: text, 'env-file': text, port: text, host: text, base: text, grace: text };
  const { values } = parseArgs({ args, options });
  const terminal = await withEnvFile(values['env-file'], outer);
  if (terminal === undefined) return 2;
  const port = wholeNumber(values.port ?? (terminal.env['PORT'] || '8080'), HIGHEST_PORT);
  const grace = wholeNumber(values.grace ?? '10', MAX_GRACE_SECONDS);
  const { host = terminal.env['HOST'] || '127.0.0.1', base: basePath = '/api' } = values;
  if (port === undefined || grace === undefined || !/^\/[^?#\s]*$/.test(basePath)) {
    terminal.complain(
      'agent-bff: --port (or PORT) is a whole number up to 65535, --grace a whole number of seconds up to 3600, and --base a path such as /api.',
    );
    return 2;
  }
  const config = await configuration(values.config, terminal);
  if (config === undefined) return 2;
  for (const { detail } of warningsOf(config)) terminal.complain(`agent-bff: ${detail}`);
  const settings = { config, ports, host, port, basePath, graceMs: grace * 1000, log: terminal.print };
  try {
    const { url, stop } = await serve(settings);
    terminal.complain(`agent-bff serves at ${url}${basePath}; Ctrl+C stops it.`);
    if (!config.a2aUrl && !config.serviceApiUrl) terminal.complain(UNCONFIGURED);
    await terminal.stopped;
    terminal.complain(`agent-bff stops; what still runs has ${String(grace)} s. Ctrl+C again ends it immediately.`);
    await stop();
    return 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes(code ?? '')) throw error;
    const place = `${host}:${String(port)}`;
    terminal.complain(`agent-bff: ${place} cannot be served (${String(code)}); choose another --port or --host.`);
    return 1;
  }
}
