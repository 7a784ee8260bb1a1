import { parseArgs } from 'node:util';
import { warningsOf } from '../config/env.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import { configuration, SOURCE_OPTIONS } from './configuration-source.js';
import { listeningPlace, whileListening } from './listening-place.js';
import { serve } from './serve.js';
import type { Terminal } from './terminal.js';
import { usageError, wholeNumber } from './usage-error.js';

const MAX_GRACE_SECONDS = 3_600;
const UNCONFIGURED =
  'agent-bff: neither a2aUrl (A2A_URL) nor serviceApiUrl (SERVICE_API_URL) is set, so every request is refused; `agent-bff doctor` says what is missing.';

/** Runs `serve`, until it is told to stop. */
export async function serveCommand(args: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { ...SOURCE_OPTIONS, port: text, host: text, base: text, grace: text };
  const { values } = parseArgs({ args, options });
  const { base: basePath = '/api' } = values;
  const place = listeningPlace(values, terminal.env, 8080);
  const grace = wholeNumber('--grace', values.grace ?? '10', MAX_GRACE_SECONDS);
  if (!/^\/[^?#\s]*$/.test(basePath))
    throw usageError('--base', '--base takes a path.', 'Give --base a path such as /api.');
  const config = await configuration(values, terminal.env);
  for (const { detail } of warningsOf(config)) terminal.complain(`agent-bff: ${detail}`);
  const settings = { config, ports, ...place, basePath, graceMs: grace * 1000, log: terminal.print };
  return whileListening(place, terminal, async () => {
    const { url, stop } = await serve(settings);
    terminal.complain(`agent-bff serves at ${url}${basePath}; Ctrl+C stops it.`);
    if (!config.a2aUrl && !config.serviceApiUrl) terminal.complain(UNCONFIGURED);
    await terminal.stopped;
    terminal.complain(`agent-bff stops; what still runs has ${String(grace)} s. Ctrl+C again ends it immediately.`);
    await stop();
  });
}
