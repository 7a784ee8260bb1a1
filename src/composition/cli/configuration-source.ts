import type * as RateLimiters from 'rate-limiter-flexible';
import { rateLimiter } from '../../adapters/rate-limit/rate-limiter.js';
import { ConfigurationError } from '../../domain/errors.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import type { ServerConfig } from '../config/server-config.js';
import { configFromEnv } from '../config/env.js';
import type { Terminal } from './terminal.js';

const PACKAGE = 'rate-limiter-flexible';

/**
 * A terminal whose environment also has the variables of a file; those that are set already stay. `undefined` when the file cannot be read, which is said.
 */
export async function withEnvFile(path: string | undefined, terminal: Terminal): Promise<Terminal | undefined> {
  if (path === undefined) return terminal;
  try {
    return { ...terminal, env: { ...parseEnv(await readFile(path, 'utf8')), ...terminal.env } };
  } catch {
    terminal.complain(`agent-bff: the file of --env-file cannot be read: ${path}`);
    return undefined;
  }
}

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

/** The limit of a configuration file, which can hold numbers but no object with a method: in the memory of this process. */
async function fileChatLimit(value: unknown): Promise<VisitorLimit> {
  const { points, durationSeconds, ...others } = Object(value) as Readonly<Record<string, unknown>>;
  if (!isCount(points) || !isCount(durationSeconds) || Object.keys(others).length > 0) {
    throw chatLimitError(
      'Invalid value of "chatLimit" in the configuration file.',
      'Set it to whole numbers of at least 1, such as { "points": 30, "durationSeconds": 60 }.',
    );
  }
  const { RateLimiterMemory } = await loadLimiters();
  return rateLimiter(new RateLimiterMemory({ points, duration: durationSeconds }));
}

type Limiters = Pick<typeof RateLimiters, 'RateLimiterMemory'>;

async function loadLimiters(): Promise<Limiters> {
  try {
    return await import('rate-limiter-flexible');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw chatLimitError(
      `"chatLimit" in the configuration file needs the package "${PACKAGE}", which is not installed.`,
      `Run "npm install ${PACKAGE}".`,
    );
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1;
}

function chatLimitError(detail: string, hint: string): ConfigurationError {
  return new ConfigurationError({ detail, hint, block: 'configureServer', fields: ['chatLimit'] });
}
