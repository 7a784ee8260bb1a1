import { readFile } from 'node:fs/promises';
import type { ServerConfig } from '../config/server-config.js';
import { configFromEnv } from '../config/env.js';
import { fileChatLimit } from './file-chat-limit.js';
import type { Terminal } from './terminal.js';

/**
 * The configuration in a file, or in the environment when none is named; `undefined` when the file is no configuration, which is said.
 *
 * @throws ConfigurationError when the file's `chatLimit` cannot be used.
 */
export async function configuration(path: string | undefined, terminal: Terminal): Promise<ServerConfig | undefined> {
  if (path === undefined) return configFromEnv(terminal.env);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    terminal.complain(`agent-bff: the file of --config cannot be read: ${path}`);
    return undefined;
  }
  let config: ServerConfig;
  try {
    config = JSON.parse(text) as ServerConfig;
  } catch {
    terminal.complain(`agent-bff: the file of --config is not JSON: ${path}`);
    return undefined;
  }
  const { chatLimit } = Object(config) as ServerConfig;
  return chatLimit === undefined ? config : { ...config, chatLimit: await fileChatLimit(chatLimit) };
}
