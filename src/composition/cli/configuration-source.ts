import { readFile } from 'node:fs/promises';
import type { ServerConfig } from '../config.js';
import { configFromEnv } from '../env.js';
import type { Terminal } from './terminal.js';

/** The configuration in a file, or in the environment when none is named; `undefined` when the file is no configuration, which is said. */
export async function configuration(path: string | undefined, terminal: Terminal): Promise<ServerConfig | undefined> {
  if (path === undefined) return configFromEnv(terminal.env);
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
