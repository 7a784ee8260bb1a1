import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import type * as RateLimiters from 'rate-limiter-flexible';
import { rateLimiter } from '../../adapters/rate-limit/rate-limiter.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import type { ServerConfig } from '../config/server-config.js';
import { invalidField } from '../../domain/shared/setting.js';
import { configFromEnv } from '../config/env.js';
import { usageError } from './command-line.js';

type Environment = Readonly<Record<string, string | undefined>>;

const PACKAGE = 'rate-limiter-flexible';

/** The source of a command's configuration: a JSON file, or the environment, optionally extended by a file. */
export interface Source {
  readonly config?: string | undefined;
  readonly env?: string | undefined;
}

/** The files a configuration is read from, for the help of a command. */
export const CONFIGURATION_HELP = `FILE is JSON with the fields of configureServer, chatLimit as { "points": 30, "durationSeconds": 60 } (with the package
rate-limiter-flexible); without one, the environment is read (A2A_URL, SERVICE_API_URL, …), to which --env adds.`;

/** The options of every command that reads a configuration. */
export const SOURCE_OPTIONS = { config: { type: 'string' }, env: { type: 'string' } } as const;

/**
 * The configuration of a command.
 *
 * @throws ConfigurationError when a file cannot be read, or its `chatLimit` cannot be used.
 */
export async function configuration({ config: path, env: envPath }: Source, env: Environment): Promise<ServerConfig> {
  if (path !== undefined && envPath !== undefined) {
    throw usageError('--env', '--config and --env cannot be combined.', 'Omit one of them.');
  }
  // As with `node --env-file`, variables that are already set take precedence. The option has another name because Node
  // scans the arguments of every program for its own, and exits if the file is missing.
  const variables = envPath === undefined ? env : { ...parseEnv(await textOf('--env', envPath)), ...env };
  if (path === undefined) return configFromEnv(variables);
  const config = parsed(path, await textOf('--config', path));
  const { chatLimit } = Object(config) as ServerConfig;
  return chatLimit === undefined ? config : { ...config, chatLimit: await fileChatLimit(chatLimit) };
}

async function textOf(option: string, path: string): Promise<string> {
  try {
    const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
    if (!text.includes('\0')) return text;
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    const reason = [code, MEANINGS[code]].filter(Boolean).join(', ');
    const other = option === '--env' ? ', or omit it to read the environment' : '';
    const hint = `Set ${option} to the path of a file that this user can read${other}.`;
    throw usageError(option, `The file of ${option} cannot be read: ${path} (${reason}).`, hint);
  }
  throw usageError(option, `The file of ${option} is not UTF-8, but UTF-16 or binary: ${path}.`, 'Save it as UTF-8.');
}

const MEANINGS: Readonly<Record<string, string>> = {
  ENOENT: 'there is none',
  EACCES: 'this user has no permission to read it',
  EISDIR: 'it is a folder',
};

function parsed(path: string, text: string): ServerConfig {
  try {
    return JSON.parse(text) as ServerConfig;
  } catch (error) {
    // The rest of the message quotes the file, which may hold secrets.
    const [, at] = /position (\d+)/.exec(String(error)) ?? [];
    const line = at === undefined ? '' : ` (line ${String(text.slice(0, Number(at)).split('\n').length)})`;
    const hint = 'Pass --config a JSON object with the fields of configureServer, without comments or trailing commas.';
    throw usageError('--config', `The file of --config is not JSON: ${path}${line}.`, hint);
  }
}

/** The rate limit of a configuration file, which can hold numbers but no object with methods: kept in the memory of this process. */
async function fileChatLimit(value: unknown): Promise<VisitorLimit> {
  const { points, durationSeconds, ...others } = Object(value) as Readonly<Record<string, unknown>>;
  if (!isCount(points) || !isCount(durationSeconds) || Object.keys(others).length > 0) {
    const hint = 'Set it to whole numbers of at least 1, such as { "points": 30, "durationSeconds": 60 }.';
    throw invalidField('chatLimit', 'Invalid value of "chatLimit" in the configuration file.', hint);
  }
  const { RateLimiterMemory } = await loadLimiters();
  return rateLimiter(new RateLimiterMemory({ points, duration: durationSeconds }));
}

async function loadLimiters(): Promise<typeof RateLimiters> {
  try {
    return await import('rate-limiter-flexible');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const detail = `"chatLimit" in the configuration file needs the package "${PACKAGE}", which is not installed.`;
    throw invalidField('chatLimit', detail, `Run "npm install ${PACKAGE}".`);
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1;
}
